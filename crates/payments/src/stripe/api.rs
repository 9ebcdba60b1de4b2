//! HTTP to Stripe: one request, one reply that is read or explained, in limited time
//! and space. It knows no payments.

use std::time::Duration;

use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, Request, StatusCode};
use onsale_outgoing::{Outgoing, SendError};
use serde::de::DeserializeOwned;

use super::config::StripeConfig;
use super::failure::{CallError, classify, presentable};

/// The version whose replies this crate reads; an account may be on any other.
const STRIPE_VERSION: &str = "2025-08-27.basil";
/// A page of a hundred payments with their charges is about 600 KB.
const MAX_REPLY_BYTES: usize = 1024 * 1024;

pub(super) type Fields<'a> = &'a [(&'a str, &'a str)];

/// The header by which Stripe says that it answered this key before.
const REPLAYED: &str = "idempotent-replayed";

/// An answer, and whether it is the one that this key was given before.
pub(super) struct Told<T> {
    pub(super) answer: Result<T, CallError>,
    pub(super) again: bool,
}

pub(super) struct Api {
    outgoing: Outgoing,
    base_url: String,
    authorization: HeaderValue,
    timeout: Duration,
}

impl Api {
    pub(super) fn new(config: &StripeConfig) -> Result<Self, String> {
        let mut authorization = HeaderValue::try_from(format!("Bearer {}", config.secret_key))
            .map_err(|_| "the key of Stripe has characters that no key has".to_owned())?;
        authorization.set_sensitive(true);
        Ok(Self {
            outgoing: Outgoing::new()?,
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
            .body(form.into_bytes())
            .map_err(|_| CallError::NotTrusted("the request cannot be written".into()))?;
        tokio::time::timeout(self.timeout, self.exchange(request))
            .await
            .map_err(|_| CallError::NoAnswer("no reply in time".into()))?
    }

    async fn exchange(&self, request: Request<Vec<u8>>) -> Result<Reply, CallError> {
        let reply = self.outgoing.send(request, MAX_REPLY_BYTES).await;
        let reply = reply.map_err(|error| {
            CallError::NoAnswer(match error {
                SendError::NoAnswer(cause) => cause,
                SendError::TooLong => "the reply is larger than 1 MiB".to_owned(),
                SendError::BrokeOff(cause) => format!("the reply broke off: {cause}"),
            })
        })?;
        let again = reply.headers().get(REPLAYED);
        Ok(Reply {
            status: reply.status(),
            again: again.is_some_and(|value| value.as_bytes() == b"true"),
            body: reply.into_body(),
        })
    }
}

struct Reply {
    status: StatusCode,
    again: bool,
    body: Vec<u8>,
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

fn encoded(fields: Fields<'_>) -> String {
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(fields)
        .finish()
}
