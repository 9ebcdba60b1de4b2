//! Messages and queues as values: what is sent and received, how a queue behaves, and what is
//! refused because SQS refuses it.

use std::collections::BTreeMap;

use onsale_table::TableError;

/// SQS refuses a longer delay; a consumer that must wait longer sends the message again.
pub const DELAY_S_MAX: u32 = 900;
/// SQS moves at most ten messages per request.
pub const BATCH_MAX: usize = 10;
/// The largest SQS message, and the largest sum of one batch.
pub const BODY_BYTES_MAX: usize = 1024 * 1024;
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
pub struct Received {
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

impl From<TableError> for QueueError {
    fn from(error: TableError) -> Self {
        Self::Storage(error.to_string())
    }
}

pub(super) fn check_receive(max: usize, visibility_s: Option<u32>) -> Result<(), QueueError> {
    if max == 0 || max > BATCH_MAX {
        return Err(QueueError::InvalidParameter(format!(
            "MaxNumberOfMessages must be from 1 to {BATCH_MAX}, not {max}"
        )));
    }
    match visibility_s.filter(|s| *s > VISIBILITY_S_MAX) {
        None => Ok(()),
        Some(seconds) => Err(QueueError::InvalidParameter(format!(
            "VisibilityTimeout must be at most {VISIBILITY_S_MAX} seconds, not {seconds}"
        ))),
    }
}

pub(super) fn check_outgoing(message: &Outgoing) -> Result<(), QueueError> {
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

pub(super) fn delay_too_long(delay_s: u32) -> QueueError {
    QueueError::InvalidParameter(format!(
        "Value {delay_s} for parameter DelaySeconds is invalid. Reason: DelaySeconds must be >= 0 and <= {DELAY_S_MAX}."
    ))
}
