//! How often a buyer may try to pay.

use axum::http::StatusCode;
use onsale_http::{Limiter, Limits};

use crate::service::Service;

async fn two_attempts_a_minute() -> Service {
    Service::new(Limits {
        checkout_attempts: Limiter::new(2, 60_000, 2),
        ..Limits::default()
    })
    .await
}

#[tokio::test]
async fn too_many_attempts_are_told_when_to_come_back() {
    let service = two_attempts_a_minute().await;
    for seat in ["A-1-1", "A-1-2"] {
        let hold = service.hold(seat).await;
        let answer = service.check_out(hold, seat).await;
        assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.body);
    }
    let third = service.hold("A-1-3").await;
    let refused = service.check_out(third, "three").await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    let wait_s: u64 = refused.headers["retry-after"]
        .to_str()
        .unwrap()
        .parse()
        .unwrap();
    assert_eq!(wait_s, 30);
    assert_eq!(service.woken().len(), 2, "nobody is charged for a refusal");
    service.world.clock.advance(wait_s * 1_000);
    let answer = service.check_out(third, "three").await;
    assert_eq!(answer.status, StatusCode::ACCEPTED, "{}", answer.body);
}

#[tokio::test]
async fn a_request_that_was_answered_is_answered_again_whatever_the_limit_says() {
    let service = two_attempts_a_minute().await;
    let first = service.hold("A-1-1").await;
    let answer = service.check_out(first, "one").await;
    for _ in 0..3 {
        let again = service.check_out(first, "one").await;
        assert_eq!(again.status, StatusCode::ACCEPTED);
        assert_eq!(again.body, answer.body);
    }
    // The repetitions used nothing up: one attempt is left, and then none.
    let second = service.hold("A-1-2").await;
    let status = service.check_out(second, "two").await.status;
    assert_eq!(status, StatusCode::ACCEPTED);
    let third = service.hold("A-1-3").await;
    let status = service.check_out(third, "three").await.status;
    assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
    let again = service.check_out(first, "one").await;
    assert_eq!(again.status, StatusCode::ACCEPTED);
    assert_eq!(again.body, answer.body);
}
