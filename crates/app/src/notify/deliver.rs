//! One mail, from due to sent.

use onsale_domain::account::Email;
use onsale_domain::letter::Composed;
use onsale_domain::mail::{Dropped, Mail, MailId, Take, digest};

use crate::app::App;
use crate::error::{Error, Result};
use crate::ports::{MailFailure, Post, Versioned, Written};

/// How often we try to write down that a mail was sent: if we do not get that far, it is
/// sent a second time.
const WRITE_TRIES: usize = 3;

impl App {
    /// Sends a mail that is due. An error means: deliver the message again.
    pub(super) async fn deliver(&self, post: &Post, id: &MailId) -> Result<()> {
        let Some(mail) = self.store.read::<Mail>(id).await? else {
            tracing::warn!(mail = %id, "a message names a mail that does not exist");
            return Ok(());
        };
        match mail.value.take(self.now()) {
            Take::Now => {}
            // If whoever is at it dies, reconciling finds the mail.
            Take::Later | Take::Over => return Ok(()),
        }
        // A letter that was composed before is sent as it was.
        let composed = match mail.value.composed.clone() {
            Some(composed) => composed,
            None => match self.compose(&mail.value, post.language).await? {
                Ok(composed) => Composed {
                    head: post.writer.letterhead(&composed.letter),
                    ..composed
                },
                Err(why) => {
                    let dropped = mail.value.dropped(why, self.now());
                    let kind = mail.value.kind();
                    return self
                        .settle_mail(mail.version, dropped, kind, "dropped")
                        .await;
                }
            },
        };
        // It may have waited, here or until the mail service took it.
        if composed
            .letter
            .good_until()
            .is_some_and(|end| end <= self.now())
        {
            let kind = mail.value.kind();
            let dropped = mail.value.dropped(Dropped::TooLate, self.now());
            return self
                .settle_mail(mail.version, dropped, kind, "dropped")
                .await;
        }
        if !mail.value.is_essential() && self.is_unwelcome(&composed.to).await? {
            let kind = mail.value.kind();
            let dropped = mail.value.dropped(Dropped::Unwelcome, self.now());
            return self
                .settle_mail(mail.version, dropped, kind, "dropped")
                .await;
        }
        let sending = Versioned {
            version: mail.version,
            value: mail.value.sending(composed.clone(), self.now()),
        };
        let version = match self.store.replace(&sending).await? {
            Written::Done(version) => version,
            // Somebody else sends it.
            Written::Lost(_) => return Ok(()),
        };
        let sent = self.send(post, id, &composed).await;
        let mail = &sending.value;
        let kind = mail.kind();
        match sent {
            Ok(digest) => {
                let next = mail.sent(digest, self.now());
                self.settle_mail(version, next, kind, "sent").await
            }
            Err(MailFailure::Refused(reason)) => {
                tracing::error!(mail = %id, reason, "a mail cannot be sent");
                self.park_mail(version, mail, reason).await
            }
            Err(MailFailure::Unavailable(reason)) => {
                tracing::warn!(mail = %id, reason, tries = mail.tries(), "a mail is put off");
                self.put_off_mail(version, mail, reason).await
            }
        }
    }

    async fn is_unwelcome(&self, email: &Email) -> Result<bool> {
        let feedback = self.store.mail_feedback(email).await?;
        Ok(feedback.is_some_and(|feedback| feedback.counts(self.now())))
    }

    /// Writes the letter and hands it over. The digest of what was sent.
    async fn send(
        &self,
        post: &Post,
        id: &MailId,
        composed: &Composed,
    ) -> std::result::Result<String, MailFailure> {
        let written = post.writer.write(id, composed).await;
        let message = written.map_err(MailFailure::Refused)?;
        let digest = digest(&message);
        post.mailer.send(&composed.to, message).await?;
        Ok(digest)
    }

    async fn put_off_mail(&self, version: u64, mail: &Mail, reason: String) -> Result<()> {
        let kind = mail.kind();
        let Some((next, pause_s)) = mail.put_off(self.now()) else {
            tracing::error!(mail = %mail.id, reason, "a mail was tried often enough");
            return self.park_mail(version, mail, reason).await;
        };
        self.settle_mail(version, next, kind, "put_off").await?;
        self.wake_mail(mail.id.clone(), pause_s).await;
        Ok(())
    }

    /// Nobody sends it any more, which somebody has to hear of.
    async fn park_mail(&self, version: u64, mail: &Mail, reason: String) -> Result<()> {
        metrics::counter!("onsale_mails_parked_total").increment(1);
        let parked = mail.parked(reason, self.now());
        self.settle_mail(version, parked, mail.kind(), "parked")
            .await
    }

    async fn settle_mail(
        &self,
        version: u64,
        next: Mail,
        kind: &'static str,
        result: &'static str,
    ) -> Result<()> {
        let next = Versioned {
            version,
            value: next,
        };
        let mut last = Error::Unavailable;
        for _ in 0..WRITE_TRIES {
            match self.store.replace(&next).await {
                // Lost: we were so slow that somebody took us for dead.
                Ok(Written::Done(_) | Written::Lost(_)) => {
                    metrics::counter!("onsale_mails_total", "kind" => kind, "result" => result)
                        .increment(1);
                    return Ok(());
                }
                Err(error) => last = error.into(),
            }
        }
        Err(last)
    }
}
