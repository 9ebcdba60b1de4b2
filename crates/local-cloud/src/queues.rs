//! Durable local queues with the semantics of SQS standard queues.
//! Delays, visibility timeouts, at-least-once delivery and dead letters; waiting costs no CPU.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::watch;

use crate::clock::Clock;
use crate::queue_store::QueueStore;
use crate::store_thread::StoreThread;

/// SQS refuses a longer delay; whoever needs one sends the message again.
pub(crate) const DELAY_S_MAX: u32 = 900;
/// SQS moves at most ten messages per request.
pub(crate) const BATCH_MAX: usize = 10;
/// The largest SQS message, and the largest sum of one batch.
pub(crate) const BODY_BYTES_MAX: usize = 1024 * 1024;
/// SQS takes at most this many attributes of a message.
const ATTRIBUTES_MAX: usize = 10;
/// SQS hides a received message for at most twelve hours.
const VISIBILITY_S_MAX: u32 = 12 * 60 * 60;

/// Where a message goes that was received often enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redrive {
    pub dead_letter_queue: String,
    pub max_receives: u32,
}

/// What the template says about one queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueSettings {
    pub name: String,
    pub visibility_s: u32,
    pub delay_s: u32,
    pub retention_s: u32,
    pub redrive: Option<Redrive>,
}

impl QueueSettings {
    /// A queue with the defaults of SQS: visible again after 30 seconds, kept for four days.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            visibility_s: 30,
            delay_s: 0,
            retention_s: 4 * 24 * 60 * 60,
            redrive: None,
        }
    }
}

/// A message on its way into a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    pub queue: String,
    pub body: String,
    /// Overrides the delay of the queue.
    pub delay_s: Option<u32>,
    pub attributes: Attributes,
}

/// What goes beside the body of a message, by name. Only texts.
pub type Attributes = BTreeMap<String, String>;

impl Outgoing {
    pub fn new(queue: impl Into<String>, body: impl Into<String>) -> Self {
        Self {
            queue: queue.into(),
            body: body.into(),
            delay_s: None,
            attributes: Attributes::new(),
        }
    }

    #[must_use]
    pub fn with_attribute(mut self, name: &str, value: &str) -> Self {
        self.attributes.insert(name.to_owned(), value.to_owned());
        self
    }

    #[must_use]
    pub fn delayed(mut self, delay_s: u32) -> Self {
        self.delay_s = Some(delay_s);
        self
    }
}

/// A message as one receiver sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    pub id: String,
    /// Proves this very delivery. It deletes nothing once the message was delivered again.
    pub receipt: String,
    pub body: String,
    pub attributes: Attributes,
    pub sent_ms: u64,
    pub first_received_ms: u64,
    /// How often the message was received, this time included.
    pub receives: u32,
}

/// How many messages a queue holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QueueCounts {
    pub visible: u64,
    pub in_flight: u64,
    pub delayed: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum QueueError {
    #[error("there is no queue named {0:?}")]
    NoSuchQueue(String),
    #[error("{0}")]
    InvalidParameter(String),
    #[error("the queues' storage failed: {0}")]
    Storage(String),
}

impl From<rusqlite::Error> for QueueError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Storage(error.to_string())
    }
}

/// All queues of one local cloud. Clones share the same queues.
#[derive(Debug, Clone)]
pub struct Queues {
    thread: Arc<StoreThread<QueueStore>>,
    clock: Arc<dyn Clock>,
    /// Per queue, when its earliest message is due. See [`QueueStore`] for who moves it.
    earliest_due: Arc<RwLock<HashMap<String, watch::Receiver<u64>>>>,
}

impl Queues {
    pub(crate) fn start(store: QueueStore, clock: Arc<dyn Clock>) -> std::io::Result<Self> {
        Ok(Self {
            thread: Arc::new(StoreThread::start("onsale-queues", store)?),
            clock,
            earliest_due: Arc::default(),
        })
    }

    pub(crate) fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// Makes a queue usable, or changes its settings. Its messages outlive the process; its
    /// settings do not, because the template declares them at every start.
    pub async fn declare(&self, settings: QueueSettings) -> Result<(), QueueError> {
        if settings.delay_s > DELAY_S_MAX {
            return Err(delay_too_long(settings.delay_s));
        }
        let name = settings.name.clone();
        let due = self.on_store(move |store| store.declare(settings)).await?;
        self.earliest_due
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name, due);
        Ok(())
    }

    /// Stores all of `messages` or none, and returns their ids in order.
    pub async fn send(&self, messages: Vec<Outgoing>) -> Result<Vec<String>, QueueError> {
        for message in &messages {
            check_outgoing(message)?;
        }
        self.on_store(move |store| store.send(&messages)).await
    }

    /// Receives up to `max` messages that are due and hides them for the visibility timeout, or
    /// for `visibility_s` when given. Returns at once, empty when nothing is due.
    pub async fn receive(
        &self,
        queue: &str,
        max: usize,
        visibility_s: Option<u32>,
    ) -> Result<Vec<Message>, QueueError> {
        if max == 0 || max > BATCH_MAX {
            return Err(QueueError::InvalidParameter(format!(
                "MaxNumberOfMessages must be from 1 to {BATCH_MAX}, not {max}"
            )));
        }
        if let Some(seconds) = visibility_s.filter(|s| *s > VISIBILITY_S_MAX) {
            return Err(QueueError::InvalidParameter(format!(
                "VisibilityTimeout must be at most {VISIBILITY_S_MAX} seconds, not {seconds}"
            )));
        }
        let queue = queue.to_owned();
        self.on_store(move |store| store.receive(&queue, max, visibility_s))
            .await
    }

    /// Deletes the deliveries named by `receipts`. A receipt that is out of date deletes nothing,
    /// and that is no error: the message will be delivered again.
    pub async fn delete(&self, queue: &str, receipts: Vec<String>) -> Result<(), QueueError> {
        let queue = queue.to_owned();
        self.on_store(move |store| store.delete(&queue, &receipts))
            .await
    }

    pub async fn counts(&self, queue: &str) -> Result<QueueCounts, QueueError> {
        let queue = queue.to_owned();
        self.on_store(move |store| store.counts(&queue)).await
    }

    /// Resolves when a message of `queue` may be due. It may wake for nothing, for example when
    /// somebody else took the message; an empty receive corrects the time to wait for.
    pub async fn wait_for_due(&self, queue: &str) -> Result<(), QueueError> {
        let mut due = self
            .earliest_due
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(queue)
            .cloned()
            .ok_or_else(|| QueueError::NoSuchQueue(queue.to_owned()))?;
        loop {
            let due_ms = *due.borrow_and_update();
            if due_ms <= self.clock.now_ms() {
                return Ok(());
            }
            let moved = tokio::select! {
                moved = due.changed() => moved,
                () = self.clock.wait_until(due_ms), if due_ms != u64::MAX => return Ok(()),
            };
            if moved.is_err() {
                return Err(QueueError::Storage("the queues are closed".to_owned()));
            }
        }
    }

    async fn on_store<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut QueueStore) -> Result<R, QueueError> + Send + 'static,
    ) -> Result<R, QueueError> {
        self.thread
            .run(work)
            .await
            .unwrap_or_else(|lost| Err(QueueError::Storage(lost.to_string())))
    }
}

fn check_outgoing(message: &Outgoing) -> Result<(), QueueError> {
    if let Some(delay_s) = message.delay_s.filter(|s| *s > DELAY_S_MAX) {
        return Err(delay_too_long(delay_s));
    }
    if message.attributes.len() > ATTRIBUTES_MAX {
        return Err(QueueError::InvalidParameter(format!(
            "Number of message attributes [{}] exceeds the allowed maximum [{ATTRIBUTES_MAX}].",
            message.attributes.len()
        )));
    }
    if message.body.is_empty() || message.body.len() > BODY_BYTES_MAX {
        return Err(QueueError::InvalidParameter(format!(
            "a message body has from 1 to {BODY_BYTES_MAX} bytes, not {}",
            message.body.len()
        )));
    }
    Ok(())
}

fn delay_too_long(delay_s: u32) -> QueueError {
    QueueError::InvalidParameter(format!(
        "Value {delay_s} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= {DELAY_S_MAX}."
    ))
}
