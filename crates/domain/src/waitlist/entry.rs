//! One buyer's place in the line of a show.

use serde::{Deserialize, Serialize};

use crate::ids::{AccountId, HoldId, ShowId, WaitlistId};
use crate::layout::PlaceIndex;
use crate::request_hash::RequestHash;
use crate::ticket_return::{Promise, Resale};
use crate::time::Millis;

/// How long an offer can be taken, unless whoever runs the platform says otherwise.
pub const OFFER_MS: u64 = 30 * 60_000;
/// An offer that could not be carried out for this long is taken back and made anew: its
/// buyer is to have the time that they were promised.
const LATE_MS: u64 = 2 * 60_000;
/// Entries of one show that wait at the same time.
pub const MAX_WAITING: usize = 100_000;
/// Ended entries of one buyer in one show that are remembered.
const EARLIER_KEPT: usize = 8;

/// What somebody waits for: so many places, all or nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Wish {
    pub quantity: u32,
    /// Neighbours of one row, or places of one general section.
    pub together: bool,
    /// The numbers of the layout's sections that will do, rising; none: any will.
    pub sections: Vec<u8>,
}

impl Wish {
    pub fn takes(&self, section: usize) -> bool {
        self.sections.is_empty() || self.sections.iter().any(|s| usize::from(*s) == section)
    }
}

/// Places that are kept for somebody. It is stored before they are claimed, so that
/// whoever comes after a crash knows what was meant.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    pub hold_id: HoldId,
    pub places: Vec<PlaceIndex>,
    /// Those of them that are bought from somebody who put their ticket back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resales: Vec<Resale>,
    pub made_at: Millis,
    /// The expiry in the cells of the hold.
    pub expires_at: Millis,
    /// Whether it was announced, which it is once the hold is recorded.
    pub told: bool,
}

impl Offer {
    /// Its places that are nobody's.
    pub fn free_places(&self) -> Vec<PlaceIndex> {
        let resale = |place: &PlaceIndex| self.resales.iter().any(|r| r.place == *place);
        let mut places = self.places.clone();
        places.retain(|place| !resale(place));
        places
    }

    /// How tickets are kept for it before anybody pays.
    pub fn promise(&self) -> Promise {
        Promise {
            hold: self.hold_id,
            until: self.expires_at,
        }
    }

    /// Whether it is too late to carry it out as it was meant.
    pub fn is_late(&self, now: Millis) -> bool {
        now > self.made_at + LATE_MS || now >= self.expires_at
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Waiting,
    Offered(Offer),
    Ended(Outcome),
}

/// How an entry ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The offer was paid.
    Taken,
    /// The offer was let go, or the show is over or cancelled.
    Lapsed,
    /// The buyer left.
    Left,
}

/// The one entry of a buyer in a show, under their account: there cannot be two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitlistEntry {
    pub id: WaitlistId,
    pub show_id: ShowId,
    pub account: AccountId,
    pub wish: Wish,
    /// The line is ordered by this, then by id.
    pub joined: Millis,
    /// The place in the line that was answered on joining.
    pub position: u64,
    pub request: RequestHash,
    /// How many offers were begun. Each has a hold of its own.
    pub attempt: u32,
    pub state: State,
    pub changed: Millis,
    /// What this buyer waited for before, the latest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Earlier>,
}

/// What is remembered of an entry that has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earlier {
    pub id: WaitlistId,
    pub request: RequestHash,
    pub position: u64,
    pub outcome: Outcome,
}

/// An entry as the line shows it: all that matching needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    pub joined: Millis,
    pub id: WaitlistId,
    pub account: AccountId,
    pub wish: Wish,
}

impl Waiting {
    /// The order of the line: who joined first, and by id within a millisecond.
    pub fn turn(&self) -> (Millis, WaitlistId) {
        (self.joined, self.id)
    }
}

impl WaitlistEntry {
    pub fn turn(&self) -> (Millis, WaitlistId) {
        (self.joined, self.id)
    }

    pub fn is_waiting(&self) -> bool {
        self.state == State::Waiting
    }

    pub fn offer(&self) -> Option<&Offer> {
        match &self.state {
            State::Offered(offer) => Some(offer),
            State::Waiting | State::Ended(_) => None,
        }
    }

    pub fn outcome(&self) -> Option<Outcome> {
        match self.state {
            State::Ended(outcome) => Some(outcome),
            State::Waiting | State::Offered(_) => None,
        }
    }

    /// As the line shows it, while it waits.
    pub fn waiting(&self) -> Option<Waiting> {
        self.is_waiting().then(|| Waiting {
            joined: self.joined,
            id: self.id,
            account: self.account,
            wish: self.wish.clone(),
        })
    }

    /// The new entry that follows this one, which has ended.
    pub fn followed_by(&self, next: Self) -> Self {
        let mut earlier = self.earlier.clone();
        earlier.extend(self.outcome().map(|outcome| Earlier {
            id: self.id,
            request: self.request,
            position: self.position,
            outcome,
        }));
        let forgotten = earlier.len().saturating_sub(EARLIER_KEPT);
        earlier.drain(..forgotten);
        Self { earlier, ..next }
    }

    fn in_state(&self, state: State, now: Millis) -> Self {
        Self {
            state,
            changed: now,
            ..self.clone()
        }
    }

    /// The next offer begins: these places are meant for this buyer.
    /// `resales` are those of them that others put back.
    pub fn offered(
        &self,
        places: Vec<PlaceIndex>,
        resales: Vec<Resale>,
        now: Millis,
        offer_ms: u64,
    ) -> Self {
        let attempt = self.attempt + 1;
        let offer = Offer {
            hold_id: HoldId::for_offer(self.id, attempt),
            places,
            resales,
            made_at: now,
            expires_at: now + offer_ms,
            told: false,
        };
        Self {
            attempt,
            ..self.in_state(State::Offered(offer), now)
        }
    }

    /// The offer was announced.
    pub fn told(&self, now: Millis) -> Self {
        match &self.state {
            State::Offered(offer) => {
                let told = true;
                let offer = offer.clone();
                self.in_state(State::Offered(Offer { told, ..offer }), now)
            }
            State::Waiting | State::Ended(_) => self.clone(),
        }
    }

    /// The offer came to nothing through no fault of the buyer, who keeps their turn.
    pub fn back_in_line(&self, now: Millis) -> Self {
        self.in_state(State::Waiting, now)
    }

    pub fn ended(&self, outcome: Outcome, now: Millis) -> Self {
        self.in_state(State::Ended(outcome), now)
    }

    /// What the hold of the current offer stands for.
    pub fn offer_request(&self) -> RequestHash {
        let mut body = self.id.as_bytes().to_vec();
        body.extend(self.attempt.to_be_bytes());
        RequestHash::of(&body)
    }
}
