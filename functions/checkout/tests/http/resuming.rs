//! An organiser lets a stuck order go on.

use axum::http::StatusCode;
use onsale_app::checkout::MAX_TRIES;
use onsale_app::ports::Drive;
use onsale_domain::ids::OrderId;
use onsale_domain::order::OrderStatus;
use onsale_http::Limits;
use serde_json::json;

use crate::service::Service;

/// An order whose money nobody could take, tried for the last time.
async fn stuck(service: &Service) -> OrderId {
    let id = service.started("pm_card_visa").await;
    let last = Drive::Order {
        order_id: id,
        tries: MAX_TRIES,
    };
    service.world.faults.fail_always("capture", true);
    // A message that brought the order on begins to count afresh.
    service.drive(id).await;
    service.world.app.drive(&last).await.unwrap();
    service.world.faults.fail_always("capture", false);
    service.woken();
    assert_eq!(service.order(id).await.status(), OrderStatus::Stuck);
    id
}

#[tokio::test]
async fn a_stuck_order_goes_on_when_the_organiser_says_so() {
    let service = Service::new(Limits::off()).await;
    let id = stuck(&service).await;
    let path = format!("/api/v1/orders/{id}/resume");
    let organiser = service.organiser().await;
    let resumed = service.post_as(&organiser, &path, Some("key")).await;
    assert_eq!(resumed.status, StatusCode::ACCEPTED, "{}", resumed.body);
    assert_eq!(resumed.body["order_id"], json!(id.to_string()));
    assert_eq!(service.woken(), [id]);
    service.drive(id).await;
    assert_eq!(service.order(id).await.status(), OrderStatus::Confirmed);

    let again = service.post_as(&organiser, &path, Some("key")).await;
    assert_eq!(
        (again.status, again.body),
        (StatusCode::ACCEPTED, resumed.body),
        "the first answer may have been lost"
    );
    let other = service.post_as(&organiser, &path, Some("other")).await;
    assert_eq!(other.status, StatusCode::CONFLICT);
}

#[tokio::test]
async fn the_buyer_of_a_stuck_order_cannot_let_it_go_on() {
    let service = Service::new(Limits::off()).await;
    let id = stuck(&service).await;
    let path = format!("/api/v1/orders/{id}/resume");
    let refused = service.post(&path, Some("key")).await;
    assert_eq!(refused.status, StatusCode::FORBIDDEN);
    assert_eq!(service.woken(), []);
    assert_eq!(service.order(id).await.status(), OrderStatus::Stuck);
}
