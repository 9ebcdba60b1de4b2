//! The messages of all queues, in one table of the SQLite file.
//!
//! Every function here runs within a job of the file's writer, which may repeat it after a
//! rollback; so none of them remembers or reports anything by itself.

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::message::{Attributes, QueueCounts, QueueError, Received};

pub(super) const PART: &str = "queues";
pub(super) const VERSION: u32 = 1;

/// `seq` keeps the order of sending; `visible_ms` is both the delay and the visibility timeout.
pub(super) const SQL: &str = "
    CREATE TABLE message (
        seq INTEGER PRIMARY KEY,
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

/// The due time of a queue without messages.
pub(super) const NEVER_MS: u64 = u64::MAX;

/// A message as it is stored.
#[derive(Debug)]
pub(super) struct NewMessage {
    pub(super) queue: String,
    pub(super) id: String,
    pub(super) body: String,
    pub(super) attributes: Option<String>,
    pub(super) delay_ms: u64,
    pub(super) retention_ms: u64,
}

/// Returns when the message becomes visible.
pub(super) fn insert(db: &Connection, message: &NewMessage, now_ms: u64) -> rusqlite::Result<u64> {
    let visible_ms = now_ms + message.delay_ms;
    db.prepare_cached(
        "INSERT INTO message (queue, id, body, sent_ms, visible_ms, expires_ms, attributes)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        message.queue,
        message.id,
        message.body,
        now_ms,
        visible_ms,
        now_ms + message.retention_ms,
        message.attributes
    ])?;
    Ok(visible_ms)
}

/// Makes visible what consumers of an earlier process had received. They died with it, because
/// the file has one user at a time: their messages need not wait for the visibility timeout, and
/// the receive does not count.
pub(super) fn release_received(db: &Connection, now_ms: u64) -> rusqlite::Result<()> {
    db.execute(
        "UPDATE message SET visible_ms = ?1, receives = receives - 1
         WHERE receives > 0 AND visible_ms > ?1",
        [now_ms],
    )?;
    Ok(())
}

/// What one receive asks for.
#[derive(Debug)]
pub(super) struct Receive {
    pub(super) queue: String,
    pub(super) max: usize,
    pub(super) hidden_ms: u64,
    pub(super) dead_letters: Option<DeadLetters>,
}

/// Where messages go that were received often enough.
#[derive(Debug)]
pub(super) struct DeadLetters {
    pub(super) queue: String,
    pub(super) max_receives: u32,
    pub(super) retention_ms: u64,
}

/// What one receive found.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) messages: Vec<Received>,
    /// How many became dead letters, and when.
    pub(super) moved: usize,
    pub(super) now_ms: u64,
    /// When the earliest message that is left is due.
    pub(super) next_due_ms: u64,
}

pub(super) fn receive(db: &Connection, asked: &Receive, now_ms: u64) -> rusqlite::Result<Taken> {
    let mut taken = Taken {
        messages: Vec::new(),
        moved: 0,
        now_ms,
        next_due_ms: earliest_due(db, &asked.queue)?,
    };
    // A consumer that was woken for nothing changes nothing, so nothing is flushed for it.
    if taken.next_due_ms > now_ms {
        return Ok(taken);
    }
    db.prepare_cached(
        "DELETE FROM message WHERE queue = ?1 AND visible_ms <= ?2 AND expires_ms <= ?2",
    )?
    .execute(params![asked.queue, now_ms])?;
    if let Some(dead_letters) = &asked.dead_letters {
        taken.moved = bury(db, &asked.queue, dead_letters, now_ms)?;
    }
    taken.messages = take_due(db, asked, now_ms)?;
    taken.next_due_ms = earliest_due(db, &asked.queue)?;
    Ok(taken)
}

/// A dead letter keeps its time of sending, so it can expire early, as in SQS.
fn bury(db: &Connection, queue: &str, to: &DeadLetters, now_ms: u64) -> rusqlite::Result<usize> {
    db.prepare_cached(
        "UPDATE message SET queue = ?3, visible_ms = ?2, receives = 0,
                first_received_ms = NULL, expires_ms = sent_ms + ?5
         WHERE queue = ?1 AND visible_ms <= ?2 AND receives >= ?4",
    )?
    .execute(params![
        queue,
        now_ms,
        to.queue,
        to.max_receives,
        to.retention_ms
    ])
}

fn take_due(db: &Connection, asked: &Receive, now_ms: u64) -> rusqlite::Result<Vec<Received>> {
    let mut statement = db.prepare_cached(
        "UPDATE message SET visible_ms = ?3, receives = receives + 1,
                first_received_ms = coalesce(first_received_ms, ?2)
         WHERE seq IN (SELECT seq FROM message WHERE queue = ?1 AND visible_ms <= ?2
                       ORDER BY visible_ms, seq LIMIT ?4)
         RETURNING seq, id, body, sent_ms, first_received_ms, receives, attributes",
    )?;
    let hidden_until_ms = now_ms + asked.hidden_ms;
    let rows = statement.query_map(
        params![asked.queue, now_ms, hidden_until_ms, asked.max],
        received,
    )?;
    rows.collect()
}

fn received(row: &Row<'_>) -> rusqlite::Result<Received> {
    let (seq, id, receives): (i64, String, u32) = (row.get(0)?, row.get(1)?, row.get(5)?);
    let attributes: Option<String> = row.get(6)?;
    Ok(Received {
        receipt: format!("{seq}.{receives}.{id}"),
        id,
        body: row.get(2)?,
        attributes: attributes.map_or_else(Attributes::new, |text| {
            serde_json::from_str(&text).unwrap_or_default()
        }),
        sent_ms: row.get(3)?,
        first_received_ms: row.get(4)?,
        receives,
    })
}

pub(super) fn earliest_due(db: &Connection, queue: &str) -> rusqlite::Result<u64> {
    let due_ms = db
        .prepare_cached(
            "SELECT visible_ms FROM message WHERE queue = ?1 ORDER BY visible_ms LIMIT 1",
        )?
        .query_row([queue], |row| row.get(0))
        .optional()?;
    Ok(due_ms.unwrap_or(NEVER_MS))
}

pub(super) fn counts(db: &Connection, queue: &str, now_ms: u64) -> rusqlite::Result<QueueCounts> {
    db.prepare_cached(
        "SELECT count(*) FILTER (WHERE visible_ms <= ?2),
                count(*) FILTER (WHERE visible_ms > ?2 AND receives > 0),
                count(*) FILTER (WHERE visible_ms > ?2 AND receives = 0)
         FROM message WHERE queue = ?1",
    )?
    .query_row(params![queue, now_ms], |row| {
        Ok(QueueCounts {
            visible: row.get(0)?,
            in_flight: row.get(1)?,
            delayed: row.get(2)?,
        })
    })
}

/// The parts of a receipt: which message, and which of its deliveries. A row number may be used
/// again after its message was deleted, so the id belongs to it.
#[derive(Debug)]
pub(super) struct Receipt {
    seq: i64,
    receives: u32,
    id: String,
}

impl Receipt {
    pub(super) fn parse(text: &str) -> Result<Self, QueueError> {
        let mut parts = text.splitn(3, '.');
        let parsed = (|| {
            Some(Self {
                seq: parts.next()?.parse().ok()?,
                receives: parts.next()?.parse().ok()?,
                id: parts.next()?.to_owned(),
            })
        })();
        parsed.ok_or_else(|| {
            QueueError::InvalidParameter("the receipt handle is not one of this queue".to_owned())
        })
    }
}

pub(super) fn delete(db: &Connection, queue: &str, receipts: &[Receipt]) -> rusqlite::Result<()> {
    let mut statement = db.prepare_cached(
        "DELETE FROM message WHERE seq = ?1 AND receives = ?2 AND id = ?3 AND queue = ?4",
    )?;
    for receipt in receipts {
        statement.execute(params![receipt.seq, receipt.receives, receipt.id, queue])?;
    }
    Ok(())
}
