//! What surrounds every request: its id, one line in the log, its metrics, its span, and
//! an answer even when a handler panics.
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
use onsale_observe::{Cause, Kind, Observed, cause};
use onsale_wire::REQUEST_ID_HEADER;

use crate::problem::{Code, Problem};

const TRACEPARENT: HeaderName = HeaderName::from_static(cause::TRACEPARENT);
const UNKNOWN_ROUTE: &str = "unknown";

/// Wraps the finished router of a function, or of the whole platform.
pub fn layer(router: Router) -> Router {
    router.layer(from_fn(around))
}

/// The same for a Lambda, which tells what it has to tell before its process is frozen.
pub fn observed(router: Router, observed: Observed) -> Router {
    layer(router).layer(from_fn(move |request: Request, next: Next| {
        let observed = observed.clone();
        async move { observed.around(next.run(request)).await }
    }))
}

async fn around(request: Request, next: Next) -> Response {
    let cause = cause_of(request.headers());
    let run = |span| answered(request, next, span);
    cause.run(Kind::Server, "request", run).await
}

fn cause_of(headers: &HeaderMap) -> Cause {
    let header = |name: HeaderName| headers.get(name)?.to_str().ok();
    Cause::begin(header(REQUEST_ID_HEADER), header(TRACEPARENT))
}

async fn answered(request: Request, next: Next, span: tracing::Span) -> Response {
    let started = Instant::now();
    let method = request.method().clone();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or(UNKNOWN_ROUTE.to_owned(), |path| path.as_str().to_owned());

    let outcome = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    let mut response = outcome.unwrap_or_else(|_| {
        tracing::error!(%method, route, "a handler panicked");
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
    tracing::info!(%method, route, status, ms, "request");
    span.record("http.request.method", method_label(&method));
    span.record("http.route", route.as_str());
    span.record("http.response.status_code", status);
    if status >= 500 {
        span.record("otel.status_code", "ERROR");
    }
    let labels = [
        ("method", method_label(&method).to_owned()),
        ("route", route),
        ("status", status.to_string()),
    ];
    metrics::counter!("onsale_http_requests_total", &labels).increment(1);
    metrics::histogram!("onsale_http_request_seconds", &labels[..2]).record(elapsed.as_secs_f64());
    add_headers(response.headers_mut());
    response
}

/// The answer of a router to an unknown path. A handler's own refusal has a body.
fn has_no_body(response: &Response) -> bool {
    !response.headers().contains_key(header::CONTENT_TYPE)
}

/// Anybody may invent a method; a metric has a bounded number of labels.
fn method_label(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

fn add_headers(headers: &mut HeaderMap) {
    let cause = Cause::current();
    let id = cause.and_then(|cause| HeaderValue::from_str(cause.request_id()).ok());
    if let Some(id) = id {
        headers.insert(REQUEST_ID_HEADER, id);
    }
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("no-store"));
}

#[cfg(test)]
#[path = "trace_tests.rs"]
mod tests;
