//! HTML answers: their headers, and text that cannot become a part of a page.

use http::{HeaderName, HeaderValue, StatusCode};
use onsale_wire::{Origin, origin};

use crate::answer::{Answer, bytes, cookie};
use crate::edge::Incoming;

/// A page with the headers of everything that a browser shows or runs.
pub fn html(status: StatusCode, page: String) -> Answer {
    secured(bytes(status, "text/html; charset=utf-8", page))
}

pub(crate) fn secured(mut answer: Answer) -> Answer {
    let policy = ("content-security-policy", onsale_web::POLICY);
    for (name, value) in onsale_web::HEADERS.iter().chain([&policy]) {
        answer.headers_mut().insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    answer
}

pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

/// Whether our own page sent this, and not another site by a browser of ours. Programs do
/// not say where they come from.
pub(crate) fn is_from_here(request: &Incoming) -> bool {
    let host = request.headers().get(http::header::HOST);
    let host = host.and_then(|host| host.to_str().ok());
    let asked = || request.uri().authority().map(|it| it.as_str());
    origin(request.headers(), host.or_else(asked)) != Origin::Foreign
}

/// Whether a session was sent. Only functions can say whether it is a good one.
pub(crate) fn has_session(headers: &http::HeaderMap) -> bool {
    let names = ["__Host-onsale_session", "onsale_session"];
    let mut sent = names.iter().filter_map(|name| cookie(headers, name));
    sent.any(|token| !token.is_empty())
}

/// Whether a browser shows what is answered.
pub(crate) fn wants_page(headers: &http::HeaderMap) -> bool {
    let accept = headers.get(http::header::ACCEPT);
    let accept = accept.and_then(|v| v.to_str().ok()).unwrap_or("");
    accept.contains("text/html")
}
