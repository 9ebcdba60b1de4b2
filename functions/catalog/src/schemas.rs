//! How values of the domain look in the document.

use onsale_domain::{money, request_hash};
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Required, Schema};
use utoipa::{IntoParams, PartialSchema, ToSchema};

/// A price in the minor unit of the show's currency.
#[derive(Debug)]
pub(crate) struct Amount;

impl Amount {
    pub(crate) const MAX: u64 = money::MAX_PRICE.0;
}

impl PartialSchema for Amount {
    fn schema() -> RefOr<Schema> {
        let schema = ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::Integer))
            .minimum(Some(0))
            .maximum(Some(Self::MAX));
        RefOr::T(Schema::Object(schema.build()))
    }
}

impl ToSchema for Amount {}

/// The header that makes repeating a creation safe.
#[derive(Debug)]
pub(crate) struct IdempotencyKey;

impl IntoParams for IdempotencyKey {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let schema = ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::String))
            .min_length(Some(1))
            .max_length(Some(request_hash::IdempotencyKey::MAX_LEN))
            .pattern(Some("^[ -~]+$"));
        let header = ParameterBuilder::new()
            .name("Idempotency-Key")
            .parameter_in(ParameterIn::Header)
            .required(Required::False)
            .description(Some(
                "Names this request: repeating it gives the first answer again.",
            ))
            .schema(Some(schema));
        vec![header.build()]
    }
}
