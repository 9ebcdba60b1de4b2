//! Durable local queues with the semantics of SQS standard queues.
//! Delays, visibility timeouts, at-least-once delivery and dead letters; waiting costs no CPU.

mod due;
mod message;
mod outbox;
mod store;

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use onsale_table::sqlite::{OpenError, SqliteFile};
use rusqlite::Connection;
use serde_json::json;
use uuid::Uuid;

use crate::clock::Clock;
use due::Due;
pub use message::{
    Attributes, BATCH_MAX, BODY_BYTES_MAX, DELAY_S_MAX, Outgoing, QueueCounts, QueueError,
    QueueSettings, Received, Redrive,
};
use message::{check_outgoing, check_receive, delay_too_long};
use store::{DeadLetters, NEVER_MS, NewMessage, Receipt, Receive};

/// A queue that was declared.
#[derive(Debug, Clone)]
struct Queue {
    settings: QueueSettings,
    due: Arc<Due>,
}

impl Queue {
    fn message(
        &self,
        body: String,
        delay_s: Option<u32>,
        attributes: Option<String>,
    ) -> NewMessage {
        let delay_s = delay_s.unwrap_or(self.settings.delay_s);
        NewMessage {
            queue: self.settings.name.clone(),
            id: Uuid::new_v4().to_string(),
            body,
            attributes,
            delay_ms: u64::from(delay_s) * 1000,
            retention_ms: self.retention_ms(),
        }
    }

    fn retention_ms(&self) -> u64 {
        u64::from(self.settings.retention_s) * 1000
    }
}

/// All queues of one local cloud. Clones share the same queues.
#[derive(Debug, Clone)]
pub struct Queues {
    file: Arc<SqliteFile>,
    clock: Arc<dyn Clock>,
    declared: Arc<RwLock<HashMap<String, Arc<Queue>>>>,
}

impl Queues {
    pub(crate) async fn open(
        file: Arc<SqliteFile>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, OpenError> {
        let (part, version, sql) = (store::PART, store::VERSION, store::SQL);
        file.migrate(part, version, sql).await?;
        let now_ms = clock.now_ms();
        file.write(move |db| store::release_received(db, now_ms))
            .await
            .map_err(|error| OpenError::Storage(error.to_string()))?;
        Ok(Self {
            file,
            clock,
            declared: Arc::default(),
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
        let due = match self.find(&name) {
            Ok(known) => Arc::clone(&known.due),
            // Nobody sends to a queue before it is declared, so this does not change meanwhile.
            Err(_) => Due::at(self.file.read_now(|db| store::earliest_due(db, &name))?),
        };
        let queue = Arc::new(Queue { settings, due });
        self.declared
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(name, queue);
        Ok(())
    }

    fn find(&self, name: &str) -> Result<Arc<Queue>, QueueError> {
        let declared = self.declared.read().unwrap_or_else(PoisonError::into_inner);
        let queue = declared.get(name).cloned();
        queue.ok_or_else(|| QueueError::NoSuchQueue(name.to_owned()))
    }

    pub(crate) fn check_declared(&self, name: &str) -> Result<(), QueueError> {
        self.find(name).map(drop)
    }

    /// Stores all of `messages` or none, and returns their ids in order.
    pub async fn send(&self, messages: Vec<Outgoing>) -> Result<Vec<String>, QueueError> {
        let mut new = Vec::with_capacity(messages.len());
        let mut waiting = Vec::with_capacity(messages.len());
        for message in messages {
            check_outgoing(&message)?;
            let queue = self.find(&message.queue)?;
            let attributes = stored(&message.attributes);
            new.push(queue.message(message.body, message.delay_s, attributes));
            waiting.push(queue);
        }
        let ids = new.iter().map(|message| message.id.clone()).collect();
        let clock = Arc::clone(&self.clock);
        let insert = move |db: &Connection| {
            let now_ms = clock.now_ms();
            let due = new.iter().map(|message| store::insert(db, message, now_ms));
            due.collect::<rusqlite::Result<Vec<u64>>>()
        };
        let wake = move |due: &Vec<u64>| {
            for (queue, due_ms) in waiting.iter().zip(due) {
                queue.due.bring_forward(*due_ms);
            }
        };
        self.file.write_then(insert, wake).await?;
        Ok(ids)
    }

    /// Receives up to `max` messages that are due and hides them for the visibility timeout, or
    /// for `visibility_s` when given. Returns at once, empty when nothing is due.
    pub async fn receive(
        &self,
        queue: &str,
        max: usize,
        visibility_s: Option<u32>,
    ) -> Result<Vec<Received>, QueueError> {
        check_receive(max, visibility_s)?;
        let queue = self.find(queue)?;
        let redrive = queue.settings.redrive.as_ref();
        let dead = redrive.map(|redrive| self.find(&redrive.dead_letter_queue));
        let dead = dead.transpose()?;
        let hidden_s = visibility_s.unwrap_or(queue.settings.visibility_s);
        let asked = Receive {
            queue: queue.settings.name.clone(),
            max,
            hidden_ms: u64::from(hidden_s) * 1000,
            dead_letters: redrive
                .zip(dead.as_ref())
                .map(|(redrive, dead)| DeadLetters {
                    queue: redrive.dead_letter_queue.clone(),
                    max_receives: redrive.max_receives,
                    retention_ms: dead.retention_ms(),
                }),
        };
        let clock = Arc::clone(&self.clock);
        let take = move |db: &Connection| store::receive(db, &asked, clock.now_ms());
        let note = move |taken: &store::Taken| {
            queue.due.set(taken.next_due_ms);
            if let Some(dead) = dead.filter(|_| taken.moved > 0) {
                let (queue, moved) = (&queue.settings.name, taken.moved);
                tracing::warn!(%queue, moved, "messages became dead letters");
                dead.due.bring_forward(taken.now_ms);
            }
        };
        Ok(self.file.write_then(take, note).await?.messages)
    }

    /// Deletes the deliveries named by `receipts`. A receipt that is out of date deletes nothing,
    /// and that is no error: the message will be delivered again.
    pub async fn delete(&self, queue: &str, receipts: Vec<String>) -> Result<(), QueueError> {
        self.check_declared(queue)?;
        let queue = queue.to_owned();
        let receipts = receipts.iter().map(|receipt| Receipt::parse(receipt));
        let receipts: Vec<_> = receipts.collect::<Result<_, _>>()?;
        let delete = move |db: &Connection| store::delete(db, &queue, &receipts);
        Ok(self.file.write(delete).await?)
    }

    pub async fn counts(&self, queue: &str) -> Result<QueueCounts, QueueError> {
        self.check_declared(queue)?;
        let (queue, now_ms) = (queue.to_owned(), self.clock.now_ms());
        let count = move |db: &Connection| store::counts(db, &queue, now_ms);
        Ok(self.file.read(count).await?)
    }

    /// Resolves when a message of `queue` may be due. It may wake for nothing, for example when
    /// another consumer took the message; an empty receive corrects the time to wait for.
    pub async fn wait_for_due(&self, queue: &str) -> Result<(), QueueError> {
        let mut due = self.find(queue)?.due.earliest.subscribe();
        loop {
            let due_ms = *due.borrow_and_update();
            if due_ms <= self.clock.now_ms() {
                return Ok(());
            }
            let moved = tokio::select! {
                moved = due.changed() => moved,
                () = self.clock.wait_until(due_ms), if due_ms != NEVER_MS => return Ok(()),
            };
            if moved.is_err() {
                return Err(QueueError::Storage("the queues are closed".to_owned()));
            }
        }
    }
}

/// Attributes as they are stored; `None`: there are none.
fn stored(attributes: &Attributes) -> Option<String> {
    (!attributes.is_empty()).then(|| json!(attributes).to_string())
}
