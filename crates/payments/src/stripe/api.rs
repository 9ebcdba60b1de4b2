//! HTTP to Stripe: one request, one reply that is read or explained, in limited time
//! and space. It knows no payments.

use std::error::Error as _;
use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde::de::DeserializeOwned;

use super::config::StripeConfig;
use super::failure::{CallError, classify, presentable};

/// The version whose replies this crate reads; an account may be on any other.
const STRIPE_VERSION: &str = "2025-08-27.basil";
/// A page of a hundred payments with their charges is about 600 KB.
const MAX_REPLY_BYTES: usize = 1024 * 1024;
/// A function that slept does not find a connection that the other side has closed.
const IDLE: Duration = Duration::from_secs(20);

pub(super) type Fields<'a> = &'a [(&'a str, &'a str)];

/// The header by which Stripe says that it answered this key before.
const REPLAYED: &str = "idempotent-replayed";

/// An answer, and whether it is the one that this key was given before.
pub(super) struct Told<T> {
    pub(super) answer: Result<T, CallError>,
    pub(super) again: bool,
}

pub(super) struct Api {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    base_url: String,
    authorization: HeaderValue,
    timeout: Duration,
}

impl Api {
    pub(super) fn new(config: &StripeConfig) -> Result<Self, String> {
        let mut authorization = HeaderValue::try_from(format!("Bearer {}", config.secret_key))
            .map_err(|_| "the key of Stripe has characters that no key has".to_owned())?;
        authorization.set_sensitive(true);
        let connector = HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(rustls::crypto::ring::default_provider())
            .map_err(|error| format!("the system's certificates cannot be read: {error}"))?
            .https_or_http()
            .enable_http1()
            .build();
        Ok(Self {
            client: Client::builder(TokioExecutor::new())
                .pool_timer(TokioTimer::new())
                .pool_idle_timeout(IDLE)
                .build(connector),
            base_url: config.base_url()?,
            authorization,
            timeout: config.timeout,
        })
    }

    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        path: &str,
        query: Fields<'_>,
    ) -> Result<T, CallError> {
        let target = format!("{path}?{}", encoded(query));
        let told = self.call(Method::GET, &target, String::new(), None).await;
        told.answer
    }

    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        form: Fields<'_>,
        idempotency_key: Option<&str>,
    ) -> Result<T, CallError> {
        let told = self.call(Method::POST, path, encoded(form), idempotency_key);
        told.await.answer
    }

    pub(super) async fn post_told<T: DeserializeOwned>(
        &self,
        path: &str,
        form: Fields<'_>,
        idempotency_key: &str,
    ) -> Told<T> {
        self.call(Method::POST, path, encoded(form), Some(idempotency_key))
            .await
    }

    async fn call<T: DeserializeOwned>(
        &self,
        method: Method,
        target: &str,
        form: String,
        idempotency_key: Option<&str>,
    ) -> Told<T> {
        match self.reply(method, target, form, idempotency_key).await {
            Ok(reply) => Told {
                again: reply.again,
                answer: reply.read(),
            },
            Err(error) => Told {
                again: false,
                answer: Err(error),
            },
        }
    }

    async fn reply(
        &self,
        method: Method,
        target: &str,
        form: String,
        idempotency_key: Option<&str>,
    ) -> Result<Reply, CallError> {
        let mut request = Request::builder()
            .method(method)
            .uri(format!("{}{target}", self.base_url))
            .header(AUTHORIZATION, self.authorization.clone())
            .header("stripe-version", STRIPE_VERSION)
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        if let Some(key) = idempotency_key {
            request = request.header("idempotency-key", key);
        }
        let request = request
            .body(Full::new(Bytes::from(form)))
            .map_err(|_| CallError::NotTrusted("the request cannot be written".into()))?;
        tokio::time::timeout(self.timeout, self.exchange(request))
            .await
            .map_err(|_| CallError::NoAnswer("no reply in time".into()))?
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Reply, CallError> {
        let reply = self.client.request(request).await.map_err(|error| {
            // The outer error says only "client error"; the cause says what happened.
            let cause = error.source().map(ToString::to_string);
            CallError::NoAnswer(cause.unwrap_or_else(|| error.to_string()))
        })?;
        let again = reply.headers().get(REPLAYED);
        Ok(Reply {
            status: reply.status(),
            again: again.is_some_and(|value| value.as_bytes() == b"true"),
            body: read(reply.into_body()).await?,
        })
    }
}

struct Reply {
    status: StatusCode,
    again: bool,
    body: Bytes,
}

impl Reply {
    fn read<T: DeserializeOwned>(&self) -> Result<T, CallError> {
        if !self.status.is_success() {
            return Err(classify(self.status, &self.body));
        }
        serde_json::from_slice(&self.body).map_err(|error| {
            let why = presentable(&error.to_string());
            CallError::NoAnswer(format!("the reply cannot be read: {why}"))
        })
    }
}

async fn read(body: Incoming) -> Result<Bytes, CallError> {
    match Limited::new(body, MAX_REPLY_BYTES).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            Err(CallError::NoAnswer("the reply is larger than 1 MiB".into()))
        }
        Err(error) => Err(CallError::NoAnswer(format!("the reply broke off: {error}"))),
    }
}

fn encoded(fields: Fields<'_>) -> String {
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish()
}
