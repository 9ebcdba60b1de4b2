//! Answers, refusals and cookies, as the rest of the platform gives them.

use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, SET_COOKIE};
use http::{HeaderMap, HeaderValue, Response, StatusCode, Uri};
use serde::Serialize;
use serde_json::{Map, Value, json};

pub type Answer = Response<Vec<u8>>;

/// A refusal as an RFC 9457 problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    status: StatusCode,
    code: &'static str,
    title: &'static str,
    detail: String,
    fields: Map<String, Value>,
    retry_after_s: Option<u64>,
    allow: Option<&'static str>,
}

macro_rules! problems {
    ($($name:ident $code:literal $status:ident $title:literal;)*) => {
        impl Problem {
            $(pub fn $name(detail: impl Into<String>) -> Self {
                Self::new(StatusCode::$status, $code, $title, detail.into())
            })*
        }
    };
}

problems! {
    invalid "invalid_request" BAD_REQUEST "The request is not valid";
    unauthenticated "unauthenticated" UNAUTHORIZED "No valid queue ticket";
    forbidden "forbidden" FORBIDDEN "Not allowed";
    not_found "not_found" NOT_FOUND "Not found";
    method "method_not_allowed" METHOD_NOT_ALLOWED "Method not allowed";
    conflict "conflict" CONFLICT "Not possible now";
    too_large "payload_too_large" PAYLOAD_TOO_LARGE "The body is too large";
    limit_exceeded "limit_exceeded" UNPROCESSABLE_ENTITY "Over a limit";
    not_admitted "not_admitted" TOO_EARLY "Not your turn yet";
    work_required "work_required" PRECONDITION_REQUIRED "Some work is required";
    unavailable_detail "unavailable" SERVICE_UNAVAILABLE "Try again";
    rate_limited_detail "rate_limited" TOO_MANY_REQUESTS "Too many requests";
}

impl Problem {
    fn new(status: StatusCode, code: &'static str, title: &'static str, detail: String) -> Self {
        Self {
            status,
            code,
            title,
            detail,
            fields: Map::new(),
            retry_after_s: None,
            allow: None,
        }
    }

    pub fn unavailable() -> Self {
        Self::unavailable_detail(
            "A part of the service does not answer at the moment. Your place is kept; try again.",
        )
        .retry_after(2)
    }

    pub fn rate_limited(wait_s: u64) -> Self {
        Self::rate_limited_detail("You ask more often than is allowed. Wait, then go on.")
            .retry_after(wait_s)
    }

    pub fn no_show() -> Self {
        Self::not_found("There is no such show. Check the address; ids are case-sensitive.")
    }

    pub fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(field.to_owned(), value.into());
        self
    }

    pub fn retry_after(mut self, seconds: u64) -> Self {
        self.retry_after_s = Some(seconds);
        self
    }

    /// The methods that would do.
    pub fn allow(mut self, methods: &'static str) -> Self {
        self.allow = Some(methods);
        self
    }

    pub fn detail(&self) -> &str {
        &self.detail
    }

    pub fn answer(self) -> Answer {
        let mut body = json!({
            "type": format!("urn:onsale:{}", self.code),
            "title": self.title,
            "status": self.status.as_u16(),
            "detail": self.detail,
        });
        if let Value::Object(known) = &mut body {
            known.extend(self.fields);
        }
        let mut answer = bytes(self.status, "application/problem+json", body.to_string());
        if let Some(methods) = self.allow {
            let methods = HeaderValue::from_static(methods);
            answer.headers_mut().insert(ALLOW, methods);
        }
        if let Some(seconds) = self.retry_after_s {
            answer
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        answer
    }
}

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

/// The value of a cookie that was sent. Others beside it may be no text at all.
pub fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lines = headers.get_all(http::header::COOKIE).iter();
    let mut pairs = lines
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b';'))
        .filter_map(|pair| std::str::from_utf8(pair).ok())
        .filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(given, _)| *given == name).map(|(_, v)| v)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_of_another_alphabet_hides_none_of_the_others() {
        let mut headers = HeaderMap::new();
        for line in ["name=Zoë; onsale_ticket=t", "onsale_visitor=v"] {
            let line = HeaderValue::from_bytes(line.as_bytes()).unwrap();
            headers.append(http::header::COOKIE, line);
        }
        let line = HeaderValue::from_bytes(b"old=\xe9; last=l").unwrap();
        headers.append(http::header::COOKIE, line);
        for (name, value) in [
            ("onsale_ticket", "t"),
            ("onsale_visitor", "v"),
            ("last", "l"),
        ] {
            assert_eq!(cookie(&headers, name), Some(value));
        }
        assert_eq!(cookie(&headers, "old"), None);
    }
}
