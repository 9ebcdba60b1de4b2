//! What may be left out of a request may be `null` as well.

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use onsale_domain::time::Millis;
use onsale_http::{Api, Limits, SessionSigner, openapi, trace};
use onsale_test_support::MemoryWorld;
use onsale_test_support::stage::{Plan, Stage};
use serde_json::{Value, json};
use tower::ServiceExt;

pub(crate) struct Service {
    stage: Stage,
    router: Router,
    token: String,
}

async fn service() -> Service {
    service_of(&Plan::default()).await
}

/// A show by this plan, with a buyer of it.
pub(crate) async fn service_of(plan: &Plan) -> Service {
    let world = MemoryWorld::new(Millis(1_800_000_000_000));
    let stage = Stage::set(&world.app, plan).await.unwrap();
    let buyer = stage.buyer(1).await.unwrap();
    let store = &world.app.store;
    let session = store.session(buyer.session, buyer.account).await.unwrap();
    let signer = SessionSigner::from_secret("k1", [7; 32]);
    let api = Api::new(world.app.clone(), signer.verifier(), Limits::off());
    let (router, _) = openapi::finish(holds::router(), "holds");
    Service {
        stage,
        router: trace::layer(router.with_state(api)),
        token: signer.sign(&session.unwrap(), buyer.role).unwrap(),
    }
}

impl Service {
    async fn get(&self, what: &str) -> (u16, Value) {
        let request = Request::get(format!("/api/v1/shows/{}/{what}", self.stage.show.id))
            .header("authorization", format!("Bearer {}", self.token));
        self.send(request.body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn post(&self, what: &str, key: &str, body: Value) -> (u16, Value) {
        let request = Request::post(format!("/api/v1/shows/{}/{what}", self.stage.show.id))
            .header("authorization", format!("Bearer {}", self.token))
            .header("idempotency-key", key)
            .header("content-type", "application/json");
        let request = request.body(Body::from(body.to_string())).unwrap();
        self.send(request).await
    }

    async fn send(&self, request: Request<Body>) -> (u16, Value) {
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }
}

#[tokio::test]
async fn a_hold_with_null_is_the_hold_without() {
    let service = service().await;
    for (key, bare, with_null) in [
        (
            "seats",
            json!({"seats": ["A-1-1"]}),
            json!({"seats": ["A-1-1"], "best_available": null, "general": null}),
        ),
        (
            "best",
            json!({"best_available": {"quantity": 2}}),
            json!({"best_available": {
                "quantity": 2, "section": null, "max_price": null, "together": null,
                "allow_fewer": null, "accessible": null,
            }}),
        ),
    ] {
        let first = service.post("holds", key, bare).await;
        assert_eq!(first.0, 201, "{}", first.1);
        let again = service.post("holds", key, with_null).await;
        assert_eq!(again, first, "the same wish under the same key");
    }
}

#[tokio::test]
async fn a_page_that_was_loaded_again_finds_its_holds() {
    let service = service().await;
    assert_eq!(service.get("holds").await, (200, json!({"items": []})));
    for (key, seat) in [("1", "A-1-1"), ("2", "A-1-3")] {
        let held = service.post("holds", key, json!({"seats": [seat]})).await;
        assert_eq!(held.0, 201, "{}", held.1);
    }
    let (status, list) = service.get("holds").await;
    assert_eq!(status, 200, "{list}");
    let items = list["items"].as_array().unwrap();
    let seat = |item: &Value| item["seats"][0]["seat"].as_str().map(str::to_owned);
    let seats: Vec<_> = items.iter().filter_map(seat).collect();
    assert_eq!(seats, ["A-1-3", "A-1-1"]);
    let newest = items[0]["hold_id"].as_str().unwrap();
    let one = service.get(&format!("holds/{newest}")).await;
    assert_eq!(one, (200, items[0].clone()));
}

#[tokio::test]
async fn what_a_hold_needs_is_never_null() {
    let service = service().await;
    for body in [
        json!({"seats": null}),
        json!({"best_available": {"quantity": null}}),
        json!({"general": {"section": null, "quantity": 1}}),
    ] {
        let (status, problem) = service.post("holds", "k", body.clone()).await;
        assert_eq!(status, 400, "{body}: {problem}");
    }
}

#[tokio::test]
async fn a_place_in_the_waitlist_with_null_is_the_place_without() {
    let service = service().await;
    let bare = json!({"quantity": 2});
    let first = service.post("waitlist", "k", bare).await;
    assert_eq!(first.0, 201, "{}", first.1);
    let with_null = json!({"quantity": 2, "sections": null, "together": null});
    assert_eq!(service.post("waitlist", "k", with_null).await, first);
}
