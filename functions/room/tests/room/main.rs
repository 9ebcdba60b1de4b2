//! The function as the edge and organisers meet it, over the memory store.

#![expect(clippy::unwrap_used, reason = "what a test sets up must succeed")]

mod control;
mod fans;
mod internal;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::request::Builder;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use onsale_app::Caller;
use onsale_domain::internal_call::{
    InternalKeys, KEY_HEADER, SIGNATURE_HEADER, SignedCall, TIME_HEADER,
};
use onsale_domain::show::RoomMode;
use onsale_domain::time::Millis;
use onsale_http::{Api, Limits, SessionSigner, openapi, trace};
use onsale_test_support::MemoryWorld;
use onsale_test_support::stage::{Plan, Stage};
use room::RoomKeys;
use serde_json::Value;
use tower::ServiceExt;

const NOW: Millis = Millis(1_800_000_000_000);

fn keys() -> InternalKeys {
    "k1:a-secret-that-only-edge-and-cloud-know".parse().unwrap()
}

struct Service {
    world: MemoryWorld,
    stage: Stage,
    signer: SessionSigner,
    router: Router,
}

async fn service_with(keys: Option<InternalKeys>) -> Service {
    let world = MemoryWorld::new(NOW);
    let plan = Plan {
        room: RoomMode::Queue,
        ..Plan::default()
    };
    let stage = Stage::set(&world.app, &plan).await.unwrap();
    let signer = SessionSigner::from_secret("k1", [7; 32]);
    let api = Api::new(world.app.clone(), signer.verifier(), Limits::off());
    let (router, _) = openapi::finish(
        room::router(RoomKeys {
            internal: keys.map(Arc::new),
            ..RoomKeys::default()
        }),
        "room",
    );
    Service {
        router: trace::layer(router.with_state(api)),
        world,
        stage,
        signer,
    }
}

async fn service() -> Service {
    service_with(Some(keys())).await
}

impl Service {
    async fn send(&self, request: Builder, body: &str) -> (StatusCode, Value) {
        let request = request.body(Body::from(body.to_owned())).unwrap();
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let status = answer.status();
        let bytes = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// A call of the edge, signed now.
    async fn call(&self, method: &str, target: &str, body: &str) -> (StatusCode, Value) {
        let signed = keys().sign(method, target, body.as_bytes(), self.world.app.now());
        let request = with_signature(Request::builder().method(method).uri(target), &signed);
        self.send(request, body).await
    }

    async fn token(&self, caller: &Caller) -> String {
        let session = self
            .world
            .app
            .store
            .session(caller.session, caller.account)
            .await
            .unwrap();
        self.signer.sign(&session.unwrap(), caller.role).unwrap()
    }
}

fn with_signature(request: Builder, signed: &SignedCall) -> Builder {
    request
        .header(TIME_HEADER, &signed.time)
        .header(KEY_HEADER, &signed.key)
        .header(SIGNATURE_HEADER, &signed.signature)
}

fn code(problem: &Value) -> &str {
    problem["type"].as_str().unwrap_or_default()
}
