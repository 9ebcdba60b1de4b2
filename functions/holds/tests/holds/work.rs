//! Accounts that look like programs are asked for work before they hold anything.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt;
use onsale_app::Caller;
use onsale_domain::ids::{AccountId, ShowId, VisitorId};
use onsale_domain::room::difficulty::Suspicion;
use onsale_domain::time::Millis;
use onsale_domain::work::{self, Challenge, Cost, TRIES, Terms, WorkKeys};
use onsale_http::captcha::{Captcha, Unavailable};
use onsale_http::{Api, Limits, SessionSigner, WorkGate, openapi, trace};
use onsale_test_support::MemoryWorld;
use onsale_test_support::stage::{Plan, Stage};
use serde_json::{Value, json};
use tower::ServiceExt;

const NOW: Millis = Millis(1_800_000_000_000);
const MINUTE_MS: u64 = 60_000;

fn keys() -> WorkKeys {
    "a-secret-that-is-32-characters-long".parse().unwrap()
}

struct Service {
    world: MemoryWorld,
    show: ShowId,
    router: Router,
    buyer: Caller,
    token: String,
}

async fn service(gate: WorkGate, suspicion: Suspicion) -> Service {
    let world = MemoryWorld::new(NOW);
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
    let api = Api::new(world.app.clone(), signer.verifier(), Limits::default()).with_work(gate);
    let (router, _) = openapi::finish(holds::router(), "holds");
    Service {
        router: trace::layer(router.with_state(api)),
        world,
        show: stage.show.id,
        buyer,
        token: token.unwrap(),
    }
}

async fn suspected(suspicion: Suspicion) -> Service {
    service(WorkGate::new(Some(keys())), suspicion).await
}

impl Service {
    /// Holds one seat, named by the key as well.
    async fn hold(&self, seat: &str, headers: &[(&str, &str)]) -> (StatusCode, Value) {
        let mut request = Request::post(format!("/api/v1/shows/{}/holds", self.show))
            .header("authorization", format!("Bearer {}", self.token))
            .header("idempotency-key", seat)
            .header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = json!({"seats": [seat]}).to_string();
        let request = request.body(Body::from(body)).unwrap();
        let answer = self.router.clone().oneshot(request).await.unwrap();
        let status = answer.status();
        let body = answer.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap())
    }

    async fn asked(&self, seat: &str, headers: &[(&str, &str)]) -> (Challenge, String) {
        let (status, body) = self.hold(seat, headers).await;
        assert_eq!(status, StatusCode::PRECONDITION_REQUIRED, "{body}");
        assert_eq!(body["type"], "urn:onsale:work_required");
        let challenge = Challenge::from_json(&body["challenge"].to_string());
        let detail = body["detail"].as_str().unwrap().to_owned();
        (challenge.unwrap(), detail)
    }

    async fn held(&self, seat: &str, headers: &[(&str, &str)]) {
        let (status, body) = self.hold(seat, headers).await;
        assert_eq!(status, StatusCode::CREATED, "{body}");
    }

    fn terms(&self) -> Terms {
        Terms {
            show: self.show,
            visitor: visitor(self.buyer.account),
            expires: NOW + 5 * MINUTE_MS,
        }
    }
}

/// How a challenge names an account; the web page and SDKs never see it.
fn visitor(account: AccountId) -> VisitorId {
    VisitorId::derived(&[b"account", account.as_bytes()])
}

fn solved(challenge: &Challenge) -> String {
    let solution = challenge.solve(0..TRIES).unwrap();
    work::payload(challenge, &solution)
}

fn issued(terms: &Terms, cost: Cost) -> String {
    solved(&work::issue(terms, cost, &[0; 34], &keys()))
}

#[tokio::test]
async fn nobody_is_asked_without_a_suspicion_or_without_keys() {
    suspected(Suspicion::Nothing).await.held("A-1-1", &[]).await;
    let off = service(WorkGate::default(), Suspicion::Automated).await;
    off.held("A-1-1", &[]).await;
}

#[tokio::test]
async fn a_suspect_solves_and_holds_until_the_solution_expires() {
    let service = suspected(Suspicion::Unusual).await;
    let (challenge, detail) = service.asked("A-1-1", &[]).await;
    assert!(!detail.contains("Onsale-Captcha"), "{detail}");
    let solution = solved(&challenge);
    let work = [("onsale-work", solution.as_str())];
    service.held("A-1-1", &work).await;
    service.world.clock.advance(5 * MINUTE_MS);
    service.held("A-1-2", &work).await;
    service.world.clock.advance(1_000);
    let (fresh, detail) = service.asked("A-1-3", &work).await;
    assert!(detail.contains("expired"), "{detail}");
    assert_ne!(fresh, challenge);
    let solution = solved(&fresh);
    service.held("A-1-3", &[("onsale-work", &solution)]).await;
}

#[tokio::test]
async fn the_more_suspicious_the_more_work() {
    let cost = async |suspicion| {
        let service = suspected(suspicion).await;
        service.asked("A-1-1", &[]).await.0.cost()
    };
    let (unusual, automated) = (
        cost(Suspicion::Unusual).await,
        cost(Suspicion::Automated).await,
    );
    assert!(unusual < automated);
    assert_eq!(automated, Cost::CEILING);
}

#[tokio::test]
async fn only_work_for_this_account_and_show_counts() {
    let service = suspected(Suspicion::Unusual).await;
    let cost = Cost::clamped(8);
    let good = service.terms();
    let other_show = Terms {
        show: ShowId::from_bytes([1; 16]),
        ..good
    };
    let other_account = Terms {
        visitor: visitor(AccountId::from_bytes([1; 16])),
        ..good
    };
    let foreign_keys: WorkKeys = "another-secret-of-32-characters-too".parse().unwrap();
    let foreign = solved(&work::issue(&good, cost, &[0; 34], &foreign_keys));
    let waited = work::issue_waiting(&good, NOW, &[0; 34], &keys());
    for (solution, why) in [
        (issued(&other_show, cost), "another show"),
        (issued(&other_account, cost), "another account"),
        (foreign, "not one of ours"),
        // The room's challenges cost an ordinary visitor less, or nothing at all.
        (issued(&good, Cost::clamped(2)), "too little"),
        (waited, "too little"),
        ("nonsense".to_owned(), "no solved challenge"),
    ] {
        let (_, detail) = service.asked("A-1-1", &[("onsale-work", &solution)]).await;
        assert!(detail.contains(why), "{why}: {detail}");
    }
    let solution = issued(&good, cost);
    service.held("A-1-1", &[("onsale-work", &solution)]).await;
    let endless = "x".repeat(2_049);
    let (status, _) = service.hold("A-1-2", &[("onsale-work", &endless)]).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn an_answer_that_is_given_again_costs_no_work() {
    let service = suspected(Suspicion::Unusual).await;
    let solution = issued(&service.terms(), Cost::clamped(8));
    service.held("A-1-1", &[("onsale-work", &solution)]).await;
    service.held("A-1-1", &[]).await;
}

#[tokio::test]
async fn being_asked_uses_no_attempt_up() {
    let service = suspected(Suspicion::Unusual).await;
    for _ in 0..10 {
        service.asked("A-1-1", &[]).await;
    }
    let solution = issued(&service.terms(), Cost::clamped(8));
    service.held("A-1-1", &[("onsale-work", &solution)]).await;
}

#[tokio::test]
async fn whoever_goes_on_after_being_refused_is_asked_for_work() {
    let service = suspected(Suspicion::Nothing).await;
    for seat in 1..=5 {
        service.held(&format!("A-1-{seat}"), &[]).await;
    }
    // Without an attempt left nobody is asked for work: it would gain them nothing.
    let solution = issued(&service.terms(), Cost::CEILING);
    for n in 0..20 {
        let work = [("onsale-work", solution.as_str())];
        let proof: &[_] = if n % 2 == 0 { &[] } else { &work };
        let (status, body) = service.hold("A-2-1", proof).await;
        assert_eq!(status, StatusCode::TOO_MANY_REQUESTS, "{n}: {body}");
    }
    service.world.clock.advance(12_000);
    for _ in 0..3 {
        let (challenge, _) = service.asked("A-2-1", &[]).await;
        assert_eq!(challenge.cost(), Cost::CEILING);
    }
    service.world.clock.advance(10 * MINUTE_MS);
    service.held("A-2-1", &[]).await;
}

/// Takes the token `human`, and cannot be reached for `later`.
struct Judge;

#[async_trait::async_trait]
impl Captcha for Judge {
    async fn verify(
        &self,
        token: &str,
        remote_ip: Option<IpAddr>,
        _: [u8; 16],
    ) -> Result<bool, Unavailable> {
        assert_eq!(remote_ip, Some("203.0.113.7".parse().unwrap()));
        match token {
            "later" => Err(Unavailable),
            token => Ok(token == "human"),
        }
    }
}

#[tokio::test]
async fn a_captcha_stands_in_for_work_where_there_is_one() {
    let gate = WorkGate::new(Some(keys())).with_captcha(Arc::new(Judge));
    let service = service(gate, Suspicion::Automated).await;
    let from = ("x-forwarded-for", "203.0.113.7, 10.0.0.1");
    let (_, detail) = service.asked("A-1-1", &[]).await;
    assert!(detail.contains("Onsale-Captcha"), "{detail}");
    for (token, why) in [("robot", "not accepted"), ("later", "cannot be checked")] {
        let headers = [("onsale-captcha", token), from];
        let (_, detail) = service.asked("A-1-1", &headers).await;
        assert!(detail.contains(why), "{detail}");
    }
    let headers = [("onsale-captcha", "human"), from];
    service.held("A-1-1", &headers).await;

    let without = suspected(Suspicion::Unusual).await;
    without.asked("A-1-1", &headers).await;
}

/// Takes a token once, and tells again what it said when the same question is repeated.
#[derive(Default)]
struct OnceEach(Mutex<HashMap<String, [u8; 16]>>);

#[async_trait::async_trait]
impl Captcha for OnceEach {
    async fn verify(
        &self,
        token: &str,
        _: Option<IpAddr>,
        attempt: [u8; 16],
    ) -> Result<bool, Unavailable> {
        let mut used = self.0.lock().unwrap();
        Ok(*used.entry(token.to_owned()).or_insert(attempt) == attempt)
    }
}

#[tokio::test]
async fn a_captcha_is_good_for_a_repeated_request_and_for_no_other() {
    let gate = WorkGate::new(Some(keys())).with_captcha(Arc::new(OnceEach::default()));
    let service = service(gate, Suspicion::Automated).await;
    let captcha = [("onsale-captcha", "human")];
    service.world.faults.fail_always("write BLK", true);
    let (status, body) = service.hold("A-1-1", &captcha).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "{body}");
    service.world.faults.fail_always("write BLK", false);
    service.held("A-1-1", &captcha).await;
    let (_, detail) = service.asked("A-1-2", &captcha).await;
    assert!(detail.contains("not accepted"), "{detail}");
}
