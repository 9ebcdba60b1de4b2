//! HTTP to the platform, as a gate needs it.

use std::time::Duration;

use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use axum::http::{Method, Request, Uri};
use onsale_outgoing::{Outgoing, SendError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A page of a thousand tickets is some 70 KB.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;
const TIMEOUT: Duration = Duration::from_secs(30);

pub struct Client {
    outgoing: Outgoing,
    url: String,
    authorization: HeaderValue,
}

impl Client {
    /// A token travels in the clear to this machine only.
    pub fn new(url: &str, token: &str) -> Result<Self, String> {
        let parsed: Uri = url.parse().map_err(|_| format!("{url} is no address"))?;
        let local = matches!(parsed.host(), Some("127.0.0.1" | "localhost" | "[::1]"));
        match parsed.scheme_str() {
            Some("https") => {}
            Some("http") if local => {}
            _ => return Err(format!("{url} must begin with https://")),
        }
        let mut authorization = HeaderValue::try_from(format!("Bearer {token}"))
            .map_err(|_| "the token has characters that no token has".to_owned())?;
        authorization.set_sensitive(true);
        Ok(Self {
            outgoing: Outgoing::new()?,
            url: url.trim_end_matches('/').to_owned(),
            authorization,
        })
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, String> {
        self.call(Method::GET, path, Vec::new()).await
    }

    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, String> {
        let body = serde_json::to_vec(body).map_err(|e| e.to_string())?;
        self.call(Method::POST, path, body).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Vec<u8>,
    ) -> Result<T, String> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header(AUTHORIZATION, self.authorization.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(body)
            .map_err(|e| e.to_string())?;
        let url = &self.url;
        let answer = self.outgoing.send(request, MAX_ANSWER_BYTES);
        let answer = tokio::time::timeout(TIMEOUT, answer)
            .await
            .map_err(|_| format!("{url} does not answer in time"))?
            .map_err(|error| match error {
                SendError::NoAnswer(cause) => format!("{url} does not answer: {cause}"),
                SendError::TooLong => format!("the answer of {url} is too long"),
                SendError::BrokeOff(cause) => format!("the answer of {url} broke off: {cause}"),
            })?;
        let (status, body) = (answer.status(), answer.into_body());
        if !status.is_success() {
            let detail = String::from_utf8_lossy(&body);
            let detail: String = detail.chars().take(300).collect();
            return Err(format!("{url} refuses with {status}: {detail}"));
        }
        serde_json::from_slice(&body).map_err(|e| format!("the answer of {url}: {e}"))
    }
}
