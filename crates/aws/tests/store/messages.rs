//! What is sent arrives as it was meant.

use onsale_app::ports::Drive;
use onsale_aws_emulator::queue_url;
use onsale_domain::announcement::News;
use onsale_domain::ids::{OrderId, ShowId};
use onsale_observe::Cause;

use crate::contract::{NOW, fresh};
use crate::places::in_process;

#[tokio::test]
async fn a_saga_is_woken_by_a_message() {
    let world = in_process(|http| http).await;
    let message = Drive::Order {
        order_id: OrderId::from_bytes(fresh()),
        tries: 2,
    };
    world.app.saga_queue.send_drive(&message, 0).await.unwrap();
    let receive = world.sqs.receive_message();
    let url = queue_url("SagaQueue");
    let received = receive.queue_url(url).send().await.unwrap();
    let body = received.messages()[0].body().unwrap();
    assert_eq!(serde_json::from_str::<Drive>(body).unwrap(), message);
    let too_long = world.app.saga_queue.send_drive(&message, 901).await;
    assert!(too_long.is_err());
}

#[tokio::test]
async fn the_bus_of_the_template_takes_announcements() {
    let world = in_process(|http| http).await;
    let news = News::ShowCancelled {
        show_id: ShowId::from_bytes(fresh()),
        refunds_due: 0,
    };
    let told = [news.announce("show", NOW)];
    world.app.bus.announce(&told).await.unwrap();
}

#[tokio::test]
async fn what_caused_a_message_goes_with_it() {
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let world = in_process(|http| http).await;
    let message = Drive::Order {
        order_id: OrderId::from_bytes(fresh()),
        tries: 0,
    };
    let cause = Cause::begin(Some("req-7"), Some(parent));
    let sent = cause.scope(world.app.saga_queue.send_drive(&message, 0));
    sent.await.unwrap();
    let url = queue_url("SagaQueue");
    let receive = world.sqs.receive_message().queue_url(url);
    let received = receive.message_attribute_names("All").send().await.unwrap();
    let received = &received.messages()[0];
    let attribute = |name: &str| received.message_attributes().unwrap()[name].string_value();
    assert_eq!(attribute("request_id"), Some("req-7"));
    assert_eq!(attribute("traceparent"), Some(parent));
    // The body is what it was before there were causes.
    let body = received.body().unwrap();
    assert_eq!(serde_json::from_str::<Drive>(body).unwrap(), message);
}
