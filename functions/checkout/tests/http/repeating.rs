//! Writes that are asked for twice, because the first answer was lost.

use axum::http::StatusCode;
use onsale_domain::order::OrderStatus;
use onsale_http::Limits;

use crate::service::Service;

#[tokio::test]
async fn a_confirmation_under_the_same_key_is_answered_again() {
    let service = Service::new(Limits::off()).await;
    let id = service.started("pm_sandbox_requires_action").await;
    service.drive(id).await;
    let path = format!("/api/v1/orders/{id}/confirm-action");
    let first = service.post(&path, Some("key")).await;
    assert_eq!(first.status, StatusCode::ACCEPTED, "{}", first.body);
    service.drive(id).await;
    assert_eq!(service.order(id).await.status(), OrderStatus::Confirmed);
    let again = service.post(&path, Some("key")).await;
    assert_eq!(
        (again.status, again.body),
        (StatusCode::ACCEPTED, first.body)
    );
}

#[tokio::test]
async fn a_confirmation_that_is_repeated_without_a_key_tells_how_far_the_order_has_come() {
    let service = Service::new(Limits::off()).await;
    let id = service.started("pm_sandbox_requires_action").await;
    service.drive(id).await;
    let path = format!("/api/v1/orders/{id}/confirm-action");
    let first = service.post(&path, None).await;
    assert_eq!(first.body["status"], "pending", "{}", first.body);
    service.drive(id).await;
    let again = service.post(&path, None).await;
    assert_eq!(again.status, StatusCode::ACCEPTED, "{}", again.body);
    assert_eq!(again.body["status"], "confirmed");
}

#[tokio::test]
async fn a_malformed_key_is_refused_on_every_write() {
    let service = Service::new(Limits::off()).await;
    let id = service.started("pm_card_visa").await;
    let show = service.order(id).await.show_id;
    let long = "k".repeat(65);
    for path in [
        format!("/api/v1/orders/{id}/confirm-action"),
        format!("/api/v1/orders/{id}/resume"),
        format!("/api/v1/orders/{id}/cancel"),
        format!("/api/v1/shows/{show}/cancel"),
    ] {
        let refused = service.post(&path, Some(&long)).await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{path}");
    }
}
