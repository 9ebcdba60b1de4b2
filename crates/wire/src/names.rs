//! Names of headers and cookies that both sides use.

use http::HeaderName;

/// Under this id a request is found in every log, at the edge and behind it.
pub const REQUEST_ID_HEADER: HeaderName = HeaderName::from_static("x-request-id");
/// The pass of somebody whom the room let in. The header counts more than the cookie.
pub const PASS_HEADER: HeaderName = HeaderName::from_static("onsale-pass");
pub const PASS_COOKIE: &str = "onsale_pass";
/// Tells the edge what a log-in is suspected of, so that the room asks for more work.
pub const SUSPICION_HEADER: HeaderName = HeaderName::from_static("onsale-suspicion");
