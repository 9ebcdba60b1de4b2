//! A buyer gives a hold up. First the entry ends, then the cells are freed; when the
//! second part is lost the places lapse by themselves.

use onsale_domain::block::Cell;
use onsale_domain::buyer::{Buyer, Entry, EntryState, MoveRefusal};
use onsale_domain::ids::{AccountId, HoldId, ShowId};

use super::{ROUNDS, count_hold_end};
use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::ports::Replaced;

impl App {
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn release_hold(&self, caller: &Caller, show_id: ShowId, hold: HoldId) -> Result<()> {
        self.end_hold(caller, show_id, hold).await?;
        self.wake_waitlist(show_id).await;
        Ok(())
    }

    async fn end_hold(&self, caller: &Caller, show_id: ShowId, hold: HoldId) -> Result<()> {
        let buyer = self.own_buyer(caller, show_id).await?;
        self.release_of(caller.account, show_id, hold, buyer).await
    }

    /// The same for whoever speaks for an account. `buyer` is as it was read.
    pub(crate) async fn release_of(
        &self,
        account: AccountId,
        show_id: ShowId,
        hold: HoldId,
        mut buyer: Buyer,
    ) -> Result<()> {
        for _ in 0..ROUNDS {
            let entry = buyer.entry(hold).ok_or(Error::NotFound("hold"))?.clone();
            let next = match buyer.release(hold, self.now()) {
                Ok(next) => next,
                Err(MoveRefusal::Is(EntryState::Paying)) => {
                    return Err(Error::Conflict("the hold is being paid"));
                }
                Err(MoveRefusal::Is(EntryState::Sold)) => {
                    return Err(Error::Conflict(
                        "the hold is paid; cancel its order instead",
                    ));
                }
                // It has ended before. Freeing again finishes what may have been cut off.
                Err(_) => return self.free_entry(show_id, &entry).await,
            };
            match self.store.replace_buyer(show_id, account, &next).await? {
                Replaced::Done => {
                    metrics::counter!("onsale_holds_total", "result" => "released").increment(1);
                    count_hold_end(&entry, &next);
                    return self.free_entry(show_id, &entry).await;
                }
                Replaced::Lost(current) => buyer = current,
            }
        }
        Err(Error::Unavailable)
    }

    /// Frees the cells of an entry that has ended. The id never claims again, so its
    /// exact cells can belong to nothing else.
    pub(crate) async fn free_entry(&self, show_id: ShowId, entry: &Entry) -> Result<()> {
        let show = self.recent_show(show_id).await?;
        let layout = self.layout_of(&show).await?;
        let cell = Cell {
            expiry: entry.expiry,
            hold: entry.hold,
        };
        self.free_cells(show_id, &layout, &entry.places, cell).await
    }
}
