//! The schemas of the values that the domain defines, under which the documents of all
//! functions name them: `#[schema(value_type = ShowIdText)] show_id: ShowId` in a body,
//! `("show" = ShowIdText, Path)` among parameters.

use onsale_domain::show::RefundStep;
use serde::{Deserialize, Serialize};
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
    TransferIdText of TransferId,
    ExportIdText of ExportId,
    WaitlistIdText of WaitlistId,
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

/// Whoever cancels so many hours before the show gets so much back.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = RefundStep)]
pub struct RefundStepValue {
    #[schema(minimum = 0, maximum = 8_784)]
    hours_before: u32,
    #[schema(minimum = 0, maximum = 100)]
    percent: u8,
}

impl From<RefundStep> for RefundStepValue {
    fn from(step: RefundStep) -> Self {
        Self {
            hours_before: step.hours_before,
            percent: step.percent,
        }
    }
}

impl From<RefundStepValue> for RefundStep {
    fn from(step: RefundStepValue) -> Self {
        Self {
            hours_before: step.hours_before,
            percent: step.percent,
        }
    }
}

macro_rules! choices {
    ($($(#[$doc:meta])* $name:ident as $shown:literal: $($value:literal)|+;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug)]
            pub struct $name;

            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    let schema = ObjectBuilder::new()
                        .schema_type(SchemaType::new(Type::String))
                        .enum_values(Some([$($value),+]));
                    RefOr::T(Schema::Object(schema.build()))
                }
            }

            impl ToSchema for $name {
                fn name() -> std::borrow::Cow<'static, str> {
                    $shown.into()
                }
            }
        )*
    };
}

choices! {
    StatusText as "ShowStatus": "draft" | "on_sale" | "sold_out" | "completed" | "cancelled";
    RoomModeText as "RoomMode": "off" | "queue" | "queue_all" | "closed";
    RoomOrderText as "RoomOrder": "lottery" | "fifo";
    ExportKindText as "ExportKind": "orders" | "attendees";
    ExportStatusText as "ExportStatus": "preparing" | "ready" | "failed";
}

/// Parameters may refer to a schema that nothing else mentions, so all are registered.
pub(crate) fn add_to(components: &mut Components) {
    add_ids(components);
    components
        .schemas
        .insert(Timestamp::name().into_owned(), Timestamp::schema());
}

#[cfg(test)]
mod tests {
    use super::*;
    use onsale_domain::export::{ExportKind, ExportStatus};
    use onsale_domain::show::{RoomMode, RoomOrder, ShowStatus};
    use serde::Serialize;

    fn choices_of<T: PartialSchema>() -> Vec<String> {
        let schema = serde_json::to_value(T::schema()).unwrap();
        serde_json::from_value(schema["enum"].clone()).unwrap()
    }

    fn written(values: &[impl Serialize]) -> Vec<String> {
        let text = |value| serde_json::from_value(serde_json::to_value(value).unwrap()).unwrap();
        values.iter().map(text).collect()
    }

    #[test]
    fn the_documented_choices_are_those_of_the_domain() {
        use ShowStatus::*;
        let statuses = [Draft, OnSale, SoldOut, Completed, Cancelled];
        assert_eq!(choices_of::<StatusText>(), written(&statuses));
        let modes = [
            RoomMode::Off,
            RoomMode::Queue,
            RoomMode::QueueAll,
            RoomMode::Closed,
        ];
        assert_eq!(choices_of::<RoomModeText>(), written(&modes));
        assert_eq!(
            choices_of::<RoomOrderText>(),
            written(&[RoomOrder::Lottery, RoomOrder::Fifo])
        );
        let kinds = [ExportKind::Orders, ExportKind::Attendees];
        assert_eq!(choices_of::<ExportKindText>(), written(&kinds));
        let statuses = [
            ExportStatus::Preparing,
            ExportStatus::Ready,
            ExportStatus::Failed,
        ];
        assert_eq!(choices_of::<ExportStatusText>(), written(&statuses));
    }
}
