//! What is sent arrives as it was meant.

use onsale_app::ports::Drive;
use onsale_domain::announcement::News;
use onsale_domain::ids::{OrderId, ShowId};

use crate::contract::{NOW, fresh};
use crate::places::{in_process, wiring};

#[tokio::test]
async fn a_saga_is_woken_by_a_message() {
    let world = in_process(|http| http).await;
    let message = Drive::Order {
        order_id: OrderId::from_bytes(fresh()),
        tries: 2,
    };
    world.app.saga_queue.send_drive(&message, 0).await.unwrap();
    let receive = world.sqs.receive_message();
    let url = wiring().queue_url("SagaQueue").unwrap();
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
