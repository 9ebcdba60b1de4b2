//! Many accounts on one device: its sessions carry the suspicion.

#![expect(clippy::unwrap_used, reason = "what a test sets up must succeed")]

use axum::http::StatusCode;
use onsale_domain::ids::AccountId;
use onsale_domain::room::difficulty::Suspicion;
use onsale_http::{Limits, SessionSigner};
use serde_json::json;

use crate::service::{Answer, Service, ana, but, service, token};

const DEVICE: &str = "onsale_visitor=vis_09090909090909090909090909090909.signed-by-the-edge";
const DAY_MS: u64 = 24 * 3_600_000;

impl Service {
    async fn register_on(&self, cookie: &str, email: &str) {
        let headers = [("cookie", cookie)];
        let body = Some(but("email", email));
        let answer = self.send("POST", "/api/v1/accounts", &headers, body).await;
        assert_eq!(answer.status, StatusCode::CREATED, "{}", answer.body);
        assert!(!answer.headers.contains_key("onsale-suspicion"));
    }

    /// What the log-in is suspected of, by its header and by its token alike.
    async fn suspicion_on(&self, cookie: &str, email: &str) -> Suspicion {
        let headers = [("cookie", cookie), ("theme", "dark")];
        let body = Some(json!({"email": email, "password": "correct horse"}));
        let answer = self.send("POST", "/api/v1/sessions", &headers, body).await;
        let verifier = SessionSigner::from_secret("k1", [7; 32]).verifier();
        let now = self.world.app.now();
        let (_, suspicion) = verifier.verify_suspected(&token(&answer), now).unwrap();
        assert_eq!(header(&answer), suspicion);
        suspicion
    }
}

fn header(answer: &Answer) -> Suspicion {
    let value = answer.headers.get("onsale-suspicion");
    match value.map(|value| value.to_str().unwrap()) {
        None => Suspicion::Nothing,
        Some("unusual") => Suspicion::Unusual,
        Some("automated") => Suspicion::Automated,
        Some(other) => panic!("{other}"),
    }
}

/// Lets others use the device. Hashing a password for each would take minutes.
async fn others_use_it(service: &Service, others: std::ops::Range<u8>) {
    let device = onsale_domain::device::visitor(DEVICE.split_once('=').unwrap().1);
    for n in others {
        let account = AccountId::from_bytes([n; 16]);
        service
            .world
            .app
            .note_device(device.unwrap(), account)
            .await;
    }
}

const ANA: &str = "ana@example.org";
const BEN: &str = "ben@example.org";

#[tokio::test]
async fn the_fourth_account_is_unusual_and_the_ninth_a_program() {
    let service = service(Limits::off());
    service.register_on(DEVICE, ANA).await;
    service.register_on(DEVICE, BEN).await;
    for (others, expected) in [
        (0..1, Suspicion::Nothing),
        (1..2, Suspicion::Unusual),
        (2..6, Suspicion::Unusual),
        (6..7, Suspicion::Automated),
    ] {
        others_use_it(&service, others.clone()).await;
        let suspicion = service.suspicion_on(DEVICE, ANA).await;
        assert_eq!(suspicion, expected, "{others:?}");
    }
    // Elsewhere the same account is nobody's concern.
    let other = DEVICE.replace("09", "0a");
    for elsewhere in [&other, "lang=en", "onsale_visitor=nonsense"] {
        let suspicion = service.suspicion_on(elsewhere, ANA).await;
        assert_eq!(suspicion, Suspicion::Nothing, "{elsewhere}");
    }
    service.world.clock.advance(DAY_MS);
    let next_day = service.suspicion_on(DEVICE, ANA).await;
    assert_eq!(next_day, Suspicion::Nothing);
}

#[tokio::test]
async fn a_failed_log_in_leaves_no_trace_on_the_device() {
    let service = service(Limits::off());
    service.register_on(DEVICE, ANA).await;
    service.register(None, but("email", BEN)).await;
    others_use_it(&service, 0..2).await;
    let headers = [("cookie", DEVICE)];
    let body = Some(json!({"email": BEN, "password": "another horse"}));
    let failed = service
        .send("POST", "/api/v1/sessions", &headers, body)
        .await;
    assert_eq!(failed.status, StatusCode::UNAUTHORIZED);
    let suspicion = service.suspicion_on(DEVICE, ANA).await;
    assert_eq!(suspicion, Suspicion::Nothing);
}

#[tokio::test]
async fn nobody_is_kept_out_when_the_device_cannot_be_noted() {
    let service = service(Limits::off());
    service.world.faults.fail_always("update DEV", true);
    let headers = [("cookie", DEVICE)];
    let registered = service
        .send("POST", "/api/v1/accounts", &headers, Some(ana()))
        .await;
    assert_eq!(registered.status, StatusCode::CREATED);
    assert_eq!(service.suspicion_on(DEVICE, ANA).await, Suspicion::Nothing);
}
