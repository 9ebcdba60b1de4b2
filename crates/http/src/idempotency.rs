//! The `Idempotency-Key` of a write.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use onsale_domain::request_hash::IdempotencyKey;

use utoipa::IntoParams;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, SchemaType, Type};

use crate::problem::Problem;

pub const HEADER: &str = "idempotency-key";

/// Refuses a request without a key.
#[derive(Debug, Clone)]
pub struct RequiredKey(pub IdempotencyKey);

/// Takes a request with or without a key, and refuses a malformed one.
#[derive(Debug, Clone)]
pub struct OptionalKey(pub Option<IdempotencyKey>);

fn key(parts: &Parts) -> Result<Option<IdempotencyKey>, Problem> {
    let mut values = parts.headers.get_all(HEADER).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let text = value.to_str().ok().filter(|_| values.next().is_none());
    match text.and_then(IdempotencyKey::parse) {
        Some(key) => Ok(Some(key)),
        None => Err(Problem::invalid(
            "The Idempotency-Key header must occur once and have 1 to 64 printable ASCII characters.",
        )),
    }
}

impl<S: Sync> FromRequestParts<S> for OptionalKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        key(parts).map(Self)
    }
}

impl<S: Sync> FromRequestParts<S> for RequiredKey {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        key(parts)?.map(Self).ok_or_else(|| {
            Problem::invalid(
                "This request needs an Idempotency-Key header: 1 to 64 printable ASCII characters \
                 that name this one request, so that repeating it is safe.",
            )
        })
    }
}

/// `params(RequiredKey)` documents the header.
impl IntoParams for RequiredKey {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![parameter(Required::True)]
    }
}

impl IntoParams for OptionalKey {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![parameter(Required::False)]
    }
}

fn parameter(required: Required) -> Parameter {
    let schema = ObjectBuilder::new()
        .schema_type(SchemaType::new(Type::String))
        .min_length(Some(1))
        .max_length(Some(IdempotencyKey::MAX_LEN))
        .pattern(Some("^[ -~]+$"));
    ParameterBuilder::new()
        .name("Idempotency-Key")
        .parameter_in(ParameterIn::Header)
        .required(required)
        .description(Some(
            "Names this one request, so that repeating it is safe. Kept for 24 hours.",
        ))
        .schema(Some(schema))
        .build()
}
