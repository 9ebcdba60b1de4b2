//! Somebody leaves the waitlist. What was offered to them goes to the next.

use onsale_domain::ids::{ShowId, WaitlistId};
use onsale_domain::waitlist::{Outcome, State, WaitlistEntry};

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::holds::ROUNDS;
use crate::ports::{Versioned, Written};

impl App {
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn leave_waitlist(
        &self,
        caller: &Caller,
        show_id: ShowId,
        id: WaitlistId,
    ) -> Result<()> {
        self.check_session(caller).await?;
        let account = caller.account;
        let stored = self.store.read::<WaitlistEntry>((show_id, account)).await?;
        let mut entry = stored.ok_or(Error::NotFound("waitlist entry"))?;
        for _ in 0..ROUNDS {
            if entry.value.id != id {
                return match entry.value.earlier.iter().any(|earlier| earlier.id == id) {
                    true => Ok(()),
                    false => Err(Error::NotFound("waitlist entry")),
                };
            }
            match &entry.value.state {
                State::Ended(Outcome::Taken) => {
                    return Err(Error::Conflict(
                        "the offer is paid; cancel its order instead",
                    ));
                }
                State::Ended(_) => return Ok(()),
                State::Waiting | State::Offered(_) => {}
            }
            match self.end_entry(&entry).await? {
                Written::Done(_) => return Ok(()),
                Written::Lost(current) => entry = current,
            }
        }
        Err(Error::Unavailable)
    }

    /// Ends an entry that has not ended, for whoever speaks for its account. What it was
    /// offered goes back first; an offer that is being paid is a conflict.
    pub(crate) async fn end_entry(
        &self,
        entry: &Versioned<WaitlistEntry>,
    ) -> Result<Written<WaitlistEntry>> {
        let (show_id, account) = (entry.value.show_id, entry.value.account);
        if let Some(offer) = entry.value.offer() {
            let show = self.recent_show(show_id).await?;
            let layout = self.layout_of(&show).await?;
            let hold = offer.hold_id;
            let recorded = self
                .withdraw_hold(show_id, &layout, account, hold, offer)
                .await?;
            if recorded {
                let buyer = self.store.buyer(show_id, account).await?;
                self.release_of(account, show_id, hold, buyer).await?;
                self.release_promises(&offer.resales, hold).await?;
            }
            self.wake_waitlist(show_id).await;
        }
        let left = Versioned {
            version: entry.version,
            value: entry.value.ended(Outcome::Left, self.now()),
        };
        Ok(self.store.replace(&left).await?)
    }
}
