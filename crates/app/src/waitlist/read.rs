//! Where somebody stands on a waitlist. Somebody else's entry does not exist for the
//! caller: the one that is read is kept under the caller's own account.

use onsale_domain::buyer::{Buyer, EntryState};
use onsale_domain::ids::{HoldId, ShowId, WaitlistId};
use onsale_domain::layout::Layout;
use onsale_domain::money::Money;
use onsale_domain::show::Show;
use onsale_domain::time::Millis;
use onsale_domain::waitlist::{Offer, Outcome, State, WaitlistEntry};

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::holds::HoldView;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaitlistStatus {
    Waiting,
    Offered,
    Taken,
    Lapsed,
}

/// An entry as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitlistView {
    pub id: WaitlistId,
    pub status: WaitlistStatus,
    /// While waiting: 1 is the next.
    pub position: Option<u64>,
    pub offer: Option<OfferView>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferView {
    pub hold_id: HoldId,
    pub seats: Vec<(String, Money)>,
    /// Those of the seats that others put back, with what was paid for them.
    pub face_values: Vec<(String, Money)>,
    pub expires_at: Millis,
}

/// What an organiser sees of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineCounts {
    pub waiting: u64,
    /// The places that all of them wait for.
    pub places: u64,
    pub offered: u64,
}

impl App {
    pub async fn waitlist_entry(
        &self,
        caller: &Caller,
        show_id: ShowId,
        id: WaitlistId,
    ) -> Result<WaitlistView> {
        let own = self.own_waitlist(caller, show_id).await?;
        let entry = own.into_iter().find(|view| view.id == id);
        entry.ok_or(Error::NotFound("waitlist entry"))
    }

    /// The caller's entries in a show, the current one first. Entries that were left are
    /// gone.
    pub async fn own_waitlist(
        &self,
        caller: &Caller,
        show_id: ShowId,
    ) -> Result<Vec<WaitlistView>> {
        let show = self.recent_show(show_id).await?;
        let layout = self.layout_of(&show).await?;
        let buyer = self.own_buyer(caller, show_id).await?;
        let stored = self
            .store
            .read::<WaitlistEntry>((show_id, caller.account))
            .await?;
        let Some(stored) = stored else {
            return Ok(Vec::new());
        };
        let entry = stored.value;
        let mut views = Vec::new();
        views.extend(self.view_of(&entry, &show, &layout, &buyer).await?);
        let earlier = entry.earlier.iter().rev();
        views.extend(earlier.filter_map(|earlier| ended(earlier.id, earlier.outcome)));
        Ok(views)
    }

    async fn view_of(
        &self,
        entry: &WaitlistEntry,
        show: &Show,
        layout: &Layout,
        buyer: &Buyer,
    ) -> Result<Option<WaitlistView>> {
        let seen = match &entry.state {
            State::Waiting => Seen::Waiting,
            State::Offered(offer) => seen_offer(offer, buyer, self.now()),
            State::Ended(outcome) => return Ok(ended(entry.id, *outcome)),
        };
        let mut view = WaitlistView {
            id: entry.id,
            status: WaitlistStatus::Waiting,
            position: None,
            offer: None,
        };
        match seen {
            Seen::Waiting => {
                let line = self.recent_line(show.id).await?;
                let ahead = line.partition_point(|turn| *turn < entry.turn());
                view.position = Some(ahead as u64 + 1);
            }
            Seen::Ended(outcome) => return Ok(ended(entry.id, outcome)),
            Seen::Offered(hold) => {
                let hold = HoldView::of(hold, show, layout, self.now());
                view.status = WaitlistStatus::Offered;
                view.offer = Some(OfferView {
                    hold_id: hold.hold_id,
                    seats: hold.seats,
                    face_values: hold.face_values,
                    expires_at: hold.expires_at,
                });
            }
        }
        Ok(Some(view))
    }

    /// How long the line of a show of the caller is.
    pub async fn waitlist_counts(&self, caller: &Caller, show_id: ShowId) -> Result<LineCounts> {
        self.check_session(caller).await?;
        self.own_show(caller, show_id).await?;
        let waiting = self.store.waiting(show_id).await?;
        let wanted = waiting.iter().map(|w| u64::from(w.wish.quantity));
        Ok(LineCounts {
            waiting: waiting.len() as u64,
            places: wanted.sum(),
            offered: self.store.offered(show_id).await?.len() as u64,
        })
    }
}

enum Seen<'a> {
    Waiting,
    Offered(&'a onsale_domain::buyer::Entry),
    Ended(Outcome),
}

/// What an offer is to its owner follows from its hold: whoever settles the entry may
/// come a minute later. Until the hold is recorded nothing was promised.
fn seen_offer<'a>(offer: &Offer, buyer: &'a Buyer, now: Millis) -> Seen<'a> {
    let Some(hold) = buyer.entry(offer.hold_id) else {
        return match offer.told {
            true => Seen::Ended(Outcome::Lapsed),
            false => Seen::Waiting,
        };
    };
    match hold.state_at(now) {
        EntryState::Held | EntryState::Paying => Seen::Offered(hold),
        EntryState::Sold => Seen::Ended(Outcome::Taken),
        EntryState::Released | EntryState::Expired | EntryState::Undone => {
            Seen::Ended(Outcome::Lapsed)
        }
    }
}

fn ended(id: WaitlistId, outcome: Outcome) -> Option<WaitlistView> {
    let status = match outcome {
        Outcome::Taken => WaitlistStatus::Taken,
        Outcome::Lapsed => WaitlistStatus::Lapsed,
        Outcome::Left => return None,
    };
    Some(WaitlistView {
        id,
        status,
        position: None,
        offer: None,
    })
}
