//! A mail service that keeps what it is given, and a writer of plain text.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use onsale_app::ports::{LetterWriter, MailFailure, Mailer};
use onsale_domain::account::Email;
use onsale_domain::letter::{Composed, Letter, Letterhead};
use onsale_domain::mail::MailId;
use onsale_table::faults::Faults;

/// Keeps what it was given to send.
#[derive(Debug)]
pub struct MemoryMailer {
    faults: Arc<Faults>,
    sent: Mutex<Vec<(Email, Vec<u8>)>>,
    /// An address that is always refused.
    refused: Mutex<Option<Email>>,
}

impl MemoryMailer {
    pub fn new(faults: Arc<Faults>) -> Self {
        Self {
            faults,
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
        self.faults.pass("send_mail", no_answer, send).await
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
