//! Takes a call that the edge signed, and no other. Nothing of a call is looked at before
//! its signature: a stranger learns nothing, not even which shows there are.

use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use onsale_domain::internal_call::{InternalKeys, KEY_HEADER, SIGNATURE_HEADER, TIME_HEADER};
use onsale_domain::time::Millis;
use onsale_http::{Code, Problem, json};

/// What the edge sends is some hundred bytes.
const MAX_BODY: usize = 4 * 1024;

/// The call, if one of the keys vouches for it. The signature covers the body, so that is
/// read as well. Without keys nobody can vouch.
pub(crate) async fn verified(
    keys: Option<&InternalKeys>,
    request: Request,
    now: Millis,
) -> Result<(Parts, Vec<u8>), Problem> {
    let (parts, body) = request.into_parts();
    let keys = keys.ok_or_else(refused)?;
    let header = |name| text(&parts.headers, name).ok_or_else(refused);
    let (time, key) = (header(TIME_HEADER)?, header(KEY_HEADER)?);
    let signature = header(SIGNATURE_HEADER)?;
    let body = json::bytes(&parts.headers, body, MAX_BODY).await?;
    let method = parts.method.as_str();
    let target = parts.uri.path_and_query().map_or("/", |part| part.as_str());
    match keys.verify(method, target, &body, time, key, signature, now) {
        Ok(()) => Ok((parts, body)),
        Err(why) => {
            tracing::warn!(%why, "an internal call was refused");
            Err(refused())
        }
    }
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

fn refused() -> Problem {
    Problem::new(
        Code::Unauthenticated,
        "This address is for the edge of this platform, which signs its calls.",
    )
}
