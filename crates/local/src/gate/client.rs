//! HTTP to the platform, as a gate needs it.

use std::error::Error as _;
use std::time::Duration;

use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use axum::http::{Method, Request, Uri};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Bytes;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client as HyperClient;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A page of a thousand tickets is some 70 KB.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;
const TIMEOUT: Duration = Duration::from_secs(30);

pub struct Client {
    http: HyperClient<HttpsConnector<HttpConnector>, Full<Bytes>>,
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
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
            .map_err(|error| format!("the system's certificates cannot be read: {error}"))?
            .https_or_http()
            .enable_http1()
            .build();
        Ok(Self {
            http: HyperClient::builder(TokioExecutor::new()).build(connector),
            url: url.trim_end_matches('/').to_owned(),
            authorization,
        })
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, String> {
        self.call(Method::GET, path, Bytes::new()).await
    }

    pub async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, String> {
        let body = serde_json::to_vec(body).map_err(|e| e.to_string())?;
        self.call(Method::POST, path, body.into()).await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<T, String> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header(AUTHORIZATION, self.authorization.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(body))
            .map_err(|e| e.to_string())?;
        let url = &self.url;
        let exchange = async {
            let answer = self.http.request(request).await.map_err(|error| {
                let cause = error.source().map(ToString::to_string);
                let cause = cause.unwrap_or_else(|| error.to_string());
                format!("{url} does not answer: {cause}")
            })?;
            let status = answer.status();
            let body = Limited::new(answer.into_body(), MAX_ANSWER_BYTES)
                .collect()
                .await
                .map_err(|e| format!("the answer of {url} broke off: {e}"))?;
            Ok::<_, String>((status, body.to_bytes()))
        };
        let (status, body) = tokio::time::timeout(TIMEOUT, exchange)
            .await
            .map_err(|_| format!("{url} does not answer in time"))??;
        if !status.is_success() {
            let detail = String::from_utf8_lossy(&body);
            let detail: String = detail.chars().take(300).collect();
            return Err(format!("{url} refuses with {status}: {detail}"));
        }
        serde_json::from_slice(&body).map_err(|e| format!("the answer of {url}: {e}"))
    }
}
