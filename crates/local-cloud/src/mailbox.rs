//! Mails that were sent: SES without a network. Every message that the SDK sends ends in a
//! file, as it was, and can be read from there.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use crate::clock::Clock;
use crate::cloud::Durability;
use crate::connector::Reply;
use crate::store_thread::StoreThread;

/// The path under which SES takes messages.
pub(crate) const SEND_PATH: &str = "/v2/email/outbound-emails";

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS mail (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        at_ms INTEGER NOT NULL,
        sender TEXT NOT NULL,
        recipient TEXT NOT NULL,
        raw BLOB NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS mail_by_recipient ON mail (recipient, seq);
";
/// The newest so many are kept: it is an inbox to look at, not an archive.
const KEPT: i64 = 10_000;
/// SES takes messages of up to 40 MB.
const MAX_BYTES: usize = 40_000_000;
const MAX_RECIPIENTS: usize = 50;

#[derive(Debug, thiserror::Error)]
#[error("the mailbox cannot be used: {0}")]
pub struct MailboxError(String);

impl From<rusqlite::Error> for MailboxError {
    fn from(error: rusqlite::Error) -> Self {
        Self(error.to_string())
    }
}

/// A message as it was sent to one recipient.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SentMail {
    pub id: String,
    pub at_ms: u64,
    pub sender: String,
    pub recipient: String,
    pub raw: Vec<u8>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SendEmail {
    from_email_address: Option<String>,
    destination: Option<Destination>,
    content: Content,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "PascalCase", default)]
struct Destination {
    to_addresses: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Content {
    raw: Option<Raw>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Raw {
    data: String,
}

/// Every mail that was sent. Clones share the same file.
#[derive(Debug, Clone)]
pub struct Mailbox {
    store: Arc<StoreThread<Connection>>,
    clock: Arc<dyn Clock>,
}

impl Mailbox {
    pub(crate) fn open(
        path: &Path,
        clock: Arc<dyn Clock>,
        durability: Durability,
    ) -> Result<Self, MailboxError> {
        let db = Connection::open(path)?;
        let synchronous = match durability {
            Durability::PowerCut => "FULL",
            Durability::ProcessDeath => "NORMAL",
        };
        db.pragma_update(None, "synchronous", synchronous)?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        Self::start(db, clock)
    }

    pub(crate) fn memory(clock: Arc<dyn Clock>) -> Result<Self, MailboxError> {
        Self::start(Connection::open_in_memory()?, clock)
    }

    fn start(db: Connection, clock: Arc<dyn Clock>) -> Result<Self, MailboxError> {
        db.busy_timeout(Duration::from_secs(5))?;
        db.execute_batch(SCHEMA)?;
        let store = StoreThread::start("mailbox", db).map_err(|e| MailboxError(e.to_string()))?;
        Ok(Self {
            store: Arc::new(store),
            clock,
        })
    }

    /// The newest mails, those to one recipient if asked: at most `limit` of them.
    pub async fn newest(
        &self,
        to: Option<String>,
        limit: usize,
    ) -> Result<Vec<SentMail>, MailboxError> {
        self.ask(move |db| {
            let mut query = db.prepare_cached(
                "SELECT id, at_ms, sender, recipient, raw FROM mail
                 WHERE ?1 IS NULL OR recipient = ?1 ORDER BY seq DESC LIMIT ?2",
            )?;
            let rows = query.query_map(params![to, limit as i64], mail_of)?;
            rows.collect()
        })
        .await
    }

    pub async fn mail(&self, id: String) -> Result<Option<SentMail>, MailboxError> {
        self.ask(move |db| {
            let mut query = db.prepare_cached(
                "SELECT id, at_ms, sender, recipient, raw FROM mail WHERE id = ?1",
            )?;
            query.query_row([id], mail_of).optional()
        })
        .await
    }

    async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, MailboxError> {
        let done = self.store.run(work).await;
        Ok(done.map_err(|e| MailboxError(e.to_string()))??)
    }

    /// Answers `SendEmail` of SES.
    pub(crate) async fn answer(&self, body: &[u8]) -> Reply {
        let (sender, to, raw) = match read(body) {
            Ok(read) => read,
            Err(reason) => return Reply::error(400, "BadRequestException", &reason),
        };
        let at_ms = self.clock.now_ms();
        let id = Uuid::new_v4().simple().to_string();
        let first = id.clone();
        let kept = self.ask(move |db| {
            let change = db.transaction()?;
            for (n, recipient) in to.iter().enumerate() {
                let id = if n == 0 {
                    id.clone()
                } else {
                    format!("{id}-{n}")
                };
                change.execute(
                    "INSERT INTO mail (id, at_ms, sender, recipient, raw)
                     VALUES (?1, ?2, ?3, ?4, ?5)",
                    params![id, at_ms as i64, sender, recipient, raw],
                )?;
            }
            change.execute(
                "DELETE FROM mail WHERE seq <= (SELECT max(seq) FROM mail) - ?1",
                [KEPT],
            )?;
            change.commit()
        });
        match kept.await {
            Ok(()) => Reply::ok(json!({ "MessageId": first }).to_string()),
            Err(error) => {
                tracing::error!(%error, "a mail could not be kept");
                Reply::error(500, "InternalFailure", "the mail could not be kept")
            }
        }
    }
}

fn mail_of(row: &Row<'_>) -> rusqlite::Result<SentMail> {
    Ok(SentMail {
        id: row.get(0)?,
        at_ms: row.get::<_, i64>(1)?.unsigned_abs(),
        sender: row.get(2)?,
        recipient: row.get(3)?,
        raw: row.get(4)?,
    })
}

type Outgoing = (String, Vec<String>, Vec<u8>);

fn read(body: &[u8]) -> Result<Outgoing, String> {
    let request: SendEmail = serde_json::from_slice(body).map_err(|e| e.to_string())?;
    let sender = request.from_email_address.filter(|from| !from.is_empty());
    let sender = sender.ok_or("FromEmailAddress is missing")?;
    let to = request.destination.unwrap_or_default().to_addresses;
    if to.is_empty() || to.len() > MAX_RECIPIENTS {
        return Err(format!("from 1 to {MAX_RECIPIENTS} addresses are needed"));
    }
    let plain = |address: &String| address.is_ascii() && address.contains('@');
    if !to.iter().all(plain) {
        return Err("an address is not one".to_owned());
    }
    let raw = request.content.raw.ok_or("only raw messages are taken")?;
    let raw = BASE64_STANDARD
        .decode(raw.data)
        .map_err(|e| e.to_string())?;
    match raw.len() <= MAX_BYTES {
        true => Ok((sender, to, raw)),
        false => Err("the message is too long".to_owned()),
    }
}
