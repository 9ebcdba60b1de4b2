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

macro_rules! choices {
    ($($(#[$doc:meta])* $name:ident as $shown:literal: $($value:literal)|+;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug)]
            pub(crate) struct $name;

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
}

#[cfg(test)]
mod tests {
    use super::*;
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
    }
}
