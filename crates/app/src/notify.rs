//! Telling people by mail what happened.
//!
//! News becomes a mail that is due, stored under the id of the announcement and its
//! recipient (`hear`); a mail that is due is composed, stored with every value, and sent
//! (`deliver`); one that was given up waits until somebody lets it go (`resend`); news for
//! everybody with tickets is worked through in pages (`tell`).

mod change;
mod compose;
mod deliver;
mod recipients;
mod resend;
mod tell;

use onsale_domain::account::Email;
use onsale_domain::announcement::{Announcement, News};
use onsale_domain::feedback::{Feedback, FeedbackKind};
use onsale_domain::ids::ShowId;
use onsale_domain::mail::{Mail, MailId, Recipient};
use onsale_domain::time::Millis;

use crate::app::App;
use crate::error::Result;
use crate::ports::{Notify, Post};

/// Mails about no show are kept this long.
const KEPT_MS: u64 = 30 * 24 * 3_600_000;

impl App {
    /// News came from the bus. An error means: deliver the message again.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn hear(&self, post: &Post, told: &Announcement) -> Result<()> {
        let Some((to, show)) = addressee(&told.news) else {
            return Ok(());
        };
        if let News::OrderCancelled(order) = &told.news {
            self.tell_holders(told, order).await?;
        }
        let id = self
            .make_due(&told.id, told.at, told.news.clone(), to, show)
            .await?;
        self.deliver(post, &id).await
    }

    /// A message of our own queue. An error means: deliver the message again.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn notify(&self, post: &Post, message: &Notify) -> Result<()> {
        match message {
            Notify::Mail { mail_id } => self.deliver(post, mail_id).await,
            Notify::Mailing { mailing_id } => self.tell(*mailing_id).await,
        }
    }

    /// The mail service says what became of a mail. An error means: deliver the message
    /// again.
    pub async fn hear_feedback(&self, email: &Email, feedback: &Feedback) -> Result<()> {
        let kind = match feedback.kind {
            FeedbackKind::Bounced => "bounced",
            FeedbackKind::Complained => "complained",
        };
        metrics::counter!("onsale_mail_feedback_total", "kind" => kind).increment(1);
        Ok(self.store.put_mail_feedback(email, feedback).await?)
    }

    /// Stores the mail, unless it is there. From then on it is not forgotten.
    async fn make_due(
        &self,
        announcement_id: &str,
        at: Millis,
        news: News,
        to: Recipient,
        show: Option<ShowId>,
    ) -> Result<MailId> {
        let now = self.now();
        let forget_at = match show {
            Some(show) => self.recent_show(show).await?.forgotten_at(),
            None => now + KEPT_MS,
        };
        let mail = Mail::due(announcement_id, at, news, to, now, forget_at);
        self.store.create(&mail).await?;
        Ok(mail.id)
    }

    /// Asks for a mail to be looked at. A lost message is sent again by reconciling.
    pub(crate) async fn wake_mail(&self, mail_id: MailId, delay_s: u32) {
        let message = Notify::Mail { mail_id };
        if let Err(error) = self.notify_queue.send_notify(&message, delay_s).await {
            tracing::warn!(%error, "a mail could not be woken");
        }
    }
}

/// Who is told of this by mail, and of which show it is. News for everybody with tickets
/// goes another way.
fn addressee(news: &News) -> Option<(Recipient, Option<ShowId>)> {
    let (to, show) = match news {
        News::OrderConfirmed(order)
        | News::OrderDeclined(order)
        | News::OrderCancelled(order)
        | News::RefundIssued { order, .. } => (order.account_id, Some(order.show_id)),
        News::OfferMade(offer) | News::OfferLapsed(offer) => {
            (offer.account_id, Some(offer.show_id))
        }
        News::TicketResold(sold) => (sold.account_id, Some(sold.show_id)),
        News::TransferOffered {
            to_email, show_id, ..
        } => return Some((Recipient::Address(to_email.clone()), Some(*show_id))),
        // Whoever waited may have no account, so we keep this no longer than we must.
        News::TurnCame { to_email, .. } => {
            return Some((Recipient::Address(to_email.clone()), None));
        }
        News::PasswordResetAsked { account_id, .. } => (*account_id, None),
        News::SeatsReturned { .. }
        | News::ShowCancelled { .. }
        | News::SagaStuck { .. }
        | News::TransferAccepted { .. }
        | News::EventChanged { .. }
        | News::ShowChanged { .. } => return None,
    };
    Some((Recipient::Account(to), show))
}
