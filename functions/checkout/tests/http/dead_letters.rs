//! A message that killed its worker again and again parks its order, and only such a one.

use onsale_app::ports::Drive;
use onsale_consume::Delivery;
use onsale_domain::order::OrderStatus;
use onsale_http::Limits;

use crate::service::Service;

const SAGA: &str = "Saga";
const DEAD: &str = "SagaDeadLetters";

fn one(queue: &str, body: String) -> Vec<Delivery> {
    vec![Delivery {
        id: "m-1".to_owned(),
        body,
        attributes: Vec::new(),
        queue: queue.to_owned(),
    }]
}

#[tokio::test]
async fn the_queue_drives_an_order_and_its_dead_letters_park_it() {
    for (queue, status) in [(SAGA, OrderStatus::Confirmed), (DEAD, OrderStatus::Stuck)] {
        let service = Service::new(Limits::off()).await;
        let order_id = service.started("pm_card_visa").await;
        service.world.faults.fail_always("capture", true);
        service.drive(order_id).await;
        service.world.faults.fail_always("capture", false);
        service.world.clock.advance(10 * 60_000);
        let message = Drive::Order { order_id, tries: 1 };
        let batch = one(queue, serde_json::to_string(&message).unwrap());
        let done = drive_saga::handle(&service.world.app, DEAD, batch).await;
        assert!(done.is_empty(), "{queue}");
        assert_eq!(service.order(order_id).await.status(), status, "{queue}");
    }
}

#[tokio::test]
async fn a_message_that_is_not_ours_comes_back_from_both() {
    let service = Service::new(Limits::off()).await;
    for queue in [SAGA, DEAD] {
        let batch = one(queue, "not a message".to_owned());
        let done = drive_saga::handle(&service.world.app, DEAD, batch).await;
        assert_eq!(done, ["m-1"], "{queue}");
    }
}

/// Reconciling sends it again as long as the order does not know.
#[tokio::test]
async fn a_charge_back_comes_by_the_queue_and_its_dead_letter_parks_nothing() {
    for (queue, status) in [
        (SAGA, OrderStatus::Cancelling),
        (DEAD, OrderStatus::Confirmed),
    ] {
        let service = Service::new(Limits::off()).await;
        let order_id = service.started("pm_card_visa").await;
        service.drive(order_id).await;
        let payment = service.order(order_id).await.payment.unwrap();
        let message = Drive::ChargeBack { order_id, payment };
        let batch = one(queue, serde_json::to_string(&message).unwrap());
        let done = drive_saga::handle(&service.world.app, DEAD, batch).await;
        assert!(done.is_empty(), "{queue}");
        assert_eq!(service.order(order_id).await.status(), status, "{queue}");
    }
}
