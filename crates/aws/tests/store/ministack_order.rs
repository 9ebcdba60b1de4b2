//! One hold and one order through MiniStack's DynamoDB, SQS and EventBridge: over HTTP, in
//! the services' own wire formats, each message received, worked on and deleted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aws_sdk_sqs::types::{Message, QueueAttributeName};
use onsale_app::holds::Wish;
use onsale_app::ports::Drive;
use onsale_app::{App, Caller};
use onsale_aws::{AwsConfig, Wires};
use onsale_domain::announcement::SOURCE;
use onsale_domain::block::Cell;
use onsale_domain::buyer::EntryState;
use onsale_domain::ids::{HoldId, OrderId};
use onsale_domain::money::Cents;
use onsale_domain::order::OrderStatus;
use onsale_domain::payment::{PaymentMethod, PaymentState};
use onsale_domain::request_hash::IdempotencyKey;
use onsale_domain::ticket::{Ticket, TicketState};
use onsale_domain::ticket_code::TicketKey;
use onsale_machine::SystemClock;
use onsale_payments::{Pace, Sandbox};
use onsale_store::{Reads, SCHEMA};
use onsale_test_support::stage::{Plan, Stage};
use serde_json::Value;

use crate::cloud::{create_table, ministack_config};

const SEATS: [&str; 2] = ["A-1-1", "A-1-2"];
const PATIENCE: Duration = Duration::from_secs(20);

/// The application on a table, two queues and a bus of its own, and a queue that hears
/// whatever the bus is told.
struct Deployment {
    app: App,
    sqs: aws_sdk_sqs::Client,
    expire_holds_queue: String,
    saga_queue: String,
    news_queue: String,
}

impl Deployment {
    async fn create(config: &AwsConfig) -> Self {
        let name = format!("order-{}", std::process::id());
        create_table(&config.dynamodb(), &name, &SCHEMA).await;
        let sqs = config.sqs();
        let expire_holds_queue = create_queue(&sqs, &format!("{name}-expire-holds")).await;
        let saga_queue = create_queue(&sqs, &format!("{name}-saga")).await;
        let news_queue = create_queue(&sqs, &format!("{name}-news")).await;
        create_bus(config, &name, &arn_of(&sqs, &news_queue).await).await;
        let wires = Wires {
            bucket: None,
            table: name.clone(),
            expire_holds_queue: Some(expire_holds_queue.clone()),
            notify_queue: None,
            saga_queue: Some(saga_queue.clone()),
            exports_queue: None,
            offer_waitlist_queue: None,
            event_bus: Some(name),
        };
        let ledger = config.store(&wires);
        let payments = Sandbox::new(ledger, Arc::new(SystemClock), Pace::NONE);
        let signer = TicketKey::from_bytes(&[7; 32]);
        Self {
            app: App::new(config.ports(&wires, Arc::new(payments), Arc::new(signer))),
            sqs,
            expire_holds_queue,
            saga_queue,
            news_queue,
        }
    }

    /// The next message of a queue, if one comes within a second.
    async fn try_receive(&self, queue: &str) -> Option<Message> {
        let receive = self.sqs.receive_message().queue_url(queue);
        let received = receive.wait_time_seconds(1).send().await.unwrap();
        received.messages.unwrap_or_default().pop()
    }

    async fn delete(&self, queue: &str, message: &Message) {
        let handle = message.receipt_handle().unwrap();
        let delete = self.sqs.delete_message().queue_url(queue);
        delete.receipt_handle(handle).send().await.unwrap();
    }

    async fn take(&self, queue: &str) -> String {
        let began = Instant::now();
        loop {
            if let Some(message) = self.try_receive(queue).await {
                self.delete(queue, &message).await;
                return message.body.unwrap();
            }
            assert!(began.elapsed() < PATIENCE, "nothing comes in {queue}");
        }
    }

    /// Does what `drive-saga` does: the message is deleted once its work is done.
    async fn drive_next(&self, order_id: OrderId) {
        let began = Instant::now();
        let message = loop {
            match self.try_receive(&self.saga_queue).await {
                Some(message) => break message,
                None => assert!(began.elapsed() < PATIENCE, "the saga is not woken"),
            }
        };
        let drive: Drive = serde_json::from_str(message.body().unwrap()).unwrap();
        assert_eq!(drive, Drive::Order { order_id, tries: 0 });
        self.app.drive(&drive).await.unwrap();
        self.delete(&self.saga_queue, &message).await;
        let left = self.try_receive(&self.saga_queue).await;
        assert!(left.is_none(), "{left:?}");
    }

    /// The `detail` of this kind of news. News before it is passed over.
    async fn hears(&self, kind: &str) -> Value {
        loop {
            let body = self.take(&self.news_queue).await;
            let envelope: Value = serde_json::from_str(&body).unwrap();
            assert_eq!(envelope["source"], SOURCE);
            if envelope["detail-type"] == kind {
                return envelope["detail"].clone();
            }
        }
    }

    async fn count(&self, queue: &str, which: QueueAttributeName) -> u32 {
        let counts = self.sqs.get_queue_attributes().queue_url(queue);
        let counts = counts.attribute_names(which.clone()).send().await.unwrap();
        counts.attributes().unwrap()[&which].parse().unwrap()
    }
}

async fn create_queue(sqs: &aws_sdk_sqs::Client, name: &str) -> String {
    let created = sqs.create_queue().queue_name(name).send().await.unwrap();
    created.queue_url.unwrap()
}

async fn arn_of(sqs: &aws_sdk_sqs::Client, queue: &str) -> String {
    let arn = QueueAttributeName::QueueArn;
    let asked = sqs.get_queue_attributes().queue_url(queue);
    let asked = asked.attribute_names(arn.clone()).send().await.unwrap();
    asked.attributes().unwrap()[&arn].clone()
}

/// A bus that tells this queue everything.
async fn create_bus(config: &AwsConfig, name: &str, queue_arn: &str) {
    use aws_sdk_eventbridge::types::Target;
    let events = config.eventbridge();
    events.create_event_bus().name(name).send().await.unwrap();
    let rule = events.put_rule().event_bus_name(name).name("everything");
    let pattern = format!(r#"{{"source":["{SOURCE}"]}}"#);
    rule.event_pattern(pattern).send().await.unwrap();
    let target = Target::builder().id("news").arn(queue_arn).build().unwrap();
    let put = events.put_targets().event_bus_name(name).rule("everything");
    let put = put.targets(target).send().await.unwrap();
    assert_eq!(put.failed_entry_count(), 0, "{put:?}");
}

/// A buyer, and what they hold or bought.
struct Purchase<'a> {
    cloud: &'a Deployment,
    stage: &'a Stage,
    buyer: Caller,
    hold: HoldId,
}

impl Purchase<'_> {
    fn order_id(&self) -> OrderId {
        OrderId::of(self.hold)
    }

    async fn status(&self) -> OrderStatus {
        let order = self.cloud.app.order(&self.buyer, self.order_id()).await;
        order.unwrap().status()
    }

    async fn tickets(&self) -> Vec<Ticket> {
        let tickets = self.cloud.app.tickets_of(&self.buyer, self.order_id());
        tickets.await.unwrap()
    }

    async fn entry_state(&self) -> EntryState {
        let store = &self.cloud.app.store;
        let buyer = store.buyer(self.stage.show.id, self.buyer.account);
        buyer.await.unwrap().entry(self.hold).unwrap().state
    }

    async fn cells(&self) -> Vec<Option<Cell>> {
        let layout = &self.stage.layout;
        let mut cells = Vec::new();
        for seat in SEATS {
            let (block, slot) = layout.locate(layout.find(seat).unwrap());
            let (store, show) = (&self.cloud.app.store, self.stage.show.id);
            let blocks = store
                .read_blocks(show, &[block], Reads::Consistent)
                .await
                .unwrap();
            cells.push(blocks[0].1.cell(slot));
        }
        cells
    }

    async fn payment(&self) -> PaymentState {
        let order = self.cloud.app.order(&self.buyer, self.order_id()).await;
        let id = order.unwrap().payment.unwrap();
        let known = self.cloud.app.payments.look_up(&id).await.unwrap();
        known.unwrap().state
    }
}

#[tokio::test]
async fn a_hold_is_bought_and_refunded_through_the_services_of_ministack() {
    let Some(config) = ministack_config() else {
        eprintln!("ONSALE_MINISTACK_URL is not set: no order was taken through MiniStack");
        return;
    };
    let cloud = Deployment::create(&config).await;
    let stage = Stage::set(&cloud.app, &Plan::default()).await.unwrap();
    let buyer = stage.buyer(1).await.unwrap();
    let show = stage.show.id;
    let key = IdempotencyKey::parse("one hold and one order").unwrap();
    let wish = Wish::Seats(SEATS.map(str::to_owned).to_vec());
    let held = cloud.app.place_hold(&buyer, show, &key, &wish, None).await;
    let hold = held.unwrap().hold_id;
    let purchase = Purchase {
        cloud: &cloud,
        stage: &stage,
        buyer,
        hold,
    };
    // The message that ends the hold is there, and not to be had for another ten minutes.
    let delayed = QueueAttributeName::ApproximateNumberOfMessagesDelayed;
    assert_eq!(cloud.count(&cloud.expire_holds_queue, delayed).await, 1);
    let early = cloud.try_receive(&cloud.expire_holds_queue).await;
    assert!(early.is_none(), "{early:?}");

    let method = PaymentMethod::parse("pm_card_visa").unwrap();
    let order = cloud.app.check_out(&buyer, show, hold, &key, method);
    assert_eq!(order.await.unwrap(), purchase.order_id());
    assert_eq!(purchase.status().await, OrderStatus::Pending);
    cloud.drive_next(purchase.order_id()).await;
    is_confirmed(&purchase).await;

    let cancelled = cloud.app.cancel_order(&buyer, purchase.order_id());
    let refund = cancelled.await.unwrap().refund;
    assert_eq!(refund.amount, Cents(9_000));
    cloud.drive_next(purchase.order_id()).await;
    is_refunded(&purchase).await;
}

async fn is_confirmed(purchase: &Purchase<'_>) {
    assert_eq!(purchase.status().await, OrderStatus::Confirmed);
    assert_eq!(purchase.entry_state().await, EntryState::Sold);
    let sold = Some(Cell::sold(purchase.hold));
    assert_eq!(purchase.cells().await, [sold, sold]);
    let tickets = purchase.tickets().await;
    let seats: Vec<_> = tickets.iter().map(|t| t.seat.as_str()).collect();
    assert_eq!(seats, SEATS);
    assert!(tickets.iter().all(Ticket::is_valid), "{tickets:?}");
    let refunded = Cents(0);
    assert_eq!(
        purchase.payment().await,
        PaymentState::Captured { refunded }
    );

    let told = purchase.cloud.hears("OrderConfirmed").await;
    let order_id = purchase.order_id().to_string();
    assert_eq!(told["version"], 1);
    assert_eq!(told["id"], format!("OrderConfirmed:{order_id}"));
    assert_eq!(told["data"]["order_id"], order_id);
    assert_eq!(told["data"]["seats"], serde_json::json!(SEATS));
    assert_eq!(told["data"]["total"]["amount"], 9_000);
}

async fn is_refunded(purchase: &Purchase<'_>) {
    assert_eq!(purchase.status().await, OrderStatus::Refunded);
    assert_eq!(purchase.entry_state().await, EntryState::Undone);
    assert_eq!(purchase.cells().await, [None, None]);
    let tickets = purchase.tickets().await;
    let revoked = |t: &Ticket| matches!(t.state, TicketState::Revoked { .. });
    assert!(
        tickets.len() == 2 && tickets.iter().all(revoked),
        "{tickets:?}"
    );
    let refunded = Cents(9_000);
    assert_eq!(
        purchase.payment().await,
        PaymentState::Captured { refunded }
    );

    let told = purchase.cloud.hears("RefundIssued").await;
    assert_eq!(told["data"]["order_id"], purchase.order_id().to_string());
    assert_eq!(told["data"]["refund"]["amount"], 9_000);
}
