//! The router of checkout on a show in memory, and a buyer with a session.

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use onsale_app::Caller;
use onsale_app::holds::Wish;
use onsale_app::ports::Drive;
use onsale_domain::ids::{HoldId, OrderId};
use onsale_domain::order::Order;
use onsale_domain::payment::PaymentMethod;
use onsale_domain::request_hash::IdempotencyKey;
use onsale_domain::room::difficulty::Suspicion;
use onsale_domain::time::Millis;
use onsale_http::{Api, Limits, SessionSigner, WorkGate, openapi, trace};
use onsale_payments::Provider;
use onsale_test_support::MemoryWorld;
use onsale_test_support::stage::{Plan, Stage};
use serde_json::Value;
use tower::ServiceExt;

pub(crate) const WEBHOOK_SECRET: &str = "whsec_of_the_test";

pub(crate) struct Service {
    pub(crate) world: MemoryWorld,
    pub(crate) stage: Stage,
    router: Router,
    signer: SessionSigner,
    buyer: Caller,
    token: String,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Service {
    pub(crate) async fn new(limits: Limits) -> Self {
        Self::suspected(limits, WorkGate::default(), Suspicion::Nothing).await
    }

    pub(crate) async fn suspected(limits: Limits, gate: WorkGate, suspicion: Suspicion) -> Self {
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
        let token = signer.sign_suspected(&session.unwrap(), buyer.role, suspicion);
        let token = token.unwrap();
        let api = Api::new(world.app.clone(), signer.verifier(), limits).with_work(gate);
        let setting =
            |name: &str| (name == "STRIPE_WEBHOOK_SECRETS").then(|| WEBHOOK_SECRET.to_owned());
        let ledger = world.store.clone();
        let provider = Provider::configured(setting, ledger, world.clock.clone()).unwrap();
        let router = checkout::router(provider.webhooks, provider.settings);
        let (router, _) = openapi::finish(router, "checkout");
        Self {
            router: trace::layer(router.with_state(api)),
            world,
            stage,
            signer,
            buyer,
            token,
        }
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Answer {
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = answer.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: serde_json::from_slice(&body).unwrap_or_default(),
        }
    }

    pub(crate) async fn hold(&self, seat: &str) -> HoldId {
        let key = IdempotencyKey::parse(seat).unwrap();
        let wish = Wish::Seats(vec![seat.to_owned()]);
        let show = self.stage.show.id;
        let held = self
            .world
            .app
            .place_hold(&self.buyer, show, &key, &wish, None);
        held.await.unwrap().hold_id
    }

    /// Pays over HTTP.
    pub(crate) async fn check_out(&self, hold: HoldId, key: &str) -> Answer {
        self.check_out_with(hold, key, None).await
    }

    /// Pays over HTTP, and shows a solved challenge.
    pub(crate) async fn check_out_with(
        &self,
        hold: HoldId,
        key: &str,
        work: Option<&str>,
    ) -> Answer {
        let show = self.stage.show.id;
        let mut request = Request::post(format!("/api/v1/shows/{show}/holds/{hold}/checkout"))
            .header("authorization", format!("Bearer {}", self.token))
            .header("idempotency-key", key)
            .header("content-type", "application/json");
        if let Some(work) = work {
            request = request.header("onsale-work", work);
        }
        let body = r#"{"payment_method":"pm_card_visa"}"#;
        self.send(request.body(Body::from(body)).unwrap()).await
    }

    /// An order whose checkout began, and whose message somebody has taken.
    pub(crate) async fn started(&self, method: &str) -> OrderId {
        let hold = self.hold("A-1-1").await;
        let key = IdempotencyKey::parse("pay").unwrap();
        let method = PaymentMethod::parse(method).unwrap();
        let show = self.stage.show.id;
        let app = &self.world.app;
        let id = app.check_out(&self.buyer, show, hold, &key, method).await;
        self.world.saga_queue.take_due();
        id.unwrap()
    }

    pub(crate) async fn cancel(&self, id: OrderId) {
        let cancelled = self.world.app.cancel_order(&self.buyer, id).await;
        cancelled.unwrap();
    }

    /// The token of the show's organiser.
    pub(crate) async fn organiser(&self) -> String {
        let caller = self.stage.organiser().await.unwrap();
        let store = &self.world.app.store;
        let session = store.session(caller.session, caller.account).await.unwrap();
        let token = self.signer.sign(&session.unwrap(), caller.role);
        token.unwrap()
    }

    /// What the buyer reads there.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        let request = Request::get(path).header("authorization", format!("Bearer {}", self.token));
        self.send(request.body(Body::empty()).unwrap()).await
    }

    /// A POST of the buyer without a body.
    pub(crate) async fn post(&self, path: &str, key: Option<&str>) -> Answer {
        self.post_as(&self.token, path, key).await
    }

    /// A POST of the buyer with a body.
    pub(crate) async fn post_json(&self, path: &str, key: &str, body: &Value) -> Answer {
        let request = Request::post(path)
            .header("authorization", format!("Bearer {}", self.token))
            .header("idempotency-key", key)
            .header("content-type", "application/json");
        self.send(request.body(Body::from(body.to_string())).unwrap())
            .await
    }

    pub(crate) async fn post_as(&self, token: &str, path: &str, key: Option<&str>) -> Answer {
        let mut request = Request::post(path).header("authorization", format!("Bearer {token}"));
        if let Some(key) = key {
            request = request.header("idempotency-key", key);
        }
        self.send(request.body(Body::empty()).unwrap()).await
    }

    pub(crate) async fn drive(&self, order_id: OrderId) {
        let message = Drive::Order { order_id, tries: 0 };
        self.world.app.drive(&message).await.unwrap();
    }

    pub(crate) async fn order(&self, id: OrderId) -> Order {
        self.world.app.order(&self.buyer, id).await.unwrap()
    }

    /// The orders that somebody was told to look at since this was last asked.
    pub(crate) fn woken(&self) -> Vec<OrderId> {
        let due = self.world.saga_queue.take_due();
        due.into_iter()
            .filter_map(|message| match message {
                Drive::Order { order_id, .. } => Some(order_id),
                Drive::Cancellation { .. }
                | Drive::ChargeBack { .. }
                | Drive::Reset { .. }
                | Drive::Deletion { .. } => None,
            })
            .collect()
    }
}
