//! A client that hangs up in the middle of a write: the write goes on to its end.

use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use onsale_app::Caller;
use onsale_app::ports::Reads;
use onsale_domain::block::{BlockIndex, Slot};
use onsale_domain::buyer::{Buyer, EntryState};
use onsale_domain::time::Millis;
use onsale_http::{Api, Limits, SessionSigner, openapi, trace};
use onsale_test_support::MemoryWorld;
use onsale_test_support::stage::{Plan, Stage};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tower::ServiceExt;

struct Service {
    world: MemoryWorld,
    stage: Stage,
    router: Router,
    buyer: Caller,
    token: String,
}

async fn service() -> Service {
    let world = MemoryWorld::new(Millis(1_800_000_000_000));
    let stage = Stage::set(&world.app, &Plan::default()).await.unwrap();
    let buyer = stage.buyer(1).await.unwrap();
    let session = world
        .app
        .store
        .session(buyer.session, buyer.account)
        .await
        .unwrap();
    let signer = SessionSigner::from_secret("k1", [7; 32]);
    let token = signer.sign(&session.unwrap(), buyer.role).unwrap();
    let api = Api::new(world.app.clone(), signer.verifier(), Limits::off());
    let (router, _) = openapi::finish(holds::router(), "holds");
    Service {
        router: trace::layer(router.with_state(api)),
        world,
        stage,
        buyer,
        token,
    }
}

impl Service {
    async fn send(&self, method: &str, path: &str, body: Value) -> (StatusCode, Value) {
        let request = Request::builder()
            .method(method)
            .uri(format!("/api/v1/shows/{}/holds{path}", self.stage.show.id))
            .header("authorization", format!("Bearer {}", self.token))
            .header("idempotency-key", "k")
            .header("content-type", "application/json");
        let request = request.body(Body::from(body.to_string())).unwrap();
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let status = answer.status();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }

    async fn hold(&self) -> (StatusCode, Value) {
        let wish = json!({"seats": ["A-1-3", "A-1-4"]});
        self.send("POST", "", wish).await
    }

    async fn buyer_item(&self) -> Buyer {
        let store = &self.world.app.store;
        let buyer = store.buyer(self.stage.show.id, self.buyer.account).await;
        buyer.unwrap()
    }

    /// How many places of the first row have an owner.
    async fn places_taken(&self) -> usize {
        let store = &self.world.app.store;
        let first_row = [BlockIndex(0)];
        let blocks = store
            .read_blocks(self.stage.show.id, &first_row, Reads::Consistent)
            .await;
        let blocks = blocks.unwrap();
        let taken = |slot: &u8| blocks.iter().any(|(_, b)| b.cell(Slot(*slot)).is_some());
        (0..32).filter(taken).count()
    }

    /// Hangs up while the request is just before this step; then the step may go on.
    async fn hang_up_before(&self, step: &str, request: impl Future<Output = (StatusCode, Value)>) {
        let (arrive, arrived) = oneshot::channel();
        let (go_on, may_go_on) = oneshot::channel::<()>();
        self.world.faults.before_next(step, async move {
            arrive.send(()).unwrap();
            may_go_on.await.unwrap();
        });
        tokio::select! {
            answer = request => panic!("nobody hung up: {answer:?}"),
            at_the_step = arrived => at_the_step.unwrap(),
        }
        assert_eq!(go_on.send(()), Ok(()), "the write ended with its client");
    }
}

/// Lets the write that nobody waits for any more run until this is so.
async fn until(so: impl AsyncFn() -> bool) {
    let poll = async {
        while !so().await {
            tokio::task::yield_now().await;
        }
    };
    let in_time = tokio::time::timeout(Duration::from_secs(20), poll).await;
    in_time.expect("the write never came to its end");
}

#[tokio::test]
async fn a_hold_whose_client_hung_up_is_recorded_and_answers_the_next_try() {
    let service = service().await;
    service.hang_up_before("write BUY", service.hold()).await;
    until(async || !service.buyer_item().await.entries.is_empty()).await;
    let buyer = service.buyer_item().await;
    let entry = &buyer.entries[0];
    assert_eq!(buyer.live_places(service.world.app.now()), 2);

    service.world.clock.advance(7_000);
    let (status, again) = service.hold().await;
    assert_eq!(status, StatusCode::CREATED, "{again}");
    assert_eq!(again["hold_id"], entry.hold.to_string());
    assert_eq!(again["expires_at"], entry.expiry.to_string());
    assert_eq!(service.buyer_item().await, buyer, "nothing was added");
    assert_eq!(service.places_taken().await, 2);
}

#[tokio::test]
async fn a_release_whose_client_hung_up_frees_the_places() {
    let service = service().await;
    let (_, held) = service.hold().await;
    let path = format!("/{}", held["hold_id"].as_str().unwrap());
    let release = service.send("DELETE", &path, Value::Null);
    service.hang_up_before("write BLK", release).await;
    until(async || service.places_taken().await == 0).await;
    let buyer = service.buyer_item().await;
    assert_eq!(buyer.entries[0].state, EntryState::Released);
}
