//! The schemas of the values that the domain defines, under which the documents of all
//! functions name them: `#[schema(value_type = ShowIdText)] show_id: ShowId` in a body,
//! `("show" = ShowIdText, Path)` among parameters.

use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{Components, KnownFormat, RefOr, Schema, SchemaFormat};
use utoipa::{PartialSchema, ToSchema};

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::new(Type::String))
}

macro_rules! id_schemas {
    ($($name:ident of $id:ident,)*) => {
        $(
            #[derive(Debug)]
            pub struct $name;

            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    let prefix = onsale_domain::ids::$id::PREFIX;
                    let pattern = format!("^{prefix}_[0-9a-f]{{32}}$");
                    RefOr::T(Schema::Object(text().pattern(Some(pattern)).build()))
                }
            }

            impl ToSchema for $name {
                fn name() -> std::borrow::Cow<'static, str> {
                    stringify!($id).into()
                }
            }
        )*

        fn add_ids(components: &mut Components) {
            $(components.schemas.insert($name::name().into_owned(), $name::schema());)*
        }
    };
}

id_schemas! {
    AccountIdText of AccountId,
    VenueIdText of VenueId,
    EventIdText of EventId,
    ShowIdText of ShowId,
    HoldIdText of HoldId,
    OrderIdText of OrderId,
    TicketIdText of TicketId,
}

/// A moment: RFC 3339, in UTC in every answer.
#[derive(Debug)]
pub struct Timestamp;

impl PartialSchema for Timestamp {
    fn schema() -> RefOr<Schema> {
        let format = SchemaFormat::KnownFormat(KnownFormat::DateTime);
        RefOr::T(Schema::Object(text().format(Some(format)).build()))
    }
}

impl ToSchema for Timestamp {}

/// An amount in the minor unit of its currency.
#[derive(Debug, ToSchema)]
#[schema(as = Money)]
#[expect(dead_code, reason = "it describes the domain's Money")]
pub struct MoneyValue {
    #[schema(minimum = 0, examples(4500))]
    amount: u64,
    #[schema(pattern = "^[A-Z]{3}$", examples("EUR"))]
    currency: String,
}

/// Parameters may refer to a schema that nothing else mentions, so all are registered.
pub(crate) fn add_to(components: &mut Components) {
    add_ids(components);
    components
        .schemas
        .insert(Timestamp::name().into_owned(), Timestamp::schema());
}
