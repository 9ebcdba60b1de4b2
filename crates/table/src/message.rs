//! Messages, and the queue that takes them.

use async_trait::async_trait;

use crate::table::TableError;

/// A message on its way to a queue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The name of the queue.
    pub queue: &'static str,
    pub body: String,
    /// Sent beside the body: where the message came from. At most ten.
    pub attributes: Vec<(&'static str, String)>,
    /// Until then nobody receives it; at most 900.
    pub delay_s: u32,
}

/// Takes messages. Each is delivered at least once, in any order, after its delay.
#[async_trait]
pub trait Queue: std::fmt::Debug + Send + Sync {
    /// Enqueues the message. After an error it may have been enqueued all the same.
    async fn send(&self, message: &Message) -> Result<(), TableError>;
}
