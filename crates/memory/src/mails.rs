//! Mails, mailings, a mail service that keeps what it is given, and a writer of plain text.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use onsale_app::ports::{
    Catalogue, LetterWriter, MailFailure, Mailer, Mailings, Mails, Page, ShowNotes, Stored,
    Versioned, Written,
};
use onsale_domain::account::Email;
use onsale_domain::event::Event;
use onsale_domain::feedback::Feedback;
use onsale_domain::letter::{Composed, Letter, Letterhead};
use onsale_domain::mail::{Mail, MailId, Recipient};
use onsale_domain::mailing::{Mailing, MailingId};
use onsale_domain::show::Show;
use onsale_domain::time::Millis;

use crate::MemoryStore;
use crate::gate::Gate;
use crate::orders::{create, page, replace};

#[async_trait]
impl Mails for MemoryStore {
    async fn create_mail(&self, mail: &Mail) -> Stored<Written<Mail>> {
        self.pass("create_mail", async {
            Ok(create(&mut self.items().mails, mail.id.clone(), mail))
        })
        .await
    }

    async fn mail(&self, id: &MailId) -> Stored<Option<Versioned<Mail>>> {
        self.pass("mail", async { Ok(self.items().mails.get(id).cloned()) })
            .await
    }

    async fn replace_mail(&self, mail: &Versioned<Mail>) -> Stored<Written<Mail>> {
        self.reach(crate::Step::ReplaceMail).await;
        self.pass("replace_mail", async {
            replace(&mut self.items().mails, mail.value.id.clone(), mail)
        })
        .await
    }

    async fn forgotten_mails(&self, by: Millis, limit: usize) -> Stored<Vec<MailId>> {
        let items = self.items();
        let mut due: Vec<_> = items
            .mails
            .values()
            .filter_map(|mail| Some((mail.value.look_at()?, mail.value.id.clone())))
            .filter(|(at, _)| *at <= by)
            .collect();
        due.sort();
        Ok(due.into_iter().map(|(_, id)| id).take(limit).collect())
    }

    async fn parked_mails(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<Mail>>> {
        let items = self.items();
        let parked = items.mails.values().filter_map(|mail| {
            let at = mail.value.parked_since()?;
            Some((format!("{:020}#{}", at.0, mail.value.id), mail.clone()))
        });
        let mut sorted: Vec<_> = parked.collect();
        sorted.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(page(sorted, after, limit))
    }

    async fn mail_feedback(&self, email: &Email) -> Stored<Option<Feedback>> {
        self.pass("mail_feedback", async {
            Ok(self.items().feedback.get(email).copied())
        })
        .await
    }

    async fn put_mail_feedback(&self, email: &Email, feedback: &Feedback) -> Stored<()> {
        self.pass("put_mail_feedback", async {
            let mut items = self.items();
            let stored = items.feedback.entry(email.clone()).or_insert(*feedback);
            if stored.until() < feedback.until() {
                *stored = *feedback;
            }
            Ok(())
        })
        .await
    }

    async fn mails_to(
        &self,
        to: &Recipient,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<Mail>>> {
        let items = self.items();
        let all = items.mails.values();
        let theirs = all.filter(|mail| mail.value.to == *to && *to != Recipient::Nobody);
        let place = |mail: &Mail| format!("{:020}#{}", mail.created.0, mail.id);
        let mut sorted: Vec<_> = theirs.map(|m| (place(&m.value), m.clone())).collect();
        sorted.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(page(sorted, after, limit))
    }
}

impl MemoryStore {
    /// Every mail that was ever stored.
    pub fn all_mails(&self) -> Vec<Mail> {
        let items = self.items();
        items
            .mails
            .values()
            .map(|mail| mail.value.clone())
            .collect()
    }

    fn keep_mailing(&self, mailing: &Mailing) {
        create(&mut self.items().mailings, mailing.id, mailing);
    }
}

#[async_trait]
impl Mailings for MemoryStore {
    async fn replace_event_and_tell(
        &self,
        event: &Versioned<Event>,
        mailing: &Mailing,
    ) -> Stored<bool> {
        self.pass("replace_event_and_tell", async {
            let replaced = self.replace_event(event).await?;
            if replaced {
                self.keep_mailing(mailing);
            }
            Ok(replaced)
        })
        .await
    }

    async fn replace_show_and_tell(
        &self,
        show: &Versioned<Show>,
        event: &Versioned<Event>,
        notes: ShowNotes<'_>,
        mailing: &Mailing,
    ) -> Stored<bool> {
        self.pass("replace_show_and_tell", async {
            let replaced = self.replace_show(show, event, notes).await?;
            if replaced {
                self.keep_mailing(mailing);
            }
            Ok(replaced)
        })
        .await
    }

    async fn mailing(&self, id: MailingId) -> Stored<Option<Versioned<Mailing>>> {
        self.pass("mailing", async {
            Ok(self.items().mailings.get(&id).cloned())
        })
        .await
    }

    async fn replace_mailing(&self, mailing: &Versioned<Mailing>) -> Stored<Written<Mailing>> {
        self.pass("replace_mailing", async {
            replace(&mut self.items().mailings, mailing.value.id, mailing)
        })
        .await
    }

    async fn open_mailings(&self) -> Stored<Vec<MailingId>> {
        let items = self.items();
        let open = items.mailings.values().filter(|m| m.value.is_open());
        Ok(open.map(|m| m.value.id).collect())
    }
}

/// Keeps what it was given to send.
#[derive(Debug)]
pub struct MemoryMailer {
    gate: Arc<Gate>,
    sent: Mutex<Vec<(Email, Vec<u8>)>>,
    /// An address that is always refused.
    refused: Mutex<Option<Email>>,
}

impl MemoryMailer {
    pub fn new(gate: Arc<Gate>) -> Self {
        Self {
            gate,
            sent: Mutex::default(),
            refused: Mutex::default(),
        }
    }

    pub fn sent(&self) -> Vec<(Email, Vec<u8>)> {
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.clone()
    }

    pub fn refuse(&self, email: Email) {
        self.set_refused(Some(email));
    }

    pub fn refuse_nobody(&self) {
        self.set_refused(None);
    }

    fn set_refused(&self, email: Option<Email>) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        *refused = email;
    }
}

#[async_trait]
impl Mailer for MemoryMailer {
    async fn send(&self, to: &Email, message: Vec<u8>) -> Result<(), MailFailure> {
        let no_answer = || MailFailure::Unavailable("as planned".to_owned());
        let send = async {
            let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
            if refused.as_ref() == Some(to) {
                return Err(MailFailure::Refused("as planned".to_owned()));
            }
            let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
            sent.push((to.clone(), message));
            Ok(())
        };
        self.gate.pass("send_mail", no_answer, send).await
    }
}

/// Writes the values of a letter as they are.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlainWriter;

#[async_trait]
impl LetterWriter for PlainWriter {
    async fn write(&self, id: &MailId, composed: &Composed) -> Result<Vec<u8>, String> {
        Ok(format!("{id}\n{composed:?}").into_bytes())
    }

    fn letterhead(&self, _: &Letter) -> Option<Letterhead> {
        None
    }
}
