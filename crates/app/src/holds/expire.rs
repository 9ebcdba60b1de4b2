//! A message says that a hold's time may be up.
//!
//! It may come early, late, twice, or after the hold was paid. Only a held entry that
//! lapsed by more than clocks can disagree ends here; everything else is left alone.

use onsale_domain::buyer::{EntryState, MoveRefusal};
use onsale_domain::time::Millis;

use super::place::expiry_delay_s;
use super::{ROUNDS, count_hold_end};
use crate::app::App;
use crate::error::{Error, Result};
use crate::ports::{ExpireHold, Replaced};

/// What came of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// The hold ended and its places are free.
    Ended,
    /// It is too early: the message was sent again for the rest of the wait.
    Requeued,
    /// The hold is paid for, or being paid, or unknown: nothing to do.
    LeftAlone,
}

impl App {
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn expire_hold(&self, message: &ExpireHold) -> Result<Expiry> {
        let outcome = self.end_lapsed_hold(message).await?;
        if outcome == Expiry::Ended {
            self.wake_waitlist(message.show_id).await;
        }
        Ok(outcome)
    }

    /// The same without telling the waitlist.
    pub(crate) async fn end_lapsed_hold(&self, message: &ExpireHold) -> Result<Expiry> {
        let (show_id, account) = (message.show_id, message.account_id);
        match self.recent_show(show_id).await {
            Ok(_) => {}
            Err(Error::NotFound(_)) => return Ok(Expiry::LeftAlone),
            Err(error) => return Err(error),
        }
        let mut buyer = self.store.buyer(show_id, account).await?;
        for _ in 0..ROUNDS {
            let now = self.now();
            let Some(entry) = buyer.entry(message.hold_id).cloned() else {
                return Ok(Expiry::LeftAlone);
            };
            let next = match buyer.expire(message.hold_id, now) {
                Ok(next) => next,
                Err(MoveRefusal::NotYetLapsed) => {
                    return self.requeue(message, now, entry.expiry).await;
                }
                Err(MoveRefusal::Is(EntryState::Expired | EntryState::Released)) => {
                    // Ended before; finish the freeing that may have been cut off.
                    self.free_entry(show_id, &entry).await?;
                    return Ok(Expiry::Ended);
                }
                Err(_) => return Ok(Expiry::LeftAlone),
            };
            match self.store.replace_buyer(show_id, account, &next).await? {
                Replaced::Done => {
                    self.free_entry(show_id, &entry).await?;
                    metrics::counter!("onsale_holds_total", "result" => "expired").increment(1);
                    count_hold_end(&entry, &next);
                    return Ok(Expiry::Ended);
                }
                Replaced::Lost(current) => buyer = current,
            }
        }
        Err(Error::Unavailable)
    }

    async fn requeue(&self, message: &ExpireHold, now: Millis, expiry: Millis) -> Result<Expiry> {
        self.expiry_queue
            .send(message, expiry_delay_s(now, expiry))
            .await?;
        Ok(Expiry::Requeued)
    }
}
