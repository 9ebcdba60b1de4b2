//! JSON bodies: bounded, declared as JSON, and read strictly.

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, header};
use onsale_domain::request_hash::RequestHash;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::problem::{Code, Problem};
use crate::strict_json;

pub const MAX_BODY: usize = 64 * 1024;
pub const MAX_LARGE_BODY: usize = 4 * 1024 * 1024;

/// A body of at most 64 KiB, and the fingerprint by which a repeated request is known.
/// `T` carries `#[serde(deny_unknown_fields)]`.
#[derive(Debug, Clone, Copy)]
pub struct Json<T>(pub T, pub RequestHash);

/// A body of at most 4 MiB: a venue with all its seats.
#[derive(Debug, Clone, Copy)]
pub struct LargeJson<T>(pub T, pub RequestHash);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let (value, hash) = read(request, MAX_BODY).await?;
        Ok(Self(value, hash))
    }
}

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for LargeJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let (value, hash) = read(request, MAX_LARGE_BODY).await?;
        Ok(Self(value, hash))
    }
}

/// A body of at most 64 KiB that may be left out, or be `null`.
#[derive(Debug, Clone, Copy)]
pub struct OptionalJson<T>(pub Option<T>);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for OptionalJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let (parts, body) = request.into_parts();
        let bytes = bytes(&parts.headers, body, MAX_BODY).await?;
        match bytes.is_empty() {
            true => Ok(Self(None)),
            false => {
                let (value, _) = parse(&parts.headers, &bytes)?;
                Ok(Self(value))
            }
        }
    }
}

/// The fingerprint of a value, for requests whose hash must leave a part out.
pub fn request_hash(value: &impl Serialize) -> RequestHash {
    hash_document(serde_json::to_value(value).unwrap_or_default())
}

/// Over the document with its keys in order: the same request written differently is
/// the same request.
fn hash_document(mut document: Value) -> RequestHash {
    document.sort_all_objects();
    RequestHash::of(document.to_string().as_bytes())
}

async fn read<T: DeserializeOwned>(
    request: Request,
    limit: usize,
) -> Result<(T, RequestHash), Problem> {
    let (parts, body) = request.into_parts();
    check_json(&parts.headers)?;
    let bytes = bytes(&parts.headers, body, limit).await?;
    parse(&parts.headers, &bytes)
}

fn parse<T: DeserializeOwned>(
    headers: &HeaderMap,
    bytes: &[u8],
) -> Result<(T, RequestHash), Problem> {
    check_json(headers)?;
    let document: Value = serde_json::from_slice(bytes).map_err(|error| {
        Problem::invalid(format!(
            "The body is not JSON: it breaks at line {}, column {}.",
            error.line(),
            error.column()
        ))
    })?;
    let value =
        strict_json::read(&document).map_err(|mistake| Problem::invalid(format!("{mistake}.")))?;
    Ok((value, hash_document(document)))
}

fn check_json(headers: &HeaderMap) -> Result<(), Problem> {
    match is_json(headers) {
        true => Ok(()),
        false => Err(Problem::new(
            Code::UnsupportedMediaType,
            "Send the body as JSON, with the header Content-Type: application/json.",
        )),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    value.is_some_and(|value| {
        let essence = value.split(';').next().unwrap_or_default();
        essence.trim().eq_ignore_ascii_case("application/json")
    })
}

/// A body of at most `limit` bytes, as it was sent.
pub async fn bytes(headers: &HeaderMap, body: Body, limit: usize) -> Result<Vec<u8>, Problem> {
    let too_large = || {
        Problem::new(
            Code::PayloadTooLarge,
            format!(
                "The body has more than {} KiB, the most that is read here.",
                limit / 1024
            ),
        )
    };
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > limit as u64) {
        return Err(too_large());
    }
    match to_bytes(body, limit).await {
        Ok(bytes) => Ok(bytes.into()),
        Err(error) if is_length_limit(&error) => Err(too_large()),
        Err(_) => Err(Problem::invalid("The body ended before it was complete.")),
    }
}

fn is_length_limit(error: &axum::Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if error.is::<http_body_util::LengthLimitError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
