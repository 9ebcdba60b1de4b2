//! Answers and cookies. Refusals are those of the whole platform.

use http::header::{CACHE_CONTROL, CONTENT_TYPE, SET_COOKIE};
use http::{HeaderValue, Response, StatusCode, Uri};
use serde::Serialize;

pub use onsale_wire::{Problem, cookie};

pub type Answer = Response<Vec<u8>>;

/// An answer that nobody keeps.
pub fn bytes(status: StatusCode, media_type: &'static str, body: impl Into<Vec<u8>>) -> Answer {
    let mut answer = Response::new(body.into());
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    answer
}

pub fn json_answer(status: StatusCode, body: &impl Serialize) -> Answer {
    // A map with text keys is always JSON; should that ever change, nobody gets half of it.
    match serde_json::to_vec(body) {
        Ok(body) => bytes(status, "application/json", body),
        Err(_) => Problem::unavailable().answer(),
    }
}

/// To another page of ours, after a form was sent.
pub fn see_other(path: &str) -> Answer {
    let mut answer = bytes(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "");
    if let Ok(path) = HeaderValue::from_str(path) {
        answer.headers_mut().insert(http::header::LOCATION, path);
    }
    answer
}

/// A cookie that scripts cannot read and other sites cannot use.
#[derive(Debug)]
pub struct Cookie<'a> {
    pub name: &'static str,
    pub value: &'a str,
    pub path: &'a str,
    pub max_age_s: u64,
}

pub fn set_cookie(answer: &mut Answer, cookie: &Cookie<'_>, uri: &Uri) {
    let Cookie {
        name,
        value,
        path,
        max_age_s,
    } = cookie;
    let secure = match uri.scheme_str() {
        Some("https") => "; Secure",
        _ => "",
    };
    let text =
        format!("{name}={value}; Path={path}; Max-Age={max_age_s}; HttpOnly; SameSite=Lax{secure}");
    if let Ok(text) = HeaderValue::from_str(&text) {
        answer.headers_mut().append(SET_COOKIE, text);
    }
}
