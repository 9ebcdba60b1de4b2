//! The queues as the table and the store see them.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use onsale_table::sqlite::Outbox;
use onsale_table::{Message, Queue, TableError};
use rusqlite::Connection;

use super::store::{self, NEVER_MS};
use super::{Attributes, Outgoing, QueueError, Queues, stored};

#[async_trait]
impl Queue for Queues {
    async fn send(&self, message: &Message) -> Result<(), TableError> {
        let outgoing = Outgoing {
            queue: message.queue.to_owned(),
            body: message.body.clone(),
            delay_s: Some(message.delay_s),
            attributes: attributes(message),
        };
        match Queues::send(self, vec![outgoing]).await {
            Ok(_) => Ok(()),
            Err(QueueError::Storage(why)) => Err(TableError::Unavailable(why)),
            Err(refused) => Err(TableError::Invalid(refused.to_string())),
        }
    }
}

/// Messages that the table stores together with the writes before them.
impl Outbox for Queues {
    fn put(&self, db: &Connection, message: &Message) -> rusqlite::Result<()> {
        let queue = self.find(message.queue).map_err(unknown_queue)?;
        let attributes = stored(&attributes(message));
        let new = queue.message(message.body.clone(), Some(message.delay_s), attributes);
        let due_ms = store::insert(db, &new, self.clock.now_ms())?;
        queue.due.unflushed_ms.fetch_min(due_ms, Ordering::Relaxed);
        Ok(())
    }

    fn sent(&self, message: &Message) {
        if let Ok(queue) = self.find(message.queue) {
            let due_ms = queue.due.unflushed_ms.swap(NEVER_MS, Ordering::Relaxed);
            queue.due.bring_forward(due_ms);
        }
    }
}

fn attributes(message: &Message) -> Attributes {
    let attributes = message.attributes.iter();
    attributes
        .map(|(name, value)| ((*name).to_owned(), value.clone()))
        .collect()
}

/// SQLite's own errors are the only ones that a job can fail with.
fn unknown_queue(error: QueueError) -> rusqlite::Error {
    rusqlite::Error::ToSqlConversionFailure(error.into())
}
