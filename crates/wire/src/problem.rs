//! Refusals as RFC 9457 problems. Each says what happened, what was kept, and what to
//! do next; none says anything about how the service is built.

use std::borrow::Cow;

use http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response};
use serde_json::{Map, Value, json};

use crate::code::Code;

pub const PROBLEM_MEDIA_TYPE: &str = "application/problem+json";

#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    code: Code,
    title: &'static str,
    detail: Cow<'static, str>,
    fields: Map<String, Value>,
    retry_after_s: Option<u64>,
    allow: Option<&'static str>,
}

macro_rules! by_detail {
    ($($name:ident $code:ident,)*) => {
        impl Problem {
            $(pub fn $name(detail: impl Into<Cow<'static, str>>) -> Self {
                Self::new(Code::$code, detail)
            })*
        }
    };
}

by_detail! {
    invalid InvalidRequest,
    unauthenticated Unauthenticated,
    forbidden Forbidden,
    missing NotFound,
    method MethodNotAllowed,
    conflict Conflict,
    too_large PayloadTooLarge,
    limit_exceeded LimitExceeded,
    not_admitted NotAdmitted,
    unavailable_detail Unavailable,
}

impl Problem {
    pub fn new(code: Code, detail: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            title: code.title(),
            detail: detail.into(),
            fields: Map::new(),
            retry_after_s: None,
            allow: None,
        }
    }

    /// `what` is a noun, such as `show`.
    pub fn no_such(what: &str) -> Self {
        Self::missing(format!(
            "There is no such {what}. Check the address; ids are case-sensitive."
        ))
    }

    pub fn no_show() -> Self {
        Self::no_such("show")
    }

    pub fn internal() -> Self {
        Self::new(
            Code::Internal,
            "The request could not be completed and the failure was recorded. \
             Repeating it with the same Idempotency-Key is safe.",
        )
    }

    /// Nothing was changed, because the request only reads or never arrived.
    pub fn unavailable() -> Self {
        Self::unavailable_detail(
            "A part of the service does not answer at the moment. Your place is kept; try again.",
        )
        .retry_after(2)
    }

    /// No answer came to a write, which may have happened.
    pub fn unanswered_write(retry_after_s: u64) -> Self {
        Self::unavailable_detail(
            "A part of the service did not answer in time, so the request may or may not \
             have taken effect. Repeat it with the same Idempotency-Key: it happens once.",
        )
        .retry_after(retry_after_s)
    }

    pub fn rate_limited(wait_s: u64) -> Self {
        Self::new(
            Code::RateLimited,
            "You ask more often than is allowed. Wait, then go on.",
        )
        .retry_after(wait_s)
    }

    /// Says more exactly what is missing than the title of the code does.
    pub fn titled(mut self, title: &'static str) -> Self {
        self.title = title;
        self
    }

    /// Adds an extension field, such as `taken` of `seats_taken`.
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

    pub fn code(&self) -> Code {
        self.code
    }

    pub fn detail(&self) -> &str {
        &self.detail
    }

    pub fn to_json(&self) -> Value {
        let mut body = self.fields.clone();
        let name = format!("urn:onsale:{}", self.code.name());
        body.insert("type".into(), json!(name));
        body.insert("title".into(), json!(self.title));
        body.insert("status".into(), json!(self.code.status().as_u16()));
        body.insert("detail".into(), json!(self.detail));
        Value::Object(body)
    }

    /// The refusal as an answer that no cache keeps.
    pub fn answer(self) -> Response<Vec<u8>> {
        let mut answer = Response::new(self.to_json().to_string().into_bytes());
        *answer.status_mut() = self.code.status();
        let headers = answer.headers_mut();
        let media_type = HeaderValue::from_static(PROBLEM_MEDIA_TYPE);
        headers.insert(CONTENT_TYPE, media_type);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(methods) = self.allow {
            headers.insert(ALLOW, HeaderValue::from_static(methods));
        }
        if let Some(seconds) = self.retry_after_s {
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_exactly_these_bytes_and_headers() {
        let problem = Problem::conflict("The waiting room is closed.")
            .with("state", "closed")
            .retry_after(5)
            .allow("GET, HEAD");
        let answer = problem.answer();
        assert_eq!(answer.status().as_u16(), 409);
        let headers: Vec<_> = answer.headers().iter().collect();
        assert_eq!(headers.len(), 4, "{headers:?}");
        for (name, value) in [
            ("content-type", "application/problem+json"),
            ("cache-control", "no-store"),
            ("allow", "GET, HEAD"),
            ("retry-after", "5"),
        ] {
            assert_eq!(answer.headers()[name], value);
        }
        assert_eq!(
            std::str::from_utf8(answer.body()).unwrap(),
            "{\"detail\":\"The waiting room is closed.\",\"state\":\"closed\",\"status\":409,\
             \"title\":\"Not possible now\",\"type\":\"urn:onsale:conflict\"}"
        );
    }

    #[test]
    fn a_further_field_replaces_none_of_the_four() {
        let problem = Problem::invalid("No.")
            .with("type", "x")
            .with("status", 200)
            .with("title", "x")
            .with("detail", "x");
        assert_eq!(problem.to_json(), Problem::invalid("No.").to_json());
    }

    #[test]
    fn every_code_has_a_name_of_its_own_and_a_status_of_a_refusal() {
        let mut names: Vec<_> = Code::ALL.iter().map(|code| code.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Code::ALL.len());
        for code in Code::ALL {
            let status = code.status();
            assert!(status.is_client_error() || status.is_server_error());
        }
    }
}
