//! Invokes functions with batches of their queues, as Lambda's event source mapping does.
//! What a function reports as done is deleted; everything else becomes visible again by itself.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::cloud::LocalCloud;
use crate::queues::{BATCH_MAX, Message, QueueError, Queues};
use crate::sqs_protocol::md5_hex;
use crate::wiring::{Consumer, Wiring};

/// A function that consumes a queue.
pub type SqsHandler =
    Arc<dyn Fn(SqsEvent) -> BoxFuture<'static, Result<SqsBatchResponse, String>> + Send + Sync>;

/// Invocations at a time when the template does not say. Lambda would go up to a thousand; one
/// process that also serves requests keeps it at the least the template may ask for.
const CONCURRENCY_DEFAULT: u32 = 2;
/// A queue that cannot be read, say on a full disk, is tried again after this pause.
const PAUSE_AFTER_ERROR: Duration = Duration::from_secs(1);

#[derive(Debug, thiserror::Error)]
pub enum RunnerError {
    #[error("the template lets {function} consume {queue}, but there is no such function")]
    MissingFunction { function: String, queue: String },
    #[error("{0} is a queue consumer, but the template gives it no queue")]
    MissingConsumer(String),
    #[error("{0} is switched off, but the template has no such consumer")]
    NothingToSkip(String),
}

/// Everything that is needed to consume the queues of a template; [`Runner::run`] starts it.
pub struct Runner {
    queues: Queues,
    consumers: Vec<(Consumer, SqsHandler)>,
}

impl std::fmt::Debug for Runner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let consumers = self.consumers.iter().map(|(consumer, _)| consumer);
        f.debug_list().entries(consumers).finish()
    }
}

impl Runner {
    /// Pairs the template's consumers with `handlers`, by function name. Both must match exactly,
    /// so that a function without a queue or a queue without a function shows at the start.
    pub fn new(
        cloud: &LocalCloud,
        wiring: &Wiring,
        mut handlers: HashMap<String, SqsHandler>,
    ) -> Result<Self, RunnerError> {
        let consuming: BTreeSet<_> = wiring.consumers.iter().map(|c| &c.function).collect();
        if let Some(name) = handlers.keys().find(|name| !consuming.contains(name)) {
            return Err(RunnerError::MissingConsumer(name.clone()));
        }
        let mut consumers = Vec::new();
        for consumer in &wiring.consumers {
            let Some(handler) = handlers.get_mut(&consumer.function) else {
                return Err(RunnerError::MissingFunction {
                    function: consumer.function.clone(),
                    queue: consumer.queue.clone(),
                });
            };
            consumers.push((consumer.clone(), Arc::clone(handler)));
        }
        Ok(Self {
            queues: cloud.queues().clone(),
            consumers,
        })
    }

    /// Leaves the named functions out: their messages wait.
    pub fn without(mut self, functions: &HashSet<String>) -> Result<Self, RunnerError> {
        let known: HashSet<_> = self.consumers.iter().map(|(c, _)| &c.function).collect();
        if let Some(name) = functions.iter().find(|name| !known.contains(name)) {
            return Err(RunnerError::NothingToSkip(name.clone()));
        }
        self.consumers
            .retain(|(consumer, _)| !functions.contains(&consumer.function));
        Ok(self)
    }

    /// Consumes until `stop` turns true, then lets running invocations finish for at most `grace`.
    /// Returns how many pollers had to be cut off; their messages will be delivered again.
    pub async fn run(self, mut stop: watch::Receiver<bool>, grace: Duration) -> usize {
        let mut pollers = JoinSet::new();
        for (consumer, handler) in self.consumers {
            for _ in 0..consumer.concurrency.unwrap_or(CONCURRENCY_DEFAULT).max(1) {
                let poller = Poller {
                    queues: self.queues.clone(),
                    consumer: consumer.clone(),
                    handler: Arc::clone(&handler),
                };
                pollers.spawn(poller.run(stop.clone()));
            }
        }
        stopped(&mut stop).await;
        let finished = async { while pollers.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, finished).await.is_err() {
            tracing::warn!(pollers = pollers.len(), "invocations were cut off");
        }
        let cut_off = pollers.len();
        pollers.shutdown().await;
        cut_off
    }
}

/// A sender that is gone can never say stop, so that counts as stop too.
async fn stopped(stop: &mut watch::Receiver<bool>) {
    let _ = stop.wait_for(|stop| *stop).await;
}

/// One of the concurrent invocations of one consumer.
struct Poller {
    queues: Queues,
    consumer: Consumer,
    handler: SqsHandler,
}

impl Poller {
    async fn run(self, mut stop: watch::Receiver<bool>) {
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
        let handler = Arc::clone(&self.handler);
        // The call itself may panic too, hence the inner block.
        let invocation = AssertUnwindSafe(async move { handler(event).await }).catch_unwind();
        let outcome = match tokio::time::timeout(self.consumer.timeout, invocation).await {
            Ok(Ok(Ok(response))) => Ok(response),
            Ok(Ok(Err(error))) => Err(error),
            Ok(Err(_)) => Err("it panicked".to_owned()),
            Err(_) => Err(format!("it took longer than {:?}", self.consumer.timeout)),
        };
        let function = &self.consumer.function;
        match outcome {
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
    record.event_source = Some("aws:sqs".to_owned());
    record.event_source_arn = Some(format!("arn:aws:sqs:local:000000000000:{queue}"));
    record.aws_region = Some("local".to_owned());
    record
}
