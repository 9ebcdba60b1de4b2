//! The buyer item: where the life of a buyer's holds in one show is recorded.
//!
//! The cap is the sum over live entries, so there is no counter that could drift. A
//! hold id lives once: ended ids stay listed with their request hash and answer, and
//! never claim again.

use serde::{Deserialize, Serialize};

use crate::ids::HoldId;
use crate::layout::PlaceIndex;
use crate::money::Cents;
use crate::request_hash::RequestHash;
use crate::room::opaque::PassId;
use crate::ticket_return::Resale;
use crate::time::{CLOCK_SKEW_MS, Millis};

/// How long an ended hold is remembered when its checkout never began.
pub const ENDED_KEPT_MS: u64 = 24 * 3_600_000;
/// More ended holds than this in 24 hours is no person; new ones are refused until
/// the oldest are forgotten. It bounds the item at a few kilobytes.
pub const MAX_ENDED: usize = 128;
/// Holds whose checkout began stay listed for the life of the show. So many of them,
/// 60 bytes each, are no person and would fill the item.
pub const MAX_CHECKOUTS: usize = 256;
/// How much longer a hold lasts once its checkout begins.
pub const PAY_MS: u64 = 5 * 60_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum EntryState {
    Held,
    Paying,
    Sold,
    Released,
    Expired,
    /// Paid and given back, or undone after checkout began.
    Undone,
}

impl EntryState {
    pub fn is_ended(self) -> bool {
        matches!(self, Self::Released | Self::Expired | Self::Undone)
    }
}

/// One hold: what was answered, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub hold: HoldId,
    pub state: EntryState,
    /// The expiry in the hold's cells.
    pub expiry: Millis,
    pub request: RequestHash,
    pub places: Vec<PlaceIndex>,
    /// One price for each place, or a single one when all are equal.
    prices: Vec<Cents>,
    /// The point of the show's price log that they come from, if prices follow demand.
    /// The codec keeps it apart: most shows have none.
    #[serde(skip)]
    pub point: Option<u32>,
    /// Those of the places that others put back, and what was paid for them: they cost that,
    /// and not what the point says. Kept apart as well.
    #[serde(skip)]
    pub face_values: Vec<(PlaceIndex, Cents)>,
    /// The pass under which it began; a confirmed order closes it. Kept apart as well.
    #[serde(skip)]
    pub pass: Option<PassId>,
    /// How often its checkout began: the number of the last attempt to pay.
    pub attempt: u32,
    /// When the state was last changed.
    pub changed: Millis,
}

impl Entry {
    pub fn held(
        hold: HoldId,
        expiry: Millis,
        request: RequestHash,
        places: Vec<PlaceIndex>,
        prices: Vec<Cents>,
        now: Millis,
    ) -> Self {
        let state = EntryState::Held;
        Self {
            hold,
            state,
            expiry,
            request,
            places,
            prices: shortened(prices),
            point: None,
            face_values: Vec::new(),
            pass: None,
            attempt: 0,
            changed: now,
        }
    }

    /// The same at prices of this point of the log.
    pub fn at_point(self, point: Option<u32>) -> Self {
        Self { point, ..self }
    }

    /// The same, where these places are bought from others: each costs what was paid for it,
    /// whatever the price is by now.
    pub fn buying(mut self, resales: &[Resale]) -> Self {
        let bought = resales.iter().filter(|r| self.places.contains(&r.place));
        self.face_values = bought.map(|r| (r.place, r.price)).collect();
        let asked = |(place, listed)| self.face_value(place).unwrap_or(listed);
        self.prices = shortened(self.priced().map(asked).collect());
        self
    }

    /// What was paid for a place that somebody put back.
    pub fn face_value(&self, place: PlaceIndex) -> Option<Cents> {
        let found = self.face_values.iter().find(|(known, _)| *known == place);
        found.map(|(_, paid)| *paid)
    }

    /// The same, begun under this pass.
    pub fn under_pass(self, pass: Option<PassId>) -> Self {
        Self { pass, ..self }
    }

    /// Each place with its price.
    pub fn priced(&self) -> impl Iterator<Item = (PlaceIndex, Cents)> {
        let single = self.prices.first().copied().unwrap_or_default();
        self.places
            .iter()
            .enumerate()
            .map(move |(i, place)| (*place, self.prices.get(i).copied().unwrap_or(single)))
    }

    pub fn total(&self) -> Cents {
        self.priced().map(|(_, price)| price).sum()
    }

    fn drop_places(&mut self, gone: &[PlaceIndex]) {
        let kept = self.priced().filter(|(place, _)| !gone.contains(place));
        let (places, prices): (Vec<_>, Vec<_>) = kept.unzip();
        (self.places, self.prices) = (places, shortened(prices));
        self.face_values.retain(|(place, _)| !gone.contains(place));
    }

    /// The state as its owner sees it: a held entry has expired once its time is up,
    /// message or not.
    pub fn state_at(&self, now: Millis) -> EntryState {
        match self.state {
            EntryState::Held if now >= self.expiry => EntryState::Expired,
            state => state,
        }
    }

    /// The expiry that was answered when the hold began, before checkout extended it.
    pub fn first_expiry(&self) -> Millis {
        match self.attempt {
            0 => self.expiry,
            _ => self.expiry.saturating_sub(PAY_MS),
        }
    }

    /// Until when it can be paid: extended once, when checkout first begins.
    pub fn pay_until(&self) -> Millis {
        match self.attempt {
            0 => self.expiry + PAY_MS,
            _ => self.expiry,
        }
    }

    /// Whether its places count against the cap. A held entry counts for the skew longer
    /// than its owner has it: on a slower clock it may still be paid for.
    fn counts(&self, now: Millis) -> bool {
        match self.state {
            EntryState::Held => now <= self.expiry + CLOCK_SKEW_MS,
            EntryState::Paying | EntryState::Sold => true,
            EntryState::Released | EntryState::Expired | EntryState::Undone => false,
        }
    }

    /// Whether an order was ever written for it. Such an id stays listed for good.
    fn has_order(&self) -> bool {
        self.attempt > 0 || self.state == EntryState::Undone
    }

    /// When it ended, if it did: a lapsed hold when its time was up, message or not.
    fn ended_at(&self, now: Millis) -> Option<Millis> {
        match self.state_at(now) {
            EntryState::Expired if self.state == EntryState::Held => Some(self.expiry),
            state if state.is_ended() => Some(self.changed),
            _ => None,
        }
    }

    fn is_forgotten(&self, now: Millis) -> bool {
        let ended = self.ended_at(now);
        !self.has_order() && ended.is_some_and(|at| at + ENDED_KEPT_MS < now)
    }
}

/// A single price where all are equal.
fn shortened(mut prices: Vec<Cents>) -> Vec<Cents> {
    if prices.windows(2).all(|pair| pair[0] == pair[1]) {
        prices.truncate(1);
    }
    prices
}

/// Cells of a hold that is being given back. Nobody may record them any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenBack {
    pub hold: HoldId,
    pub expiry: Millis,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Buyer {
    /// Zero: not stored yet.
    pub version: u64,
    pub entries: Vec<Entry>,
    pub given_back: Vec<GivenBack>,
    /// The pass of the last hold that began under one. A hold under another closes it.
    pub last_pass: Option<PassId>,
}

/// Why a hold cannot be recorded, or begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The id is listed: this is what was answered.
    AlreadyRecorded(Box<Entry>),
    /// The same key came with another request.
    OtherRequest,
    /// The cap would be exceeded.
    OverCap,
    /// Too many holds ended in the last day; the first is forgotten at this time.
    TooManyEnded(Millis),
    /// Too many checkouts of this buyer in this show.
    TooManyCheckouts,
    /// The cells are being given back; claim anew.
    GivenBack,
}

/// Why an entry cannot move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveRefusal {
    Unknown,
    /// The hold is in this state, from which the move is not allowed.
    Is(EntryState),
    NotYetLapsed,
    /// It has moved there before.
    AlreadyDone,
}

impl Buyer {
    pub fn entry(&self, hold: HoldId) -> Option<&Entry> {
        self.entries.iter().find(|e| e.hold == hold)
    }

    /// Entries whose buyer may still pay, or is paying, newest first: a new one is recorded
    /// after all others.
    pub fn open_entries(&self, now: Millis) -> impl Iterator<Item = &Entry> {
        let open = |state| matches!(state, EntryState::Held | EntryState::Paying);
        let entries = self.entries.iter().rev();
        entries.filter(move |entry| open(entry.state_at(now)))
    }

    /// Places that count against the cap.
    pub fn live_places(&self, now: Millis) -> usize {
        self.entries
            .iter()
            .filter(|e| e.counts(now))
            .map(|e| e.places.len())
            .sum()
    }

    /// Whether a request may go on to claim: not recorded before, under the cap.
    pub fn may_begin(
        &self,
        hold: HoldId,
        request: RequestHash,
        quantity: usize,
        cap: usize,
        now: Millis,
    ) -> Result<(), Refusal> {
        if let Some(entry) = self.entry(hold) {
            return Err(if entry.request == request {
                Refusal::AlreadyRecorded(Box::new(entry.clone()))
            } else {
                Refusal::OtherRequest
            });
        }
        if self.live_places(now) + quantity > cap {
            return Err(Refusal::OverCap);
        }
        let ended: Vec<_> = self
            .entries
            .iter()
            .filter(|e| e.state_at(now).is_ended() && !e.has_order() && !e.is_forgotten(now))
            .collect();
        if ended.len() >= MAX_ENDED {
            let first = ended.iter().filter_map(|e| e.ended_at(now)).min();
            let first = first.unwrap_or(now);
            return Err(Refusal::TooManyEnded(first + ENDED_KEPT_MS));
        }
        if self.entries.iter().filter(|e| e.has_order()).count() >= MAX_CHECKOUTS {
            return Err(Refusal::TooManyCheckouts);
        }
        Ok(())
    }

    /// The buyer with this claim recorded.
    pub fn record(&self, entry: Entry, cap: usize, now: Millis) -> Result<Self, Refusal> {
        self.may_begin(entry.hold, entry.request, entry.places.len(), cap, now)?;
        if self.is_given_back(entry.hold, entry.expiry) {
            return Err(Refusal::GivenBack);
        }
        let mut next = self.next(now);
        next.entries.push(entry);
        Ok(next)
    }

    /// The buyer with the pass noted under which a hold began.
    pub fn under_pass(self, pass: Option<PassId>) -> Self {
        Self {
            last_pass: pass.or(self.last_pass),
            ..self
        }
    }

    pub fn is_given_back(&self, hold: HoldId, expiry: Millis) -> bool {
        self.given_back.contains(&GivenBack { hold, expiry })
    }

    /// The buyer with these cells listed as given back; written before they are freed.
    pub fn give_back(&self, hold: HoldId, expiry: Millis, now: Millis) -> Self {
        let mut next = self.next(now);
        if !self.is_given_back(hold, expiry) {
            next.given_back.push(GivenBack { hold, expiry });
        }
        next
    }

    /// The buyer gives a hold up. A lapsed hold ends as expired.
    pub fn release(&self, hold: HoldId, now: Millis) -> Result<Self, MoveRefusal> {
        let entry = self.entry(hold).ok_or(MoveRefusal::Unknown)?;
        match (entry.state, entry.state_at(now)) {
            (EntryState::Held, EntryState::Expired) => {
                Ok(self.moved(hold, EntryState::Expired, now))
            }
            (EntryState::Held, _) => Ok(self.moved(hold, EntryState::Released, now)),
            (state, _) => Err(MoveRefusal::Is(state)),
        }
    }

    /// Time is up: only a held entry that lapsed by more than the skew ends.
    pub fn expire(&self, hold: HoldId, now: Millis) -> Result<Self, MoveRefusal> {
        let entry = self.entry(hold).ok_or(MoveRefusal::Unknown)?;
        match entry.state {
            EntryState::Held if entry.expiry + CLOCK_SKEW_MS < now => {
                Ok(self.moved(hold, EntryState::Expired, now))
            }
            EntryState::Held => Err(MoveRefusal::NotYetLapsed),
            state => Err(MoveRefusal::Is(state)),
        }
    }

    /// An attempt to pay begins: the entry is locked, under an expiry that is extended
    /// the first time only, so that refused attempts cannot hold a place for ever. The
    /// number of the attempt must be a new one: a worker that comes back from an old
    /// attempt locks nothing.
    pub fn lock(&self, hold: HoldId, attempt: u32, now: Millis) -> Result<Self, MoveRefusal> {
        let entry = self.entry(hold).ok_or(MoveRefusal::Unknown)?;
        match entry.state_at(now) {
            EntryState::Held if attempt > entry.attempt => {
                let extended = entry.pay_until();
                let mut next = self.moved(hold, EntryState::Paying, now);
                if let Some(entry) = next.entry_mut(hold) {
                    entry.expiry = extended;
                    entry.attempt = attempt;
                }
                Ok(next)
            }
            EntryState::Paying | EntryState::Sold if attempt == entry.attempt => {
                Err(MoveRefusal::AlreadyDone)
            }
            state => Err(MoveRefusal::Is(state)),
        }
    }

    /// The attempt was refused: the hold is its buyer's again, until the same expiry.
    pub fn decline(&self, hold: HoldId, attempt: u32, now: Millis) -> Result<Self, MoveRefusal> {
        let entry = self.entry(hold).ok_or(MoveRefusal::Unknown)?;
        match entry.state {
            EntryState::Paying if attempt == entry.attempt => {
                Ok(self.moved(hold, EntryState::Held, now))
            }
            EntryState::Held if attempt == entry.attempt => Err(MoveRefusal::AlreadyDone),
            state => Err(MoveRefusal::Is(state)),
        }
    }

    pub fn sell(&self, hold: HoldId, attempt: u32, now: Millis) -> Result<Self, MoveRefusal> {
        let entry = self.entry(hold).ok_or(MoveRefusal::Unknown)?;
        match entry.state {
            EntryState::Paying if attempt == entry.attempt => {
                Ok(self.moved(hold, EntryState::Sold, now))
            }
            EntryState::Sold => Err(MoveRefusal::AlreadyDone),
            state => Err(MoveRefusal::Is(state)),
        }
    }

    /// Somebody else has bought some of the places: they count for this buyer no longer.
    pub fn resell(
        &self,
        hold: HoldId,
        places: &[PlaceIndex],
        now: Millis,
    ) -> Result<Self, MoveRefusal> {
        let entry = self.entry(hold).ok_or(MoveRefusal::Unknown)?;
        if !entry.places.iter().any(|place| places.contains(place)) {
            return Err(MoveRefusal::AlreadyDone);
        }
        match entry.state {
            EntryState::Sold => {
                let mut next = self.moved(hold, EntryState::Sold, now);
                if let Some(entry) = next.entry_mut(hold) {
                    entry.drop_places(places);
                }
                Ok(next)
            }
            state => Err(MoveRefusal::Is(state)),
        }
    }

    /// A sale or a checkout that is taken back ends the hold for good. A held entry ends
    /// as well: a worker that comes back late must not be able to lock it.
    pub fn undo(&self, hold: HoldId, now: Millis) -> Result<Self, MoveRefusal> {
        let entry = self.entry(hold).ok_or(MoveRefusal::Unknown)?;
        match entry.state.is_ended() {
            false => Ok(self.moved(hold, EntryState::Undone, now)),
            true => Err(MoveRefusal::AlreadyDone),
        }
    }

    fn moved(&self, hold: HoldId, state: EntryState, now: Millis) -> Self {
        let mut next = self.next(now);
        if let Some(entry) = next.entry_mut(hold) {
            entry.state = state;
            entry.changed = now;
        }
        next
    }

    fn entry_mut(&mut self, hold: HoldId) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|e| e.hold == hold)
    }

    /// The next version, without what may be forgotten.
    fn next(&self, now: Millis) -> Self {
        Self {
            version: self.version + 1,
            entries: self
                .entries
                .iter()
                .filter(|e| !e.is_forgotten(now))
                .cloned()
                .collect(),
            // Cells that lapsed cannot be recorded any more: a minute more than the
            // skew keeps the rule for every clock.
            given_back: self
                .given_back
                .iter()
                .filter(|g| now <= g.expiry + 60_000)
                .copied()
                .collect(),
            last_pass: self.last_pass,
        }
    }
}

#[cfg(test)]
#[path = "buyer_tests.rs"]
mod tests;
