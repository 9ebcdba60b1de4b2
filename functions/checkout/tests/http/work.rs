//! Accounts that look like programs are asked for work before they pay.

use axum::http::StatusCode;
use onsale_domain::room::difficulty::Suspicion;
use onsale_domain::work::{self, Challenge, TRIES};
use onsale_http::{Limits, WorkGate};

use crate::service::Service;

#[tokio::test]
async fn a_suspect_works_before_paying_and_nothing_happens_until_then() {
    let keys = "a-secret-that-is-32-characters-long".parse().unwrap();
    let gate = WorkGate::new(Some(keys));
    let service = Service::suspected(Limits::default(), gate, Suspicion::Unusual).await;
    let hold = service.hold("A-1-1").await;
    let asked = service.check_out(hold, "pay").await;
    assert_eq!(asked.status, StatusCode::PRECONDITION_REQUIRED);
    assert_eq!(asked.body["type"], "urn:onsale:work_required");
    assert!(service.woken().is_empty(), "nobody is charged");

    let challenge = Challenge::from_json(&asked.body["challenge"].to_string()).unwrap();
    let solution = challenge.solve(0..TRIES).unwrap();
    let work = work::payload(&challenge, &solution);
    let paid = service.check_out_with(hold, "pay", Some(&work)).await;
    assert_eq!(paid.status, StatusCode::ACCEPTED, "{}", paid.body);
    let again = service.check_out(hold, "pay").await;
    assert_eq!(again.status, StatusCode::ACCEPTED, "answered before");
}

#[tokio::test]
async fn who_has_no_attempt_left_is_told_to_wait_and_not_asked_for_work() {
    let keys = "a-secret-that-is-32-characters-long".parse().unwrap();
    let gate = WorkGate::new(Some(keys));
    let service = Service::suspected(Limits::default(), gate, Suspicion::Unusual).await;
    let hold = service.hold("A-1-1").await;
    for _ in 0..7 {
        let asked = service.check_out(hold, "pay").await;
        assert_eq!(asked.status, StatusCode::PRECONDITION_REQUIRED);
    }
    let asked = service.check_out(hold, "pay").await;
    let challenge = Challenge::from_json(&asked.body["challenge"].to_string()).unwrap();
    let work = work::payload(&challenge, &challenge.solve(0..TRIES).unwrap());
    for n in 0..5 {
        let key = format!("pay-{n}");
        let tried = service.check_out_with(hold, &key, Some(&work)).await;
        assert_ne!(tried.status, StatusCode::TOO_MANY_REQUESTS, "{n}");
    }
    for proof in [None, Some(work.as_str())] {
        let tried = service.check_out_with(hold, "pay-5", proof).await;
        assert_eq!(tried.status, StatusCode::TOO_MANY_REQUESTS);
    }
}

#[tokio::test]
async fn whoever_goes_on_paying_after_being_refused_is_asked_for_work() {
    let keys = "a-secret-that-is-32-characters-long".parse().unwrap();
    let gate = WorkGate::new(Some(keys));
    let service = Service::suspected(Limits::default(), gate, Suspicion::Nothing).await;
    let hold = service.hold("A-1-1").await;
    for n in 0..5 {
        let tried = service.check_out(hold, &format!("pay-{n}")).await;
        assert_ne!(tried.status, StatusCode::TOO_MANY_REQUESTS, "{n}");
    }
    for n in 0..4 {
        let tried = service.check_out(hold, "pay-5").await;
        assert_eq!(tried.status, StatusCode::TOO_MANY_REQUESTS, "{n}");
    }
    service.world.clock.advance(12_000);
    let hold = service.hold("A-1-2").await;
    let asked = service.check_out(hold, "pay-6").await;
    assert_eq!(asked.status, StatusCode::PRECONDITION_REQUIRED);
    assert_eq!(asked.body["type"], "urn:onsale:work_required");
}

#[tokio::test]
async fn without_keys_a_suspect_pays_like_everybody() {
    let (limits, gate) = (Limits::default(), WorkGate::default());
    let service = Service::suspected(limits, gate, Suspicion::Automated).await;
    let hold = service.hold("A-1-1").await;
    let paid = service.check_out(hold, "pay").await;
    assert_eq!(paid.status, StatusCode::ACCEPTED);
}
