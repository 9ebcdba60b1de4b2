//! A mailing: announced once, then everybody with tickets gets a mail, page by page.

use onsale_domain::block::BlockIndex;
use onsale_domain::mailing::{Mailing, MailingId, Progress};

use crate::app::App;
use crate::error::Result;
use crate::ports::{List, Notify, Versioned, Written};
use crate::reconcile::{Report, is_idle};

/// Blocks that one message works through: at most 640 orders.
const BLOCKS_AT_ONCE: u32 = 20;

impl App {
    /// One message's share of a mailing. What was done is stored before the next message
    /// is sent; if that is lost, reconciling sends it.
    pub(super) async fn tell(&self, id: MailingId) -> Result<()> {
        let Some(mailing) = self.store.read::<Mailing>(id).await? else {
            tracing::warn!(mailing = %id, "a message names a mailing that does not exist");
            return Ok(());
        };
        let next = match mailing.value.progress {
            Progress::Done => return Ok(()),
            Progress::Announcing => self.announce_mailing(&mailing.value).await?,
            Progress::Telling { show, from_block } => {
                self.tell_page(&mailing.value, show, from_block).await?
            }
        };
        let is_open = next.is_open();
        let next = Versioned {
            version: mailing.version,
            value: next,
        };
        match self.store.replace(&next).await? {
            Written::Done(_) if is_open => self.send_mailing(id).await,
            // Lost: whoever was quicker goes on.
            Written::Done(_) | Written::Lost(_) => Ok(()),
        }
    }

    async fn announce_mailing(&self, mailing: &Mailing) -> Result<Mailing> {
        let shows = mailing.shows.iter();
        let told: Vec<_> = shows.map(|show| mailing.announcement(show)).collect();
        self.bus.announce(&told).await?;
        Ok(mailing.announced(self.now()))
    }

    async fn tell_page(&self, mailing: &Mailing, nth: usize, from_block: u32) -> Result<Mailing> {
        let Some(moved) = mailing.shows.get(nth) else {
            return Ok(mailing.told(nth, None, self.now()));
        };
        let show = self.recent_show(moved.show_id).await?;
        let all = self.layout_of(&show).await?.blocks().len() as u32;
        let end = from_block.saturating_add(BLOCKS_AT_ONCE).min(all);
        let blocks: Vec<_> = (from_block..end).map(BlockIndex).collect();
        let concerned = self.concerned_in(show.id, &blocks).await?;
        let told = mailing.announcement(moved);
        let count = self.tell_all(&told, show.id, concerned).await?;
        if count > 0 {
            tracing::info!(show = %show.id, from_block, of = all, count, "people with tickets are told");
        }
        Ok(mailing.told(nth, (end < all).then_some(end), self.now()))
    }

    async fn send_mailing(&self, mailing_id: MailingId) -> Result<()> {
        let message = Notify::Mailing { mailing_id };
        Ok(self.notify_queue.send_notify(&message, 0).await?)
    }

    /// Sets a mailing going. A lost message is sent again by reconciling.
    pub(crate) async fn wake_mailing(&self, id: MailingId) {
        if let Err(error) = self.send_mailing(id).await {
            tracing::warn!(mailing = %id, %error, "a mailing could not be woken");
        }
    }

    /// Sends again what was forgotten: mails, and mailings that nobody works through.
    pub(crate) async fn wake_forgotten(&self, at_most: usize, report: &mut Report) -> Result<()> {
        let forgotten = self.store.forgotten_mails(self.now(), at_most).await?;
        report.mails_woken += forgotten.len() as u64;
        for mail in forgotten {
            self.wake_mail(mail, 0).await;
        }
        for id in self.store.ids_in::<Mailing>(&List::OpenMailings).await? {
            let mailing = self.store.read::<Mailing>(id).await;
            let mailing = report.readable(format!("mailing {id}"), mailing)?;
            if mailing.is_some_and(|m| m.value.is_open() && is_idle(m.value.changed, self.now())) {
                self.wake_mailing(id).await;
                report.mails_woken += 1;
            }
        }
        Ok(())
    }
}
