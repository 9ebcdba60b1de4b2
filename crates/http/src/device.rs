//! The device that a request comes from, as far as its cookie says.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::HeaderValue;
use axum::http::request::Parts;
use onsale_domain::device;
use onsale_domain::ids::VisitorId;
use onsale_domain::room::difficulty::Suspicion;
use onsale_wire::cookie;

/// No cookie, or one that we did not write: no device, and nothing to suspect.
#[derive(Debug, Clone, Copy)]
pub struct Device(pub Option<VisitorId>);

impl<S: Sync> FromRequestParts<S> for Device {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let cookie = cookie(&parts.headers, device::COOKIE);
        Ok(Self(cookie.and_then(device::visitor)))
    }
}

/// The value of `SUSPICION_HEADER`; `None`: it is left out.
pub fn suspicion_header(suspicion: Suspicion) -> Option<HeaderValue> {
    match suspicion {
        Suspicion::Nothing => None,
        Suspicion::Unusual => Some(HeaderValue::from_static("unusual")),
        Suspicion::Automated => Some(HeaderValue::from_static("automated")),
    }
}
