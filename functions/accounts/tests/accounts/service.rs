//! The function over the memory store, and how a client talks to it.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use onsale_domain::password_reset::ResetKeys;
use onsale_domain::time::Millis;
use onsale_http::{Api, Limits, SessionSigner, openapi, trace};
use onsale_test_support::MemoryWorld;
use serde_json::{Value, json};
use tower::ServiceExt;

const NOW: Millis = Millis(1_800_000_000_123);

pub(crate) struct Service {
    pub(crate) world: MemoryWorld,
    pub(crate) router: Router,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

pub(crate) fn reset_keys() -> ResetKeys {
    format!("1:{}", "5a".repeat(32)).parse().expect("a key")
}

pub(crate) fn service(limits: Limits) -> Service {
    let world = MemoryWorld::new(NOW);
    let signer = Arc::new(SessionSigner::from_secret("k1", [7; 32]));
    let api = Api::new(world.app.clone(), signer.verifier(), limits);
    let (router, _) = openapi::finish(
        accounts::router(signer, Some(Arc::new(reset_keys()))),
        "accounts",
    );
    Service {
        world,
        router: trace::layer(router.with_state(api)),
    }
}

impl Service {
    pub(crate) async fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<Value>,
    ) -> Answer {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = match body {
            Some(body) => {
                request = request.header("content-type", "application/json");
                Body::from(body.to_string())
            }
            None => Body::empty(),
        };
        let response = self
            .router
            .clone()
            .oneshot(request.body(body).expect("a request"))
            .await
            .unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: serde_json::from_slice(&body).unwrap_or_default(),
        }
    }

    pub(crate) async fn post(&self, path: &str, key: Option<&str>, body: Value) -> Answer {
        let key: Vec<_> = key
            .map(|key| ("idempotency-key", key))
            .into_iter()
            .collect();
        self.send("POST", path, &key, Some(body)).await
    }

    pub(crate) async fn register(&self, key: Option<&str>, body: Value) -> Answer {
        self.post("/api/v1/accounts", key, body).await
    }

    pub(crate) async fn log_in(&self, key: Option<&str>, email: &str, password: &str) -> Answer {
        let body = json!({"email": email, "password": password});
        self.post("/api/v1/sessions", key, body).await
    }

    pub(crate) async fn with_token(
        &self,
        method: &str,
        path: &str,
        token: &str,
        body: Option<Value>,
    ) -> Answer {
        let bearer = format!("Bearer {token}");
        self.send(method, path, &[("authorization", &bearer)], body)
            .await
    }

    pub(crate) async fn me(&self, token: &str) -> Answer {
        self.with_token("GET", "/api/v1/me", token, None).await
    }
}

pub(crate) fn ana() -> Value {
    json!({"email": "Ana@Example.org", "password": "correct horse", "name": "Ana", "role": "buyer"})
}

pub(crate) fn but(field: &str, value: &str) -> Value {
    let mut body = ana();
    body[field] = json!(value);
    body
}

pub(crate) fn token(answer: &Answer) -> String {
    assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.body);
    answer.body["token"].as_str().expect("a token").to_owned()
}

pub(crate) fn code(answer: &Answer) -> &str {
    assert_eq!(answer.headers["content-type"], "application/problem+json");
    let urn = answer.body["type"].as_str();
    urn.and_then(|urn| urn.strip_prefix("urn:onsale:"))
        .expect("a code")
}
