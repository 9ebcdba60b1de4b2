//! A message that killed its worker again and again parks its order, and only such a one.

use aws_lambda_events::event::sqs::{SqsEvent, SqsMessage};
use onsale_app::ports::Drive;
use onsale_domain::order::OrderStatus;
use onsale_http::Limits;

use crate::service::Service;

const SAGA: &str = "arn:aws:sqs:eu-central-1:123456789012:Saga";
const DEAD: &str = "arn:aws:sqs:eu-central-1:123456789012:SagaDeadLetters";

fn one(arn: &str, body: String) -> SqsEvent {
    let mut message = SqsMessage::default();
    message.message_id = Some("m-1".to_owned());
    message.event_source_arn = Some(arn.to_owned());
    message.body = Some(body);
    let mut event = SqsEvent::default();
    event.records = vec![message];
    event
}

#[tokio::test]
async fn the_queue_drives_an_order_and_its_dead_letters_park_it() {
    for (arn, status) in [(SAGA, OrderStatus::Confirmed), (DEAD, OrderStatus::Stuck)] {
        let service = Service::new(Limits::off()).await;
        let order_id = service.started("pm_card_visa").await;
        service.world.gate.fail_always("capture", true);
        service.drive(order_id).await;
        service.world.gate.fail_always("capture", false);
        service.world.clock.advance(10 * 60_000);
        let message = Drive::Order { order_id, tries: 1 };
        let event = one(arn, serde_json::to_string(&message).unwrap());
        let done = drive_saga::handle(&service.world.app, DEAD, event).await;
        assert!(done.batch_item_failures.is_empty(), "{arn}");
        assert_eq!(service.order(order_id).await.status(), status, "{arn}");
    }
}

#[tokio::test]
async fn a_message_that_is_not_ours_comes_back_from_both() {
    let service = Service::new(Limits::off()).await;
    for arn in [SAGA, DEAD] {
        let event = one(arn, "not a message".to_owned());
        let done = drive_saga::handle(&service.world.app, DEAD, event).await;
        let failed = done.batch_item_failures.iter();
        let failed: Vec<_> = failed.map(|item| item.item_identifier.as_str()).collect();
        assert_eq!(failed, ["m-1"], "{arn}");
    }
}

/// Reconciling sends it again as long as the order does not know.
#[tokio::test]
async fn a_charge_back_comes_by_the_queue_and_its_dead_letter_parks_nothing() {
    for (arn, status) in [
        (SAGA, OrderStatus::Cancelling),
        (DEAD, OrderStatus::Confirmed),
    ] {
        let service = Service::new(Limits::off()).await;
        let order_id = service.started("pm_card_visa").await;
        service.drive(order_id).await;
        let payment = service.order(order_id).await.payment.unwrap();
        let message = Drive::ChargeBack { order_id, payment };
        let event = one(arn, serde_json::to_string(&message).unwrap());
        let done = drive_saga::handle(&service.world.app, DEAD, event).await;
        assert!(done.batch_item_failures.is_empty(), "{arn}");
        assert_eq!(service.order(order_id).await.status(), status, "{arn}");
    }
}
