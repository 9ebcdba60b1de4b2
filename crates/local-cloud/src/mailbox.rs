//! Mails that were sent, in the SQLite file: nothing leaves this machine.

use std::sync::Arc;

use async_trait::async_trait;
use onsale_app::ports::{MailFailure, Mailer};
use onsale_domain::account::Email;
use onsale_table::TableError;
use onsale_table::sqlite::{OpenError, SqliteFile};
use rusqlite::{Connection, OptionalExtension, Row, params};
use uuid::Uuid;

use crate::clock::Clock;

const PART: &str = "mailbox";
const VERSION: u32 = 1;
const SQL: &str = "
    CREATE TABLE mail (
        seq INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        at_ms INTEGER NOT NULL,
        sender TEXT NOT NULL,
        recipient TEXT NOT NULL,
        raw BLOB NOT NULL
    ) STRICT;
    CREATE INDEX mail_by_recipient ON mail (recipient, seq);
";
/// The newest mails are kept: it is an inbox to look at, not an archive.
const KEPT: i64 = 10_000;
/// SES takes messages of up to 40 MB.
const MAX_BYTES: usize = 40_000_000;

#[derive(Debug, thiserror::Error)]
pub enum MailboxError {
    /// SES would refuse it for good. The text names no address.
    #[error("the mail is refused: {0}")]
    Refused(&'static str),
    #[error("the mailbox cannot be used: {0}")]
    Storage(#[from] TableError),
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

/// Every mail that was sent. Clones share the same mails.
#[derive(Debug, Clone)]
pub struct Mailbox {
    file: Arc<SqliteFile>,
    clock: Arc<dyn Clock>,
}

impl Mailbox {
    pub(crate) async fn open(
        file: Arc<SqliteFile>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, OpenError> {
        file.migrate(PART, VERSION, SQL).await?;
        Ok(Self { file, clock })
    }

    /// Sends mails from this address into the mailbox.
    pub fn mailer(&self, sender: impl Into<String>) -> LocalMailer {
        LocalMailer {
            mailbox: self.clone(),
            sender: sender.into(),
        }
    }

    /// Keeps a mail and returns its id.
    pub async fn keep(
        &self,
        sender: &str,
        recipient: &str,
        raw: Vec<u8>,
    ) -> Result<String, MailboxError> {
        if !recipient.is_ascii() || !recipient.contains('@') {
            return Err(MailboxError::Refused("the address is not one"));
        }
        if raw.len() > MAX_BYTES {
            return Err(MailboxError::Refused("the message is too long"));
        }
        let mail = SentMail {
            id: Uuid::new_v4().simple().to_string(),
            at_ms: self.clock.now_ms(),
            sender: sender.to_owned(),
            recipient: recipient.to_owned(),
            raw,
        };
        let id = mail.id.clone();
        self.file.write(move |db| insert(db, &mail)).await?;
        Ok(id)
    }

    /// The newest mails, those to one recipient if asked: at most `limit` of them.
    pub async fn newest(
        &self,
        to: Option<String>,
        limit: usize,
    ) -> Result<Vec<SentMail>, MailboxError> {
        let read = move |db: &Connection| {
            let mut query = db.prepare_cached(
                "SELECT id, at_ms, sender, recipient, raw FROM mail
                 WHERE ?1 IS NULL OR recipient = ?1 ORDER BY seq DESC LIMIT ?2",
            )?;
            let rows = query.query_map(params![to, limit], mail_of)?;
            rows.collect()
        };
        Ok(self.file.read(read).await?)
    }

    pub async fn mail(&self, id: String) -> Result<Option<SentMail>, MailboxError> {
        let read = move |db: &Connection| {
            let mut query = db.prepare_cached(
                "SELECT id, at_ms, sender, recipient, raw FROM mail WHERE id = ?1",
            )?;
            query.query_row([&id], mail_of).optional()
        };
        Ok(self.file.read(read).await?)
    }
}

fn insert(db: &Connection, mail: &SentMail) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT INTO mail (id, at_ms, sender, recipient, raw) VALUES (?1, ?2, ?3, ?4, ?5)",
    )?
    .execute(params![
        mail.id,
        mail.at_ms,
        mail.sender,
        mail.recipient,
        mail.raw
    ])?;
    db.prepare_cached("DELETE FROM mail WHERE seq <= (SELECT max(seq) FROM mail) - ?1")?
        .execute([KEPT])?;
    Ok(())
}

fn mail_of(row: &Row<'_>) -> rusqlite::Result<SentMail> {
    Ok(SentMail {
        id: row.get(0)?,
        at_ms: row.get(1)?,
        sender: row.get(2)?,
        recipient: row.get(3)?,
        raw: row.get(4)?,
    })
}

/// Sends into a [`Mailbox`].
#[derive(Debug, Clone)]
pub struct LocalMailer {
    mailbox: Mailbox,
    sender: String,
}

#[async_trait]
impl Mailer for LocalMailer {
    async fn send(&self, to: &Email, message: Vec<u8>) -> Result<(), MailFailure> {
        let kept = self.mailbox.keep(&self.sender, to.as_str(), message).await;
        kept.map(drop).map_err(|error| match error {
            MailboxError::Refused(why) => MailFailure::Refused(why.to_owned()),
            MailboxError::Storage(error) => MailFailure::Unavailable(error.to_string()),
        })
    }
}
