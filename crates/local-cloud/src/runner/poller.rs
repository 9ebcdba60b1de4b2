//! One of the concurrent invocations of a queue consumer, as Lambda's event source mapping makes
//! them. What the function reports as done is deleted; the rest becomes visible again by itself.

use std::time::Duration;

use onsale_consume::Delivery;
use tokio::sync::watch;

use super::{Handler, outcome, stopped};
use crate::queues::{BATCH_MAX, QueueError, Queues, Received};
use crate::wiring::Consumer;

/// A queue that cannot be read, say on a full disk, is tried again after this pause.
const PAUSE_AFTER_ERROR: Duration = Duration::from_secs(1);

pub(super) struct Poller {
    pub(super) queues: Queues,
    pub(super) consumer: Consumer,
    pub(super) handler: Handler,
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
    async fn invoke(&self, batch: &[Received]) -> Vec<String> {
        let deliveries = batch.iter().map(|m| self.delivery(m)).collect();
        // The call itself may panic too, hence the block.
        let invocation = async { (self.handler)(deliveries).await };
        let function = &self.consumer.function;
        match outcome(self.consumer.timeout, invocation).await {
            Ok(failed) if self.consumer.reports_item_failures => {
                let done = succeeded(batch, &failed);
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

    fn delivery(&self, message: &Received) -> Delivery {
        Delivery {
            id: message.id.clone(),
            body: message.body.clone(),
            attributes: message.attributes.clone().into_iter().collect(),
            queue: self.consumer.queue.clone(),
        }
    }
}

/// The receipts of those messages that are not named as failed. As with Lambda, an answer that
/// names an unknown or empty id makes no sense, so the whole batch counts as failed.
fn succeeded(batch: &[Received], failed: &[String]) -> Vec<String> {
    if failed.iter().any(|id| !batch.iter().any(|m| m.id == *id)) {
        return Vec::new();
    }
    let done = batch.iter().filter(|m| !failed.contains(&m.id));
    done.map(|m| m.receipt.clone()).collect()
}
