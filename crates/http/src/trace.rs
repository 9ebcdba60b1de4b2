//! What surrounds every request: its id, one line in the log, its metrics, and an
//! answer even when a handler panics.
//!
//! The line names the route and never the address: addresses carry ids, headers carry
//! tokens, and bodies carry people.

use std::panic::AssertUnwindSafe;
use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;

use crate::problem::{Code, Problem};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const MAX_REQUEST_ID_LEN: usize = 64;
const UNKNOWN_ROUTE: &str = "unknown";

/// Wraps the finished router of a function, or of the whole platform.
pub fn layer(router: Router) -> Router {
    router.layer(from_fn(around))
}

async fn around(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or(UNKNOWN_ROUTE.to_owned(), |path| path.as_str().to_owned());
    let id = request_id(request.headers());

    let outcome = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let mut response = outcome.unwrap_or_else(|_| {
        tracing::error!(%method, route, request_id = id, "a handler panicked");
        Problem::internal().into_response()
    });
    if response.status() == StatusCode::NOT_FOUND && has_no_body(&response) {
        response = Problem::new(
            Code::NotFound,
            "There is nothing at this address. GET /api/v1/openapi.json lists what there is.",
        )
        .into_response();
    }

    let status = response.status().as_u16();
    let elapsed = started.elapsed();
    let ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    tracing::info!(%method, route, status, ms, request_id = id, "request");
    let labels = [
        ("method", method_label(&method)),
        ("route", route),
        ("status", status.to_string()),
    ];
    metrics::counter!("onsale_http_requests_total", &labels).increment(1);
    metrics::histogram!("onsale_http_request_seconds", &labels[..2]).record(elapsed.as_secs_f64());
    add_headers(response.headers_mut(), &id);
    response
}

/// The answer of a router to an unknown path. A handler's own refusal has a body.
fn has_no_body(response: &Response) -> bool {
    !response.headers().contains_key(header::CONTENT_TYPE)
}

/// Anybody may invent a method; a metric has a bounded number of labels.
fn method_label(method: &Method) -> String {
    let known = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
    ];
    if known.contains(method) {
        method.to_string()
    } else {
        "other".to_owned()
    }
}

fn add_headers(headers: &mut HeaderMap, id: &str) {
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}

/// The caller's own id if it is fit for a log, else a new one.
fn request_id(headers: &HeaderMap) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
    let given = headers
        .get(REQUEST_ID)
        .and_then(|value| value.to_str().ok());
    given
        .filter(|id| (1..=MAX_REQUEST_ID_LEN).contains(&id.len()) && id.bytes().all(plain))
        .map_or_else(new_request_id, str::to_owned)
}

fn new_request_id() -> String {
    // Without randomness the id is useless but the request can still be served.
    let random = getrandom::u64().unwrap_or_default();
    format!("{random:016x}")
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
