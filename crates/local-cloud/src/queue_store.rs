//! The queues on SQLite: one table of messages, and one transaction per request.
//! Runs on its own thread; it also tells waiting consumers when the next message is due.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use serde_json::json;
use tokio::sync::watch;
use uuid::Uuid;

use crate::clock::Clock;
use crate::cloud::Durability;
use crate::queues::{Message, Outgoing, QueueCounts, QueueError, QueueSettings};

const SCHEMA_VERSION: i64 = 2;

/// `seq` keeps the order of sending; `visible_ms` is both the delay and the visibility timeout.
const SCHEMA: &str = "
    CREATE TABLE message (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        queue TEXT NOT NULL,
        id TEXT NOT NULL,
        body TEXT NOT NULL,
        sent_ms INTEGER NOT NULL,
        visible_ms INTEGER NOT NULL,
        expires_ms INTEGER NOT NULL,
        first_received_ms INTEGER,
        receives INTEGER NOT NULL DEFAULT 0,
        attributes TEXT
    ) STRICT;
    CREATE INDEX message_by_due ON message (queue, visible_ms, seq);
";

/// From version 1, whose messages had no attributes.
const FROM_1: &str = "ALTER TABLE message ADD COLUMN attributes TEXT;";

/// No message at all: the time a consumer of an empty queue waits for.
const NEVER_MS: u64 = u64::MAX;

#[derive(Debug)]
struct Queue {
    settings: QueueSettings,
    /// Never later than the earliest message that is or becomes visible. Sending moves it
    /// forward, an empty or partial receive sets it exactly. A consumer can therefore sleep until
    /// this time, and a message for later than it wakes nobody.
    earliest_due: watch::Sender<u64>,
}

#[derive(Debug)]
pub(crate) struct QueueStore {
    db: Connection,
    clock: Arc<dyn Clock>,
    queues: HashMap<String, Queue>,
}

impl QueueStore {
    pub(crate) fn open(
        path: &Path,
        clock: Arc<dyn Clock>,
        durability: Durability,
    ) -> Result<Self, QueueError> {
        let db = Connection::open(path)?;
        let synchronous = match durability {
            Durability::PowerCut => "FULL",
            Durability::ProcessDeath => "NORMAL",
        };
        db.pragma_update(None, "synchronous", synchronous)?;
        Self::with_connection(db, clock)
    }

    pub(crate) fn memory(clock: Arc<dyn Clock>) -> Result<Self, QueueError> {
        Self::with_connection(Connection::open_in_memory()?, clock)
    }

    fn with_connection(mut db: Connection, clock: Arc<dyn Clock>) -> Result<Self, QueueError> {
        db.busy_timeout(Duration::from_secs(5))?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        let change = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let version: i64 = change.pragma_query_value(None, "user_version", |row| row.get(0))?;
        match version {
            0 => {
                change.execute_batch(SCHEMA)?;
                change.pragma_update(None, "user_version", SCHEMA_VERSION)?;
            }
            1 => {
                change.execute_batch(FROM_1)?;
                change.pragma_update(None, "user_version", SCHEMA_VERSION)?;
            }
            SCHEMA_VERSION => {}
            newer => {
                return Err(QueueError::Storage(format!(
                    "the queue file has version {newer}, this program knows {SCHEMA_VERSION}"
                )));
            }
        }
        // Whoever had received a message died with the process: the file has one user at a
        // time. Its messages need not wait until they would be visible again, and dying
        // was no fault of theirs.
        change.execute(
            "UPDATE message SET visible_ms = ?1, receives = receives - 1
             WHERE receives > 0 AND visible_ms > ?1",
            [clock.now_ms() as i64],
        )?;
        change.commit()?;
        Ok(Self {
            db,
            clock,
            queues: HashMap::new(),
        })
    }

    pub(crate) fn declare(
        &mut self,
        settings: QueueSettings,
    ) -> Result<watch::Receiver<u64>, QueueError> {
        let due_ms = earliest_due(&self.db, &settings.name)?;
        if let Some(queue) = self.queues.get_mut(&settings.name) {
            queue.settings = settings;
            return Ok(queue.earliest_due.subscribe());
        }
        let (sender, receiver) = watch::channel(due_ms);
        let queue = Queue {
            settings: settings.clone(),
            earliest_due: sender,
        };
        self.queues.insert(settings.name, queue);
        Ok(receiver)
    }

    pub(crate) fn send(&mut self, messages: &[Outgoing]) -> Result<Vec<String>, QueueError> {
        let now_ms = self.clock.now_ms();
        let change = self
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        let mut ids = Vec::with_capacity(messages.len());
        let mut due = Vec::with_capacity(messages.len());
        for message in messages {
            let queue = find(&self.queues, &message.queue)?;
            let delay_s = message.delay_s.unwrap_or(queue.settings.delay_s);
            let visible_ms = now_ms + u64::from(delay_s) * 1000;
            let expires_ms = now_ms + u64::from(queue.settings.retention_s) * 1000;
            let id = Uuid::new_v4().to_string();
            let attributes = match message.attributes.is_empty() {
                true => None,
                false => Some(json!(message.attributes).to_string()),
            };
            change
                .prepare_cached(
                    "INSERT INTO message
                         (queue, id, body, sent_ms, visible_ms, expires_ms, attributes)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                )?
                .execute(params![
                    message.queue,
                    id,
                    message.body,
                    now_ms,
                    visible_ms,
                    expires_ms,
                    attributes
                ])?;
            ids.push(id);
            due.push((queue, visible_ms));
        }
        change.commit()?;
        for (queue, visible_ms) in due {
            queue.bring_forward(visible_ms);
        }
        Ok(ids)
    }

    pub(crate) fn receive(
        &mut self,
        name: &str,
        max: usize,
        visibility_s: Option<u32>,
    ) -> Result<Vec<Message>, QueueError> {
        let now_ms = self.clock.now_ms();
        let queue = find(&self.queues, name)?;
        // Looking first keeps an idle or woken-for-nothing consumer from writing to the disk.
        let due_ms = earliest_due(&self.db, name)?;
        if due_ms > now_ms {
            queue.set_earliest(due_ms);
            return Ok(Vec::new());
        }
        let change = self
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        change
            .prepare_cached(
                "DELETE FROM message WHERE queue = ?1 AND visible_ms <= ?2 AND expires_ms <= ?2",
            )?
            .execute(params![name, now_ms])?;
        let mut dead_letters = None;
        if let Some(redrive) = &queue.settings.redrive {
            let target = find(&self.queues, &redrive.dead_letter_queue)?;
            let retention_ms = u64::from(target.settings.retention_s) * 1000;
            // A dead letter keeps its time of sending, so it can expire early, as in SQS.
            let moved = change
                .prepare_cached(
                    "UPDATE message SET queue = ?3, visible_ms = ?2, receives = 0,
                            first_received_ms = NULL, expires_ms = sent_ms + ?5
                     WHERE queue = ?1 AND visible_ms <= ?2 AND receives >= ?4",
                )?
                .execute(params![
                    name,
                    now_ms,
                    redrive.dead_letter_queue,
                    redrive.max_receives,
                    retention_ms
                ])?;
            if moved > 0 {
                tracing::warn!(queue = name, moved, "messages became dead letters");
                dead_letters = Some(target);
            }
        }
        let hidden_s = visibility_s.unwrap_or(queue.settings.visibility_s);
        let hidden_until_ms = now_ms + u64::from(hidden_s) * 1000;
        let messages = take_due(&change, name, now_ms, hidden_until_ms, max)?;
        let next_due_ms = earliest_due(&change, name)?;
        change.commit()?;
        queue.set_earliest(next_due_ms);
        if let Some(target) = dead_letters {
            target.bring_forward(now_ms);
        }
        Ok(messages)
    }

    pub(crate) fn delete(&mut self, name: &str, receipts: &[String]) -> Result<(), QueueError> {
        find(&self.queues, name)?;
        let change = self
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)?;
        for receipt in receipts {
            let delivery = Receipt::parse(receipt)?;
            change
                .prepare_cached(
                    "DELETE FROM message
                     WHERE seq = ?1 AND receives = ?2 AND id = ?3 AND queue = ?4",
                )?
                .execute(params![delivery.seq, delivery.receives, delivery.id, name])?;
        }
        change.commit()?;
        Ok(())
    }

    pub(crate) fn counts(&mut self, name: &str) -> Result<QueueCounts, QueueError> {
        find(&self.queues, name)?;
        let counts = self
            .db
            .prepare_cached(
                "SELECT count(*) FILTER (WHERE visible_ms <= ?2),
                        count(*) FILTER (WHERE visible_ms > ?2 AND receives > 0),
                        count(*) FILTER (WHERE visible_ms > ?2 AND receives = 0)
                 FROM message WHERE queue = ?1",
            )?
            .query_row(params![name, self.clock.now_ms()], |row| {
                Ok(QueueCounts {
                    visible: row.get(0)?,
                    in_flight: row.get(1)?,
                    delayed: row.get(2)?,
                })
            })?;
        Ok(counts)
    }
}

impl Queue {
    fn bring_forward(&self, due_ms: u64) {
        self.earliest_due.send_if_modified(|earliest| {
            let sooner = due_ms < *earliest;
            if sooner {
                *earliest = due_ms;
            }
            sooner
        });
    }

    fn set_earliest(&self, due_ms: u64) {
        self.earliest_due.send_if_modified(|earliest| {
            let moved = due_ms != *earliest;
            *earliest = due_ms;
            moved
        });
    }
}

fn find<'a>(queues: &'a HashMap<String, Queue>, name: &str) -> Result<&'a Queue, QueueError> {
    queues
        .get(name)
        .ok_or_else(|| QueueError::NoSuchQueue(name.to_owned()))
}

fn earliest_due(db: &Connection, queue: &str) -> Result<u64, QueueError> {
    let due_ms = db
        .prepare_cached(
            "SELECT visible_ms FROM message WHERE queue = ?1 ORDER BY visible_ms LIMIT 1",
        )?
        .query_row([queue], |row| row.get(0))
        .optional()?;
    Ok(due_ms.unwrap_or(NEVER_MS))
}

fn take_due(
    db: &Connection,
    queue: &str,
    now_ms: u64,
    hidden_until_ms: u64,
    max: usize,
) -> Result<Vec<Message>, QueueError> {
    let mut statement = db.prepare_cached(
        "UPDATE message SET visible_ms = ?3, receives = receives + 1,
                first_received_ms = coalesce(first_received_ms, ?2)
         WHERE seq IN (SELECT seq FROM message WHERE queue = ?1 AND visible_ms <= ?2
                       ORDER BY visible_ms, seq LIMIT ?4)
         RETURNING seq, id, body, sent_ms, first_received_ms, receives, attributes",
    )?;
    let rows = statement.query_map(params![queue, now_ms, hidden_until_ms, max], |row| {
        let (seq, id, receives): (i64, String, u32) = (row.get(0)?, row.get(1)?, row.get(5)?);
        let attributes: Option<String> = row.get(6)?;
        Ok(Message {
            receipt: format!("{seq}.{receives}.{id}"),
            id,
            body: row.get(2)?,
            attributes: attributes
                .and_then(|text| serde_json::from_str(&text).ok())
                .unwrap_or_default(),
            sent_ms: row.get(3)?,
            first_received_ms: row.get(4)?,
            receives,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The parts of a receipt: which message, and which of its deliveries.
struct Receipt<'a> {
    seq: i64,
    receives: u32,
    id: &'a str,
}

impl<'a> Receipt<'a> {
    fn parse(text: &'a str) -> Result<Self, QueueError> {
        let mut parts = text.splitn(3, '.');
        let parsed = (|| {
            Some(Self {
                seq: parts.next()?.parse().ok()?,
                receives: parts.next()?.parse().ok()?,
                id: parts.next()?,
            })
        })();
        parsed.ok_or_else(|| {
            QueueError::InvalidParameter("the receipt handle is not one of this queue".to_owned())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ManualClock;

    /// As files of version 1 were made.
    const VERSION_1: &str = "
        CREATE TABLE message (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            queue TEXT NOT NULL,
            id TEXT NOT NULL,
            body TEXT NOT NULL,
            sent_ms INTEGER NOT NULL,
            visible_ms INTEGER NOT NULL,
            expires_ms INTEGER NOT NULL,
            first_received_ms INTEGER,
            receives INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE INDEX message_by_due ON message (queue, visible_ms, seq);
        INSERT INTO message (queue, id, body, sent_ms, visible_ms, expires_ms)
            VALUES ('work', 'old', 'from before', 1, 1, 9999);
        PRAGMA user_version = 1;";

    #[test]
    fn messages_of_an_older_file_are_delivered_beside_new_ones() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(VERSION_1).unwrap();
        let clock = Arc::new(ManualClock::at(1_000));
        let mut store = QueueStore::with_connection(db, clock).unwrap();
        store.declare(QueueSettings::new("work")).unwrap();
        let new = Outgoing::new("work", "new").with_attribute("request_id", "req-7");
        store.send(&[new]).unwrap();
        let received = store.receive("work", 10, None).unwrap();
        let told: Vec<_> = received
            .iter()
            .map(|m| (m.body.as_str(), m.attributes.len()))
            .collect();
        assert_eq!(told, [("from before", 0), ("new", 1)]);
    }
}
