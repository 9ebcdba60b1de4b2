//! Where messages go that are enqueued together with writes.

use std::fmt::Debug;

use rusqlite::Connection;

use crate::message::Message;

/// A queue that keeps its messages in the same file as the table, so that a message becomes
/// durable in the same flush as the writes before it.
pub trait Outbox: Debug + Send + Sync {
    /// Stores the message in the transaction that is open. It may be called again for the same
    /// message after a rollback.
    fn put(&self, db: &Connection, message: &Message) -> rusqlite::Result<()>;

    /// Called on the writer's thread once the message is durable, to wake its consumers. It must
    /// not block.
    fn sent(&self, message: &Message);
}
