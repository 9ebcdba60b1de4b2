//! What organisers see of their shows, over HTTP, and who does not.

#![allow(clippy::unwrap_used)]

mod posters;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use onsale_app::Caller;
use onsale_domain::account::Role;
use onsale_domain::ids::ShowId;
use onsale_domain::sales::RoomFigures;
use onsale_domain::show::RoomMode;
use onsale_domain::time::Millis;
use onsale_http::{Api, Limits, SessionSigner, openapi, trace};
use onsale_test_support::MemoryWorld;
use onsale_test_support::stage::{Plan, Stage};
use serde_json::{Value, json};
use tower::ServiceExt;

const NOW: Millis = Millis(1_800_000_000_000);

struct Service {
    world: MemoryWorld,
    stage: Stage,
    router: Router,
    signer: SessionSigner,
}

impl Service {
    async fn new(room: RoomMode) -> Self {
        let world = MemoryWorld::new(NOW);
        let plan = Plan {
            room,
            ..Plan::default()
        };
        let stage = Stage::set(&world.app, &plan).await.unwrap();
        let signer = SessionSigner::from_secret("k1", [7; 32]);
        let api = Api::new(world.app.clone(), signer.verifier(), Limits::off());
        let (router, _) = openapi::finish(organiser::router(), "organiser");
        Self {
            router: trace::layer(router.with_state(api)),
            world,
            stage,
            signer,
        }
    }

    async fn token(&self, caller: Caller) -> String {
        let session = self
            .world
            .app
            .store
            .session(caller.session, caller.account)
            .await
            .unwrap();
        self.signer.sign(&session.unwrap(), caller.role).unwrap()
    }

    async fn organiser(&self) -> String {
        self.token(self.stage.organiser().await.unwrap()).await
    }

    async fn send(
        &self,
        method: &str,
        path: &str,
        token: &str,
        body: Value,
    ) -> (StatusCode, Value) {
        let (status, _, answer) = self.send_for_headers(method, path, token, body).await;
        (status, answer)
    }

    async fn send_for_headers(
        &self,
        method: &str,
        path: &str,
        token: &str,
        body: Value,
    ) -> (StatusCode, HeaderMap, Value) {
        let mut request = Request::builder().method(method).uri(path);
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let body = match body {
            Value::Null => Body::empty(),
            body => Body::from(body.to_string()),
        };
        let request = request
            .header("content-type", "application/json")
            .body(body);
        let answer = self.router.clone().oneshot(request.unwrap()).await.unwrap();
        let (parts, body) = answer.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        let answer = serde_json::from_slice(&body).unwrap();
        (parts.status, parts.headers, answer)
    }
}

fn euros(amount: u64) -> Value {
    json!({"amount": amount, "currency": "EUR"})
}

#[tokio::test]
async fn a_show_that_sold_nothing_yet() {
    let service = Service::new(RoomMode::Off).await;
    let path = format!("/api/v1/shows/{}/sales", service.stage.show.id);
    let token = service.organiser().await;
    let (status, sales) = service.send("GET", &path, &token, Value::Null).await;
    assert_eq!(status, StatusCode::OK, "{sales}");
    assert_eq!(
        (&sales["free"], &sales["total"]),
        (&json!(160), &json!(160))
    );
    assert_eq!(
        (&sales["revenue"], &sales["by_minute"]),
        (&euros(0), &json!([]))
    );
    assert_eq!(sales["by_section"][1]["name"], "Floor");
    let room = json!({"mode": "off", "waiting": 0, "admitted": 0, "rate": sales["room"]["rate"]});
    assert_eq!(sales["room"], room);
}

#[tokio::test]
async fn the_room_is_as_the_edge_told_until_it_falls_silent() {
    let service = Service::new(RoomMode::Queue).await;
    let show = service.stage.show.id;
    let figures = RoomFigures {
        waiting: 1_234,
        admitted: 56,
        rate: 7,
        at: NOW,
    };
    service.world.app.hear_room(show, figures).await;
    let path = format!("/api/v1/shows/{show}/sales");
    let token = service.organiser().await;
    let (_, sales) = service.send("GET", &path, &token, Value::Null).await;
    let told = json!({"mode": "queue", "waiting": 1_234, "admitted": 56, "rate": 7});
    assert_eq!(sales["room"], told);
    service.world.clock.advance(61_000);
    let (_, sales) = service.send("GET", &path, &token, Value::Null).await;
    assert_eq!(sales["room"]["waiting"], 0);
}

/// Every route, and everybody who has no business there.
#[tokio::test]
async fn nobody_else_sees_or_takes_anything() {
    let service = Service::new(RoomMode::Off).await;
    let show = service.stage.show.id;
    let token = service.organiser().await;
    let exports = format!("/api/v1/shows/{show}/exports");
    let kind = json!({"kind": "orders"});
    let (status, export) = service.send("POST", &exports, &token, kind.clone()).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{export}");
    assert_eq!(
        (&export["status"], &export["rows"]),
        (&json!("preparing"), &json!(0))
    );
    let one = format!("{exports}/{}", export["export_id"].as_str().unwrap());
    let routes = [
        ("GET", format!("/api/v1/shows/{show}/sales"), Value::Null),
        ("POST", exports.clone(), kind),
        ("GET", one.clone(), Value::Null),
    ];

    let buyer = service.stage.buyer(1).await.unwrap();
    let staff = Caller {
        role: Role::Staff,
        ..service.stage.buyer(2).await.unwrap()
    };
    let other = Stage::set(&service.world.app, &Plan::default())
        .await
        .unwrap();
    let foreign = other.organiser().await.unwrap();
    let closed = service.stage.organiser().await.unwrap();
    let logged_out = service.token(closed).await;
    service
        .world
        .app
        .store
        .close_session(closed.session)
        .await
        .unwrap();
    let strangers = [
        ("nobody", String::new(), StatusCode::UNAUTHORIZED),
        ("logged out", logged_out, StatusCode::UNAUTHORIZED),
        ("buyer", service.token(buyer).await, StatusCode::FORBIDDEN),
        ("staff", service.token(staff).await, StatusCode::FORBIDDEN),
        (
            "another organiser",
            service.token(foreign).await,
            StatusCode::FORBIDDEN,
        ),
    ];
    for (method, path, body) in &routes {
        for (who, token, expected) in &strangers {
            let (status, answer) = service.send(method, path, token, body.clone()).await;
            assert_eq!(status, *expected, "{who}: {method} {path}: {answer}");
        }
        let (status, answer) = service.send(method, path, &token, body.clone()).await;
        assert!(status.is_success(), "{method} {path}: {answer}");
    }
    let elsewhere = one.replace(&show.to_string(), &other.show.id.to_string());
    let theirs = service.token(foreign).await;
    let (status, _) = service.send("GET", &elsewhere, &theirs, Value::Null).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let unknown = ShowId::from_bytes([9; 16]);
    let path = format!("/api/v1/shows/{unknown}/sales");
    let (status, _) = service.send("GET", &path, &token, Value::Null).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn whoever_asks_for_an_export_is_told_where_to_look_for_it() {
    let service = Service::new(RoomMode::Off).await;
    let exports = format!("/api/v1/shows/{}/exports", service.stage.show.id);
    let token = service.organiser().await;
    let kind = json!({"kind": "attendees"});
    let begun = service.send_for_headers("POST", &exports, &token, kind);
    let (status, headers, export) = begun.await;
    assert_eq!(status, StatusCode::ACCEPTED, "{export}");
    let place = headers["location"].to_str().unwrap();
    let id = export["export_id"].as_str().unwrap();
    assert_eq!(place, format!("{exports}/{id}"));
    let (status, found) = service.send("GET", place, &token, Value::Null).await;
    assert_eq!(status, StatusCode::OK, "{found}");
    assert_eq!(found["export_id"], export["export_id"]);
}

#[tokio::test]
async fn an_unknown_kind_is_refused() {
    let service = Service::new(RoomMode::Off).await;
    let path = format!("/api/v1/shows/{}/exports", service.stage.show.id);
    let token = service.organiser().await;
    for wrong in [
        json!({"kind": "everything"}),
        json!({}),
        json!({"kind": "orders", "x": 1}),
    ] {
        let (status, answer) = service.send("POST", &path, &token, wrong).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{answer}");
    }
}
