//! An email address in a request.

use onsale_domain::account::Email;
use serde::{Deserialize, Deserializer};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{RefOr, Schema, SchemaFormat};
use utoipa::{PartialSchema, ToSchema};

/// The longest address that mail can be sent to (RFC 5321, 4.5.3.1.3).
const MAX_CHARS: usize = 254;

#[derive(Debug, Clone)]
pub struct EmailText(pub Email);

impl<'de> Deserialize<'de> for EmailText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let fits = text.chars().count() <= MAX_CHARS;
        let email = fits.then(|| Email::parse(&text)).flatten();
        email
            .map(Self)
            .ok_or_else(|| serde::de::Error::custom("not an email address"))
    }
}

impl PartialSchema for EmailText {
    fn schema() -> RefOr<Schema> {
        let schema = ObjectBuilder::new()
            .schema_type(SchemaType::new(Type::String))
            .format(Some(SchemaFormat::Custom("email".to_owned())))
            .max_length(Some(MAX_CHARS));
        RefOr::T(Schema::Object(schema.build()))
    }
}

impl ToSchema for EmailText {
    fn name() -> std::borrow::Cow<'static, str> {
        "Email".into()
    }
}
