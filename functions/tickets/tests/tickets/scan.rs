//! Scanning over HTTP: what a gate is told, and when it asks again.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use onsale_app::Caller;
use onsale_app::holds::Wish;
use onsale_app::ports::Drive;
use onsale_domain::ids::{OrderId, ShowId};
use onsale_domain::payment::PaymentMethod;
use onsale_domain::request_hash::IdempotencyKey;
use onsale_domain::ticket_code::{TicketKey, TicketKeys};
use onsale_domain::time::Millis;
use onsale_http::{Api, Limits, SessionSigner, openapi, trace};
use onsale_test_support::MemoryWorld;
use onsale_test_support::stage::{Plan, Stage};
use serde_json::{Value, json};
use tower::ServiceExt;

pub(crate) struct Gate {
    router: Router,
    document: Value,
    show: ShowId,
    pub(crate) organiser: String,
    pub(crate) buyer: String,
    pub(crate) order: OrderId,
    code: String,
}

/// An order, and the code of its ticket.
async fn bought(world: &MemoryWorld, stage: &Stage, buyer: &Caller) -> (OrderId, String) {
    let (app, show) = (&world.app, stage.show.id);
    let key = IdempotencyKey::parse("k").unwrap();
    let wish = Wish::Seats(vec!["A-1-3".to_owned()]);
    let hold = app
        .place_hold(buyer, show, &key, &wish, None)
        .await
        .unwrap();
    let card = PaymentMethod::parse("pm_card_visa").unwrap();
    let order = app.check_out(buyer, show, hold.hold_id, &key, card).await;
    let order_id = order.unwrap();
    let message = Drive::Order { order_id, tries: 0 };
    app.drive(&message).await.unwrap();
    let tickets = app.tickets_of(buyer, order_id).await.unwrap();
    (order_id, tickets[0].code.clone())
}

impl Gate {
    pub(crate) async fn new() -> Self {
        let world = MemoryWorld::new(Millis(1_800_000_000_000));
        let stage = Stage::set(&world.app, &Plan::default()).await.unwrap();
        let signer = SessionSigner::from_secret("k1", [7; 32]);
        let token = async |caller: &Caller| {
            let session = world
                .app
                .store
                .session(caller.session, caller.account)
                .await
                .unwrap();
            signer.sign(&session.unwrap(), caller.role).unwrap()
        };
        let buyer = stage.buyer(1).await.unwrap();
        let (order, code) = bought(&world, &stage, &buyer).await;
        let keys = TicketKeys::new(vec![TicketKey::from_bytes(&[7; 32]).public()]).unwrap();
        let (router, document) = openapi::finish(
            tickets::router(Arc::new(keys), tickets::Seller(None)),
            "tickets",
        );
        let api = Api::new(world.app.clone(), signer.verifier(), Limits::off());
        Self {
            router: trace::layer(router.with_state(api)),
            document: serde_json::to_value(document).unwrap(),
            show: stage.show.id,
            organiser: token(&stage.organiser().await.unwrap()).await,
            buyer: token(&buyer).await,
            order,
            code,
        }
    }

    async fn scan(&self, token: &str, key: Option<&str>) -> (StatusCode, Value) {
        let body = json!({"code": self.code, "gate": "north"});
        self.post("scans", token, key, body).await
    }

    async fn post(
        &self,
        what: &str,
        token: &str,
        key: Option<&str>,
        body: Value,
    ) -> (StatusCode, Value) {
        let mut request = Request::post(format!("/api/v1/shows/{}/{what}", self.show))
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json");
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        let request = request.body(Body::from(body.to_string())).unwrap();
        self.send(request).await
    }

    async fn undo(&self, ticket: &Value) -> StatusCode {
        let ticket = ticket.as_str().unwrap();
        let request = Request::delete(format!("/api/v1/shows/{}/scans/{ticket}", self.show))
            .header("authorization", format!("Bearer {}", self.organiser));
        let request = request.body(Body::empty()).unwrap();
        self.send(request).await.0
    }

    pub(crate) async fn answer(&self, request: Request<Body>) -> Response<Body> {
        self.router.clone().oneshot(request).await.unwrap()
    }

    async fn send(&self, request: Request<Body>) -> (StatusCode, Value) {
        let answer = self.answer(request).await;
        let status = answer.status();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap_or_default())
    }
}

#[tokio::test]
async fn a_gate_that_asks_again_with_its_key_gets_the_same_answer() {
    let gate = Gate::new().await;
    let (status, first) = gate.scan(&gate.organiser, Some("one")).await;
    assert_eq!(status, StatusCode::OK, "{first}");
    assert_eq!(
        (&first["result"], &first["seat"]),
        (&json!("admitted"), &json!("A-1-3"))
    );
    assert_eq!(gate.scan(&gate.organiser, Some("one")).await.1, first);
    for key in [Some("two"), None] {
        let (status, other) = gate.scan(&gate.organiser, key).await;
        assert_eq!(
            (status, &other["result"]),
            (StatusCode::OK, &json!("already_used"))
        );
        assert_eq!(other["used_at"], first["used_at"]);
    }
}

#[tokio::test]
async fn the_document_names_what_a_scan_is_refused_with() {
    let gate = Gate::new().await;
    let (_, admitted) = gate.scan(&gate.organiser, Some("one")).await;
    let elsewhere = json!({"code": gate.code, "gate": "south"});
    let other = gate.post("scans", &gate.organiser, Some("one"), elsewhere);
    let (mismatch, _) = other.await;
    assert_eq!(gate.undo(&admitted["ticket_id"]).await, StatusCode::OK);
    let (undone, _) = gate.scan(&gate.organiser, Some("one")).await;
    assert_eq!((mismatch.as_u16(), undone.as_u16()), (422, 409));
    let scan = &gate.document["paths"]["/api/v1/shows/{show}/scans"]["post"];
    for status in ["200", "409", "422"] {
        assert!(scan["responses"][status].is_object(), "{status}: {scan}");
    }
}

#[tokio::test]
async fn a_report_with_null_is_the_report_without() {
    let gate = Gate::new().await;
    let scan = json!({"code": gate.code, "at": "2027-01-15T08:00:00Z", "result": null});
    let report = json!({"gate": "north", "device": "d", "sent_at": null, "scans": [scan]});
    let (status, told) = gate
        .post("scans/batch", &gate.organiser, None, report)
        .await;
    assert_eq!(status, StatusCode::OK, "{told}");
    assert_eq!(told["scans"][0]["result"], "admitted", "{told}");
}

#[tokio::test]
async fn a_buyer_admits_nobody() {
    let gate = Gate::new().await;
    let (status, _) = gate.scan(&gate.buyer, None).await;
    assert_eq!(status, StatusCode::FORBIDDEN);
    let (_, answer) = gate.scan(&gate.organiser, None).await;
    assert_eq!(answer["result"], "admitted", "nothing was used up");
}
