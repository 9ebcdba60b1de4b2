//! What telling people by mail needs from the world.

use std::sync::Arc;

use async_trait::async_trait;
use onsale_domain::account::Email;
use onsale_domain::language::Language;
use onsale_domain::letter::{Composed, Letter, Letterhead};
use onsale_domain::mail::MailId;
use onsale_domain::mailing::MailingId;
use serde::{Deserialize, Serialize};

use super::Stored;

/// "Look at this: there may be somebody to tell."
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Notify {
    Mail { mail_id: MailId },
    Mailing { mailing_id: MailingId },
}

#[async_trait]
pub trait NotifyQueue: Send + Sync {
    async fn send_notify(&self, message: &Notify, delay_s: u32) -> Stored<()>;
}

/// Why a message was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MailFailure {
    /// It will never be taken, such as one to an address that cannot be.
    #[error("the message is refused: {0}")]
    Refused(String),
    /// No answer, or "try again". It may have been sent all the same.
    #[error("the mail service does not answer: {0}")]
    Unavailable(String),
}

/// Sends one message, as it goes on the wire.
#[async_trait]
pub trait Mailer: Send + Sync {
    async fn send(&self, to: &Email, message: Vec<u8>) -> Result<(), MailFailure>;
}

/// Writes a letter: the same mail gives the same bytes, so that what was sent can be made
/// again from what is stored.
#[async_trait]
pub trait LetterWriter: Send + Sync {
    async fn write(&self, id: &MailId, composed: &Composed) -> Result<Vec<u8>, String>;
    /// Under what this letter would be written today; kept with it.
    fn letterhead(&self, letter: &Letter) -> Option<Letterhead>;
}

/// What whoever sends mails needs, and nobody else.
#[derive(Clone)]
pub struct Post {
    pub mailer: Arc<dyn Mailer>,
    pub writer: Arc<dyn LetterWriter>,
    /// For those who never said which they read.
    pub language: Language,
}

impl std::fmt::Debug for Post {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Post")
    }
}
