//! Calls to the cloud that only the edge may make.

use http::Request;
use onsale_domain::internal_call::{InternalKeys, KEY_HEADER, SIGNATURE_HEADER, TIME_HEADER};
use onsale_domain::time::Millis;

use crate::host::{Told, Trouble};

/// A signed request to a function. The host knows where the function is.
pub fn signed_request(
    keys: &InternalKeys,
    method: &str,
    target: &str,
    body: Vec<u8>,
    now: Millis,
) -> Told<Request<Vec<u8>>> {
    let call = keys.sign(method, target, &body, now);
    let mut request = Request::builder()
        .method(method)
        .uri(target)
        .header(TIME_HEADER, call.time)
        .header(KEY_HEADER, call.key)
        .header(SIGNATURE_HEADER, call.signature);
    if !body.is_empty() {
        request = request.header(http::header::CONTENT_TYPE, "application/json");
    }
    request.body(body).map_err(Trouble::new)
}
