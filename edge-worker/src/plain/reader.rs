//! What a reader's browser could ask of the API by itself, asked for it, with its cookies.

use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName,
    HeaderValue, SET_COOKIE,
};
use http::uri::PathAndQuery;
use http::{Method, Request, StatusCode, Uri};
use onsale_domain::time::Millis;
use serde_json::Value;
use std::sync::Arc;

use super::Asked;
use crate::answer::{Answer, Problem};
use crate::catalogue::Told;
use crate::forward::{forward, request_id};
use crate::host::Host;

const KEY_HEADER: HeaderName = HeaderName::from_static("idempotency-key");

/// The fields of a form.
#[derive(Debug)]
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    pub fn read(body: &[u8]) -> Self {
        Self(form_urlencoded::parse(body).into_owned().collect())
    }

    /// The field of this name, empty where there is none.
    pub fn field(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value.trim())
    }

    /// What makes sending it twice happen once.
    pub fn key(&self) -> Option<&str> {
        let key = self.field("key");
        let fits = (1..=64).contains(&key.len()) && key.bytes().all(|b| b.is_ascii_graphic());
        fits.then_some(key)
    }
}

/// What a function answered.
#[derive(Debug)]
pub(super) struct Heard {
    pub status: StatusCode,
    pub body: Value,
    headers: HeaderMap,
}

impl Heard {
    /// `seats_taken`: why it was refused.
    pub fn code(&self) -> &str {
        let kind = self.body["type"].as_str().unwrap_or("");
        kind.strip_prefix("urn:onsale:").unwrap_or(kind)
    }

    /// Whether the same form, sent again with its key, may be answered yet.
    pub fn can_be_repeated(&self) -> bool {
        ["unavailable", "rate_limited", "request_in_flight"].contains(&self.code())
    }

    pub fn is_done(&self) -> bool {
        self.status.is_success()
    }

    /// Gives an answer the cookies that the function set.
    pub fn set_cookies(&self, answer: &mut Answer) {
        for cookie in self.headers.get_all(SET_COOKIE) {
            answer.headers_mut().append(SET_COOKIE, cookie.clone());
        }
    }
}

impl From<Answer> for Heard {
    fn from(answer: Answer) -> Self {
        let (parts, body) = answer.into_parts();
        Self {
            status: parts.status,
            body: serde_json::from_slice(&body).unwrap_or_default(),
            headers: parts.headers,
        }
    }
}

impl<H: Host> Asked<'_, H> {
    pub(super) async fn get(&self, path: &str) -> Heard {
        self.call(Method::GET, path, None, None, None).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value, key: Option<&str>) -> Heard {
        self.call(Method::POST, path, Some(body), key, None).await
    }

    /// Calls the API. `token` is a session that the browser does not have yet.
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
        key: Option<&str>,
        token: Option<&str>,
    ) -> Heard {
        let Some(mut request) = self.request_to(path) else {
            return Problem::unavailable().answer().into();
        };
        *request.method_mut() = method;
        let headers = request.headers_mut();
        let json = HeaderValue::from_static("application/json");
        headers.insert(ACCEPT, json.clone());
        let text = |text: &str| HeaderValue::from_str(text).ok();
        if let Some(key) = key.and_then(text) {
            headers.insert(KEY_HEADER, key);
        }
        if let Some(token) = token.and_then(|token| text(&format!("Bearer {token}"))) {
            headers.insert(AUTHORIZATION, token);
        }
        if let Some(body) = body.filter(|body| !body.is_null()) {
            headers.insert(CONTENT_TYPE, json);
            *request.body_mut() = body.to_string().into_bytes();
        }
        let id = request_id(self.host, request.headers());
        let answered = forward(self.edge, self.host, request, &id).await;
        answered.unwrap_or_else(Problem::answer).into()
    }

    /// The request of the reader, to another address of the same origin.
    fn request_to(&self, path: &str) -> Option<Request<Vec<u8>>> {
        let mut uri = self.request.uri().clone().into_parts();
        uri.path_and_query = PathAndQuery::try_from(path).ok();
        let mut request = Request::new(Vec::new());
        *request.uri_mut() = Uri::from_parts(uri).ok()?;
        *request.headers_mut() = self.request.headers().clone();
        // They describe the form, and how its answer may be written.
        for name in [CONTENT_LENGTH, CONTENT_TYPE, ACCEPT_ENCODING, KEY_HEADER] {
            request.headers_mut().remove(name);
        }
        Some(request)
    }

    /// What everybody may read of a show.
    pub(super) async fn show(&self, id: &str) -> Result<Arc<Value>, Problem> {
        match self.edge.told_show(self.host, id).await {
            Told::Found(show) => Ok(show),
            Told::Missing => Err(Problem::no_show()),
            Told::Silent => Err(Problem::unavailable()),
        }
    }

    pub(super) fn is_past(&self, moment: &str) -> bool {
        let moment = Millis::parse_rfc3339(moment);
        moment.is_some_and(|moment| moment <= self.host.now())
    }

    /// For a form: the same form sent twice has the same.
    pub(super) fn new_key(&self) -> String {
        new_key(self.host)
    }
}

/// A key that no other form has.
pub(crate) fn new_key<H: Host>(host: &H) -> String {
    let mut random = [0; 16];
    host.fill(&mut random);
    format!("plain-{:032x}", u128::from_le_bytes(random))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_no_header_is_not_taken_from_a_form() {
        let key = |body: &str| Form::read(body.as_bytes()).key().map(str::to_owned);
        assert_eq!(key("key=plain-1&quantity=2").as_deref(), Some("plain-1"));
        for wrong in ["", "key=", "key=a%0Ab", "key=%C3%A9"] {
            assert_eq!(key(wrong), None, "{wrong}");
        }
        assert_eq!(key(&format!("key={}", "k".repeat(65))), None);
    }
}
