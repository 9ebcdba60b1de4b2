//! Holding places of a show that has a waiting room, over HTTP.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use onsale_domain::room::pass_key::PassKey;
use onsale_domain::show::RoomMode;
use onsale_domain::time::Millis;
use onsale_http::{Api, Limits, PassVerifier, SessionSigner, openapi, trace};
use onsale_test_support::MemoryWorld;
use onsale_test_support::stage::{Plan, Stage};
use serde_json::{Value, json};
use tower::ServiceExt;

struct Service {
    world: MemoryWorld,
    stage: Stage,
    router: Router,
    sessions: SessionSigner,
}

async fn service() -> Service {
    let world = MemoryWorld::new(Millis(1_800_000_000_000));
    let plan = Plan {
        room: RoomMode::Queue,
        ..Plan::default()
    };
    let stage = Stage::set(&world.app, &plan).await.unwrap();
    let sessions = SessionSigner::from_secret("k1", [7; 32]);
    let passes = PassVerifier::parse(&edge().public_key()).unwrap();
    let api = Api::new(world.app.clone(), sessions.verifier(), Limits::off());
    let (router, _) = openapi::finish(holds::router(), "holds");
    Service {
        router: trace::layer(router.with_state(api.with_passes(passes))),
        world,
        stage,
        sessions,
    }
}

fn edge() -> PassKey {
    PassKey::new("edge", &[3; 32])
}

impl Service {
    async fn log_in(&self, n: u8) -> String {
        let buyer = self.stage.buyer(n).await.unwrap();
        let session = self
            .world
            .app
            .store
            .session(buyer.session, buyer.account)
            .await
            .unwrap();
        self.sessions.sign(&session.unwrap(), buyer.role).unwrap()
    }

    async fn hold(&self, token: &str, seat: &str, header: Option<(&str, &str)>) -> (u16, Value) {
        let mut request = Request::post(format!("/api/v1/shows/{}/holds", self.stage.show.id))
            .header("authorization", format!("Bearer {token}"))
            .header("idempotency-key", seat)
            .header("content-type", "application/json");
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        let body = json!({"seats": [seat]}).to_string();
        let request = request.body(Body::from(body)).unwrap();
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let status = answer.status();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (
            status.as_u16(),
            serde_json::from_slice(&body).unwrap_or_default(),
        )
    }
}

fn assert_wants_a_pass((status, problem): &(u16, Value), detail: &str) {
    assert_eq!(*status, StatusCode::FORBIDDEN.as_u16(), "{problem}");
    assert_eq!(problem["type"], "urn:onsale:pass_required");
    let said = problem["detail"].as_str().unwrap();
    assert!(said.starts_with(detail), "{said}");
}

#[tokio::test]
async fn a_hold_needs_a_pass_of_the_edge_in_its_header_or_as_cookie() {
    let service = service().await;
    let ana = service.log_in(1).await;
    let token = edge().sign(&service.stage.pass(1));
    let forged = PassKey::new("edge", &[4; 32]).sign(&service.stage.pass(1));
    let room = "This show has a waiting room.";
    assert_wants_a_pass(&service.hold(&ana, "A-1-1", None).await, room);
    for not_a_pass in [forged.as_str(), ana.as_str(), "x"] {
        let answer = service.hold(&ana, "A-1-1", Some(("onsale-pass", not_a_pass)));
        assert_wants_a_pass(&answer.await, room);
    }
    let (status, _) = service
        .hold(&ana, "A-1-1", Some(("onsale-pass", &token)))
        .await;
    assert_eq!(status, 201);
    let cookie = format!("onsale_pass={token}");
    let (status, _) = service.hold(&ana, "A-1-2", Some(("cookie", &cookie))).await;
    assert_eq!(status, 201);
    // What was held before is answered again without one.
    let (status, _) = service.hold(&ana, "A-1-1", None).await;
    assert_eq!(status, 201);
}

#[tokio::test]
async fn a_pass_that_does_not_count_is_told_why() {
    let service = service().await;
    let (ana, ben) = (service.log_in(1).await, service.log_in(2).await);
    let pass = service.stage.pass(1);
    let token = edge().sign(&pass);
    let header = Some(("onsale-pass", token.as_str()));
    assert_eq!(service.hold(&ana, "A-1-1", header).await.0, 201);
    let borrowed = service.hold(&ben, "A-1-2", header).await;
    assert_wants_a_pass(&borrowed, "The pass is used by another account.");
    let (app, show) = (&service.world.app, service.stage.show.id);
    app.close_pass(show, pass.pass).await.unwrap();
    let closed = service.hold(&ana, "A-1-2", header).await;
    assert_wants_a_pass(&closed, "The pass has ended.");
    let other = edge().sign(&service.stage.pass(2));
    service.world.clock.advance(305_000);
    let late = service.hold(&ben, "A-1-2", Some(("onsale-pass", &other)));
    assert_wants_a_pass(&late.await, "The pass has expired.");
}
