//! One of the concurrent invocations of a queue consumer, as Lambda's event source mapping makes
//! them. What the function reports as done is deleted; the rest becomes visible again by itself.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage, SqsMessageAttribute};
use tokio::sync::watch;

use super::{SqsHandler, outcome, stopped};
use crate::queues::{BATCH_MAX, Message, QueueError, Queues};
use crate::sqs_protocol::md5_hex;
use crate::wiring::{Consumer, queue_arn};

/// A queue that cannot be read, say on a full disk, is tried again after this pause.
const PAUSE_AFTER_ERROR: Duration = Duration::from_secs(1);

pub(super) struct Poller {
    pub(super) queues: Queues,
    pub(super) consumer: Consumer,
    pub(super) handler: SqsHandler,
}

impl Poller {
    pub(super) async fn run(self, mut stop: watch::Receiver<bool>) {
        loop {
            let due = tokio::select! {
                // Stop comes first, or a full queue would never let go.
                biased;
                () = stopped(&mut stop) => return,
                due = self.queues.wait_for_due(&self.consumer.queue) => due,
            };
            // The invocation itself is not raced against stop: what is taken is finished.
            let result = match due {
                Ok(()) => self.poll_once().await,
                Err(error) => Err(error),
            };
            if let Err(error) = result {
                tracing::error!(queue = %self.consumer.queue, %error, "cannot consume the queue");
                tokio::select! {
                    () = stopped(&mut stop) => return,
                    () = tokio::time::sleep(PAUSE_AFTER_ERROR) => {}
                }
            }
        }
    }

    async fn poll_once(&self) -> Result<(), QueueError> {
        let queue = &self.consumer.queue;
        let max = (self.consumer.batch_size as usize).clamp(1, BATCH_MAX);
        let batch = self.queues.receive(queue, max, None).await?;
        if batch.is_empty() {
            return Ok(());
        }
        let done = self.invoke(&batch).await;
        if done.is_empty() {
            return Ok(());
        }
        self.queues.delete(queue, done).await
    }

    /// Runs the function and returns the receipts of the messages it is done with.
    async fn invoke(&self, batch: &[Message]) -> Vec<String> {
        let event = event(&self.consumer.queue, batch);
        // The call itself may panic too, hence the block.
        let invocation = async { (self.handler)(event).await };
        let function = &self.consumer.function;
        match outcome(self.consumer.timeout, invocation).await {
            Ok(response) if self.consumer.reports_item_failures => {
                let done = succeeded(batch, &response);
                if done.len() < batch.len() {
                    let failed = batch.len() - done.len();
                    tracing::warn!(%function, failed, "messages failed and will come again");
                }
                done
            }
            Ok(_) => batch.iter().map(|m| m.receipt.clone()).collect(),
            Err(error) => {
                tracing::warn!(%function, messages = batch.len(), %error, "a batch failed");
                Vec::new()
            }
        }
    }
}

/// The receipts of those messages that the response does not name. As with Lambda, an answer that
/// names an unknown or empty id makes no sense, so the whole batch counts as failed.
fn succeeded(batch: &[Message], response: &SqsBatchResponse) -> Vec<String> {
    let failures = response.batch_item_failures.iter();
    let failed: HashSet<&str> = failures.map(|f| f.item_identifier.as_str()).collect();
    if failed.iter().any(|id| !batch.iter().any(|m| m.id == **id)) {
        return Vec::new();
    }
    let done = batch.iter().filter(|m| !failed.contains(m.id.as_str()));
    done.map(|m| m.receipt.clone()).collect()
}

/// The event as Lambda receives it.
fn event(queue: &str, batch: &[Message]) -> SqsEvent {
    let mut event = SqsEvent::default();
    event.records = batch.iter().map(|m| record(queue, m)).collect();
    event
}

fn record(queue: &str, message: &Message) -> SqsMessage {
    let mut record = SqsMessage::default();
    record.message_id = Some(message.id.clone());
    record.receipt_handle = Some(message.receipt.clone());
    record.body = Some(message.body.clone());
    record.md5_of_body = Some(md5_hex(&message.body));
    record.attributes = HashMap::from([
        (
            "ApproximateReceiveCount".to_owned(),
            message.receives.to_string(),
        ),
        ("SentTimestamp".to_owned(), message.sent_ms.to_string()),
        (
            "ApproximateFirstReceiveTimestamp".to_owned(),
            message.first_received_ms.to_string(),
        ),
    ]);
    record.message_attributes = message
        .attributes
        .iter()
        .map(|(name, value)| (name.clone(), attribute(value)))
        .collect();
    record.event_source = Some("aws:sqs".to_owned());
    record.event_source_arn = Some(queue_arn(queue));
    record.aws_region = Some("local".to_owned());
    record
}

fn attribute(value: &str) -> SqsMessageAttribute {
    let mut attribute = SqsMessageAttribute::default();
    attribute.data_type = Some("String".to_owned());
    attribute.string_value = Some(value.to_owned());
    attribute
}
