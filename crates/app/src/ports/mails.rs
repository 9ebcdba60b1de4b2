//! What telling people by mail needs from the world.

use std::sync::Arc;

use async_trait::async_trait;
use onsale_domain::account::Email;
use onsale_domain::event::Event;
use onsale_domain::feedback::Feedback;
use onsale_domain::language::Language;
use onsale_domain::letter::{Composed, Letter, Letterhead};
use onsale_domain::mail::{Mail, MailId, Recipient};
use onsale_domain::mailing::{Mailing, MailingId};
use onsale_domain::show::Show;
use onsale_domain::time::Millis;
use serde::{Deserialize, Serialize};

use super::{Page, ShowNotes, Stored, Versioned, Written};

#[async_trait]
pub trait Mails: Send + Sync {
    /// Stores a new mail under version 1; `Lost`: there is one already.
    async fn create_mail(&self, mail: &Mail) -> Stored<Written<Mail>>;
    /// A consistent read.
    async fn mail(&self, id: &MailId) -> Stored<Option<Versioned<Mail>>>;
    async fn replace_mail(&self, mail: &Versioned<Mail>) -> Stored<Written<Mail>>;
    /// Mails that somebody should have looked at by then (`Mail::look_at`), at most so
    /// many. A list may lag behind by seconds.
    async fn forgotten_mails(&self, by: Millis, limit: usize) -> Stored<Vec<MailId>>;
    /// Mails that are parked (`Mail::parked_since`), oldest first. A list may lag behind by
    /// seconds.
    async fn parked_mails(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<Mail>>>;
    /// Mails to this account, or to this address, oldest first. A list may lag behind by
    /// seconds.
    async fn mails_to(
        &self,
        to: &Recipient,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<Mail>>>;
    /// What came back of mails to this address, if anything.
    async fn mail_feedback(&self, email: &Email) -> Stored<Option<Feedback>>;
    /// Keeps it, unless what is kept counts for longer.
    async fn put_mail_feedback(&self, email: &Email, feedback: &Feedback) -> Stored<()>;
}

#[async_trait]
pub trait Mailings: Send + Sync {
    /// Replaces an event and stores the mailing that tells of it: both or neither.
    /// `false`: the event has moved on.
    async fn replace_event_and_tell(
        &self,
        event: &Versioned<Event>,
        mailing: &Mailing,
    ) -> Stored<bool>;
    /// The same for a show and its event.
    async fn replace_show_and_tell(
        &self,
        show: &Versioned<Show>,
        event: &Versioned<Event>,
        notes: ShowNotes<'_>,
        mailing: &Mailing,
    ) -> Stored<bool>;
    async fn mailing(&self, id: MailingId) -> Stored<Option<Versioned<Mailing>>>;
    async fn replace_mailing(&self, mailing: &Versioned<Mailing>) -> Stored<Written<Mailing>>;
    /// Mailings that are not done (`Mailing::is_open`).
    async fn open_mailings(&self) -> Stored<Vec<MailingId>>;
}

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
