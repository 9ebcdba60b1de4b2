//! The work queues of the application, and messages that the table stores with its writes.

use std::sync::Arc;
use std::time::Duration;

use onsale_app::ports::{Drive, ExportQueue, SagaQueue, WriteExport};
use onsale_domain::ids::{ExportId, OrderId};
use onsale_local_cloud::testing::ManualClock;
use onsale_local_cloud::{LocalCloud, QueueCounts, QueueError, Received, Wiring, WorkQueues};
use onsale_observe::Cause;
use onsale_table::{Item, Key, Message, Queue, Reads, Table, TableError, Write};

use crate::TEMPLATE;

const QUEUE: &str = "SagaQueue";

async fn cloud() -> (LocalCloud, ManualClock) {
    let clock = ManualClock::at(1_800_000_000_000);
    let opened = LocalCloud::temporary_with_clock(Arc::new(clock.clone())).await;
    let cloud = opened.unwrap();
    let wiring = Wiring::parse(TEMPLATE).unwrap();
    cloud.apply(&wiring).await.unwrap();
    (cloud, clock)
}

async fn take(cloud: &LocalCloud, queue: &str) -> Vec<Received> {
    cloud.queues().receive(queue, 10, None).await.unwrap()
}

fn message(queue: &'static str, delay_s: u32) -> Message {
    Message {
        queue,
        body: "look".to_owned(),
        attributes: vec![("request_id", "req-7".to_owned())],
        delay_s,
    }
}

fn order() -> Key {
    Key::new("ORD#1", "ORD#1")
}

fn writes(message: Message) -> [Write; 2] {
    [Write::PutNew(order(), Item::new()), Write::Send(message)]
}

#[tokio::test]
async fn work_arrives_after_its_delay_with_what_caused_it_beside_it() {
    let (cloud, clock) = cloud().await;
    let work = WorkQueues::new(cloud.queues().clone()).unwrap();
    let drive = Drive::Order {
        order_id: OrderId::from_bytes([1; 16]),
        tries: 2,
    };
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let cause = Cause::begin(Some("req-7"), Some(trace));
    cause.scope(work.send_drive(&drive, 60)).await.unwrap();
    assert!(take(&cloud, QUEUE).await.is_empty());
    clock.advance_ms(60_000);
    let received = take(&cloud, QUEUE).await.remove(0);
    assert_eq!(
        serde_json::from_str::<Drive>(&received.body).unwrap(),
        drive
    );
    assert_eq!(received.attributes["request_id"], "req-7");
    assert_eq!(received.attributes["traceparent"], trace);
}

#[tokio::test]
async fn work_without_a_cause_is_sent_without_attributes() {
    let (cloud, _) = cloud().await;
    let work = WorkQueues::new(cloud.queues().clone()).unwrap();
    let export_id = ExportId::from_bytes([1; 16]);
    work.send_export(&WriteExport { export_id }).await.unwrap();
    let received = take(&cloud, "ExportsQueue").await;
    assert!(received[0].attributes.is_empty());
}

#[tokio::test]
async fn a_template_without_a_queue_that_is_needed_is_noticed_at_the_start() {
    let cloud = LocalCloud::temporary().await.unwrap();
    let missing = WorkQueues::new(cloud.queues().clone()).unwrap_err();
    assert!(matches!(missing, QueueError::NoSuchQueue(name) if name == "ExpireHoldsQueue"));
}

#[tokio::test]
async fn a_message_after_writes_in_order_wakes_its_consumer() {
    let (cloud, clock) = cloud().await;
    let queues = cloud.queues().clone();
    let waiting = tokio::spawn(async move { queues.wait_for_due(QUEUE).await });
    let sent = cloud.table().in_order(&writes(message(QUEUE, 5))).await;
    sent.unwrap();
    assert_eq!(cloud.queues().counts(QUEUE).await.unwrap().delayed, 1);
    assert!(!waiting.is_finished());
    clock.advance_ms(5_000);
    let woken = tokio::time::timeout(Duration::from_secs(10), waiting).await;
    woken.unwrap().unwrap().unwrap();
    let received = take(&cloud, QUEUE).await.remove(0);
    assert_eq!(received.body, "look");
    assert_eq!(received.attributes["request_id"], "req-7");
}

#[tokio::test]
async fn a_write_that_is_refused_sends_nothing() {
    let (cloud, _) = cloud().await;
    let table = cloud.table();
    table.put_new(&order(), Item::new()).await.unwrap();
    let refused = table.in_order(&writes(message(QUEUE, 0))).await;
    assert_eq!(refused.unwrap_err().at, 0);
    let counts = cloud.queues().counts(QUEUE).await.unwrap();
    assert_eq!(counts, QueueCounts::default());
}

#[tokio::test]
async fn writes_with_a_message_to_no_queue_leave_nothing_behind() {
    let (cloud, _) = cloud().await;
    let table = cloud.table();
    let sent = table.in_order(&writes(message("Nowhere", 0))).await;
    sent.unwrap_err();
    let stored = table.get(&order(), Reads::Consistent).await.unwrap();
    assert_eq!(stored, None);
}

#[tokio::test]
async fn the_store_sends_messages_by_the_names_of_queues() {
    let (cloud, _) = cloud().await;
    let queue: Arc<dyn Queue> = Arc::new(cloud.queues().clone());
    queue.send(&message(QUEUE, 0)).await.unwrap();
    assert_eq!(take(&cloud, QUEUE).await.len(), 1);
    for wrong in [message("Nowhere", 0), message(QUEUE, 901)] {
        let refused = queue.send(&wrong).await.unwrap_err();
        assert!(matches!(refused, TableError::Invalid(_)), "{refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_message_of_many_senders_is_delivered_once_to_many_consumers() {
    let (cloud, _) = cloud().await;
    let mut consumers = tokio::task::JoinSet::new();
    let (seen, mut all) = tokio::sync::mpsc::unbounded_channel();
    for _ in 0..3 {
        let (queues, seen) = (cloud.queues().clone(), seen.clone());
        consumers.spawn(async move {
            loop {
                queues.wait_for_due(QUEUE).await.unwrap();
                for message in queues.receive(QUEUE, 10, None).await.unwrap() {
                    let receipt = vec![message.receipt];
                    queues.delete(QUEUE, receipt).await.unwrap();
                    seen.send(message.body).unwrap();
                }
            }
        });
    }
    let mut senders = tokio::task::JoinSet::new();
    for sender in 0..10 {
        let cloud = cloud.clone();
        senders.spawn(async move {
            for n in 0..20 {
                let mut message = message(QUEUE, 0);
                message.body = format!("{sender}-{n}");
                match n % 2 {
                    0 => Queue::send(cloud.queues(), &message).await.unwrap(),
                    _ => {
                        let sent = cloud.table().in_order(&[Write::Send(message)]).await;
                        sent.unwrap();
                    }
                }
            }
        });
    }
    senders.join_all().await;
    let mut bodies = std::collections::BTreeSet::new();
    while bodies.len() < 200 {
        let next = tokio::time::timeout(Duration::from_secs(30), all.recv()).await;
        let body = next.expect("a message was forgotten").unwrap();
        assert!(bodies.insert(body), "a message came twice");
    }
    consumers.shutdown().await;
    let left = cloud.queues().counts(QUEUE).await.unwrap();
    assert_eq!(left, QueueCounts::default());
}
