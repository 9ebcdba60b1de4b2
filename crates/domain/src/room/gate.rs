//! A gate: the one place that decides whether a lot gets a pass.
//!
//! There are eight per show, and a lot always meets the same one. Whoever the line has
//! reached stands at its door and knocks; when there is a slot for them it is kept for a
//! moment, and they are told that they are admitted. A gate stores what it promised, the
//! entry of a lot, and its [`Books`], before a promise is told, a pass is signed or a report
//! is sent; so after a crash it knows of everything that can be in anybody's hands.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use super::allotment::{Grant, Report};
use super::frontier::Place;
use super::opaque::{Lot, PassId};
use super::pass::MAX_PASS_MS;
use crate::time::{CLOCK_SKEW_MS, Millis};

pub const GATES: usize = 8;
/// How long somebody at the door counts as being there. They are told to come back within
/// a second or two.
const WAITING_MS: u64 = 4_000;
const MAX_WAITING: usize = 10_000;
/// How long `admitted` is a promise.
pub const RESERVED_MS: u64 = 10_000;
/// The promise runs from when it is heard, so the slot is kept a little longer.
const RESERVED_GRACE_MS: u64 = 2_000;
/// Somebody who lets a promise lapse gets the next one after this, and after twice as long
/// each further time: a page that asks and never enters must not keep a slot empty.
const REST_MS: u64 = 10_000;
const MOST_RESTS: u32 = 4;
/// How many of those at the door are named in a report, the first ones. The controller
/// calls that many a step at each gate.
const REPORTED_KNOCKERS: usize = 512;
/// How many ends of passes a report names.
const REPORTED_ENDS: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GateIndex(u8);

impl GateIndex {
    pub fn of_lot(lot: Lot) -> Self {
        Self::of_bits(lot.0[15])
    }

    pub(super) fn of_bits(byte: u8) -> Self {
        Self(byte & 7)
    }

    pub fn all() -> impl Iterator<Item = Self> {
        (0..GATES as u8).map(Self)
    }

    pub fn number(self) -> u8 {
        self.0
    }

    pub(super) fn index(self) -> usize {
        usize::from(self.0 & 7)
    }
}

/// What became of a lot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    pub pass: PassId,
    pub start: Millis,
    /// The latest expiry that was ever signed.
    pub expires: Millis,
    pub closed: bool,
}

impl Entry {
    /// Until when the pass may be taken for valid somewhere: a function accepts it for the
    /// skew longer than it was signed for, by a clock that may be behind by the skew.
    fn counts_until(&self) -> Millis {
        self.expires + 2 * CLOCK_SKEW_MS
    }
}

/// What a gate stores besides its entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Books {
    pub gate: GateIndex,
    /// The latest time seen. Slots that came free by it stay free after a restart.
    clock: Millis,
    version: u64,
    slots: u32,
    entries: u64,
    entered: u64,
    returned: u64,
    ended: u64,
    reports: u64,
}

/// What somebody with a ticket asks of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enter {
    pub lot: Lot,
    pub place: Place,
    pub pass_seconds: u32,
    /// Whether the line has reached them. If not, only the pass they have is renewed, and
    /// the slot they were promised is theirs: whoever shops goes on shopping, however the
    /// line stands.
    pub may_begin: bool,
}

/// What somebody with a ticket asks who wants to know, and not to enter yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Knock {
    pub lot: Lot,
    pub place: Place,
    pub may_begin: bool,
}

/// What somebody who knocks is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Knocked {
    /// They have a live pass.
    Inside {
        expires: Millis,
    },
    /// A slot is theirs for [`RESERVED_MS`].
    Admitted,
    /// They are reached, and there is no slot for them yet.
    Door,
    Spent,
    NotYet,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entered {
    pub pass: PassId,
    pub issued: Millis,
    pub expires: Millis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum NotEntered {
    #[error("there is no slot yet; wait at the door")]
    Door,
    #[error("this ticket has been used")]
    Spent,
    #[error("there is no pass to renew, and it is not the turn of this ticket")]
    NotYet,
}

/// A slot that is kept for a lot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reservation {
    /// When its owner was told first.
    told: Millis,
    until: Millis,
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    place: Place,
    seen: Millis,
}

/// Somebody who let promises lapse.
#[derive(Debug, Clone, Copy)]
struct Resting {
    until: Millis,
    times: u32,
}

#[derive(Debug, Clone)]
pub struct Gate {
    books: Books,
    entries: BTreeMap<Lot, Entry>,
    /// Entries that take a slot, by the time they cease to.
    live: BTreeSet<(Millis, Lot)>,
    lot_of: BTreeMap<PassId, Lot>,
    reserved: BTreeMap<Lot, Reservation>,
    /// Reservations that have lapsed, until somebody has removed them from the disk.
    lapsed: Vec<Lot>,
    /// Those at the door. Neither they nor what follows is stored: they come again, and so
    /// does the next grant.
    waiting: BTreeMap<Lot, Waiting>,
    order: BTreeSet<(Place, Lot)>,
    resting: BTreeMap<Lot, Resting>,
    turn: Option<Place>,
    step: u64,
    counts: Counts,
}

/// What happened here since this gate was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Lots that came to the door.
    pub knocked: u64,
    /// Passes that were given back before they lapsed.
    pub left: u64,
    pub lapsed: u64,
    pub renewed: u64,
}

impl Gate {
    pub fn new(gate: GateIndex) -> Self {
        let books = Books {
            gate,
            clock: Millis(0),
            version: 0,
            slots: 0,
            entries: 0,
            entered: 0,
            returned: 0,
            ended: 0,
            reports: 0,
        };
        Self::restore(books, BTreeMap::new(), BTreeMap::new())
    }

    /// The gate as it was stored.
    pub fn restore(
        books: Books,
        entries: BTreeMap<Lot, Entry>,
        reserved: BTreeMap<Lot, Reservation>,
    ) -> Self {
        let (mut live, mut lot_of) = (BTreeSet::new(), BTreeMap::new());
        for (lot, entry) in &entries {
            if !entry.closed && entry.counts_until() > books.clock {
                live.insert((entry.counts_until(), *lot));
            }
            lot_of.insert(entry.pass, *lot);
        }
        Self {
            books,
            entries,
            live,
            lot_of,
            reserved,
            lapsed: Vec::new(),
            waiting: BTreeMap::new(),
            order: BTreeSet::new(),
            resting: BTreeMap::new(),
            turn: None,
            step: 0,
            counts: Counts::default(),
        }
    }

    pub fn books(&self) -> &Books {
        &self.books
    }

    pub fn entry(&self, lot: Lot) -> Option<&Entry> {
        self.entries.get(&lot)
    }

    pub fn reservation(&self, lot: Lot) -> Option<&Reservation> {
        self.reserved.get(&lot)
    }

    /// Lots whose reservations lapsed since this was asked last: store that they are gone.
    pub fn take_lapsed(&mut self) -> Vec<Lot> {
        std::mem::take(&mut self.lapsed)
    }

    /// What somebody at the door is told. When it is `Admitted`, store the books and the
    /// reservation before telling.
    pub fn knock(&mut self, knock: &Knock, now: Millis) -> Knocked {
        let now = self.move_clock(now);
        let lot = knock.lot;
        if let Some(entry) = self.entries.get(&lot) {
            if entry.closed || now >= entry.start + MAX_PASS_MS {
                return Knocked::Spent;
            }
            if entry.expires > now {
                return Knocked::Inside {
                    expires: entry.expires,
                };
            }
        }
        if let Some(reserved) = self.reserved.get_mut(&lot) {
            // The promise is renewed while it lasts, and then kept until its end.
            if now >= reserved.told + RESERVED_MS {
                return Knocked::Door;
            }
            reserved.until = now + RESERVED_MS + RESERVED_GRACE_MS;
            return Knocked::Admitted;
        }
        let may_come_back = self.entries.contains_key(&lot);
        if !knock.may_begin && !may_come_back {
            return Knocked::NotYet;
        }
        if self.resting.get(&lot).is_some_and(|rest| rest.until > now) {
            return Knocked::Door;
        }
        self.wait(lot, knock.place, now);
        if !self.may_take(lot, knock.place) {
            return Knocked::Door;
        }
        self.stop_waiting(lot);
        let until = now + RESERVED_MS + RESERVED_GRACE_MS;
        self.reserved.insert(lot, Reservation { told: now, until });
        Knocked::Admitted
    }

    /// A pass for this lot: a new one, or the one it has, renewed. Store the books, the
    /// entry and the reservation, which is gone, before signing.
    pub fn enter(
        &mut self,
        wanted: &Enter,
        now: Millis,
        entropy: [u8; 16],
    ) -> Result<Entered, NotEntered> {
        let now = self.move_clock(now);
        let lot = wanted.lot;
        let mut entry = self.decide(wanted, now, entropy)?;
        self.stop_waiting(lot);
        self.resting.remove(&lot);
        self.reserved.remove(&lot);
        let renewed = now + u64::from(wanted.pass_seconds) * 1_000;
        // A shorter `pass_seconds` cannot take back what was signed.
        let expires = renewed.min(entry.start + MAX_PASS_MS).max(entry.expires);
        self.live.remove(&(entry.counts_until(), lot));
        entry.expires = expires;
        self.live.insert((entry.counts_until(), lot));
        if self.entries.insert(lot, entry).is_none() {
            self.books.entered += 1;
            self.lot_of.insert(entry.pass, lot);
        } else {
            self.counts.renewed += 1;
        }
        Ok(Entered {
            pass: entry.pass,
            issued: now,
            expires,
        })
    }

    fn decide(
        &mut self,
        wanted: &Enter,
        now: Millis,
        entropy: [u8; 16],
    ) -> Result<Entry, NotEntered> {
        let lot = wanted.lot;
        let known = self.entries.get(&lot).copied();
        if let Some(entry) = known {
            if entry.closed || now >= entry.start + MAX_PASS_MS {
                return Err(NotEntered::Spent);
            }
            if entry.counts_until() > now {
                return Ok(entry);
            }
        }
        if !self.reserved.contains_key(&lot) {
            if !wanted.may_begin && known.is_none() {
                return Err(NotEntered::NotYet);
            }
            self.wait(lot, wanted.place, now);
            if !self.may_take(lot, wanted.place) {
                return Err(NotEntered::Door);
            }
        }
        Ok(known.unwrap_or_else(|| Entry {
            pass: PassId::at_gate(self.books.gate, entropy),
            start: now,
            expires: now,
            closed: false,
        }))
    }

    fn wait(&mut self, lot: Lot, place: Place, now: Millis) {
        let is_full = self.waiting.len() >= MAX_WAITING;
        let waiting = Waiting { place, seen: now };
        match self.waiting.get_mut(&lot) {
            // Whoever came before their draw was known has learned their place since.
            Some(known) => {
                self.order.remove(&(known.place, lot));
                *known = waiting;
            }
            None if is_full => return,
            None => {
                self.waiting.insert(lot, waiting);
                self.counts.knocked += 1;
            }
        }
        self.order.insert((place, lot));
    }

    fn stop_waiting(&mut self, lot: Lot) {
        if let Some(waiting) = self.waiting.remove(&lot) {
            self.order.remove(&(waiting.place, lot));
        }
    }

    /// Whether a slot is free for somebody at the door, after all who stand before them.
    fn may_take(&self, lot: Lot, place: Place) -> bool {
        let taken = self.taken() as u64;
        let slots = u64::from(self.books.slots).saturating_sub(taken);
        let used = self.books.entered + self.reserved.len() as u64;
        let room = slots.min(self.books.entries.saturating_sub(used));
        let is_called = self.turn.is_some_and(|turn| place <= turn);
        let before = self.order.range(..(place, lot));
        is_called && (before.take(room as usize).count() as u64) < room
    }

    /// Slots that passes and promises take.
    fn taken(&self) -> usize {
        self.live.len() + self.reserved.len()
    }

    /// Ends the pass of a lot and frees its slot at once, and the one that was promised when
    /// the pass had lapsed. Only once the cloud has recorded the pass as closed, or it would
    /// live on beside the next one.
    pub fn leave(&mut self, lot: Lot, now: Millis) -> Option<Entry> {
        self.move_clock(now);
        self.stop_waiting(lot);
        let entry = self.entries.get_mut(&lot)?;
        if self.live.remove(&(entry.counts_until(), lot)) {
            self.books.returned += 1;
            self.counts.left += 1;
        }
        entry.closed = true;
        self.reserved.remove(&lot);
        Some(*entry)
    }

    /// Takes over what the controller granted, and returns the lots whose entries changed:
    /// store them, and the books, before the next report.
    pub fn apply(&mut self, grant: &Grant, now: Millis) -> Vec<Lot> {
        self.move_clock(now);
        if grant.version > self.books.version {
            self.books.version = grant.version;
            self.books.slots = grant.slots;
        }
        self.books.entries = self.books.entries.max(grant.entries);
        if grant.step >= self.step {
            (self.step, self.turn) = (grant.step, grant.turn);
        }
        let mut changed = Vec::new();
        for (number, pass) in (grant.ended_from..).zip(&grant.ended) {
            // A gap means that an earlier grant was lost; it will be sent again.
            if number != self.books.ended {
                continue;
            }
            self.books.ended += 1;
            if let Some(lot) = self.lot_of.get(pass).copied() {
                self.leave(lot, now);
                changed.push(lot);
            }
        }
        changed
    }

    /// What to tell the controller, once the books are stored.
    pub fn report(&mut self, now: Millis) -> Report {
        let now = self.move_clock(now);
        let is_gone = |_: &Lot, waiting: &mut Waiting| waiting.seen + WAITING_MS <= now;
        for (lot, waiting) in self.waiting.extract_if(.., is_gone) {
            self.order.remove(&(waiting.place, lot));
        }
        self.resting
            .retain(|_, rest| rest.until + (REST_MS << MOST_RESTS) > now);
        self.books.reports += 1;
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let live = count(self.taken());
        let every = self.live.len().div_ceil(REPORTED_ENDS).max(1);
        let knockers = self.order.iter().take(REPORTED_KNOCKERS);
        Report {
            number: self.books.reports,
            version: self.books.version,
            slots: self.books.slots.max(live),
            live,
            entered: self.books.entered + self.reserved.len() as u64,
            waiting: count(self.waiting.len()),
            returned: self.books.returned,
            ended: self.books.ended,
            counts: self.counts,
            knockers: knockers.map(|(place, _)| *place).collect(),
            ends: self
                .live
                .iter()
                .step_by(every)
                .map(|(end, _)| *end)
                .collect(),
        }
    }

    /// Frees the slots of passes and promises that have lapsed. A clock that goes back
    /// changes nothing: what was freed may have been given away.
    fn move_clock(&mut self, now: Millis) -> Millis {
        let now = now.max(self.books.clock);
        self.books.clock = now;
        while self.live.first().is_some_and(|(until, _)| *until <= now) {
            self.live.pop_first();
            self.books.returned += 1;
            self.counts.lapsed += 1;
        }
        let lapsed = self.reserved.extract_if(.., |_, r| r.until <= now);
        for (lot, _) in lapsed.collect::<Vec<_>>() {
            let times = self.resting.get(&lot).map_or(0, |rest| rest.times);
            let until = now + (REST_MS << times);
            let times = (times + 1).min(MOST_RESTS);
            self.resting.insert(lot, Resting { until, times });
            self.lapsed.push(lot);
        }
        now
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
