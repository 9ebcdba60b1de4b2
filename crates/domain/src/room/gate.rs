//! A gate: the one place that decides whether a lot gets a pass.
//!
//! There are eight per show, and a lot always meets the same one. A gate stores the entry
//! of a lot, and its [`Books`], before a pass is signed or a report is sent; so after a
//! crash it knows of every pass that can be in anybody's hands.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use super::allotment::{Grant, Report};
use super::opaque::{Lot, PassId};
use super::pass::MAX_PASS_MS;
use crate::time::{CLOCK_SKEW_MS, Millis};

pub const GATES: usize = 8;
/// How long somebody who was turned away counts as waiting. They are told to come back
/// within two seconds.
const WAITING_MS: u64 = 6_000;
const MAX_WAITING: usize = 10_000;

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
    pub pass_seconds: u32,
    /// Whether it is their turn. If not, only the pass they have is renewed: whoever shops
    /// goes on shopping, however the line stands.
    pub may_begin: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entered {
    pub pass: PassId,
    pub issued: Millis,
    pub expires: Millis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotEntered {
    #[error("all slots are taken; try again in a moment")]
    Full,
    #[error("others enter first; try again in a moment")]
    TooFast,
    #[error("this ticket has been used")]
    Spent,
    #[error("there is no pass to renew, and it is not the turn of this ticket")]
    NotYet,
}

#[derive(Debug, Clone)]
pub struct Gate {
    books: Books,
    entries: BTreeMap<Lot, Entry>,
    /// Entries that take a slot, by the time they cease to.
    live: BTreeSet<(Millis, Lot)>,
    lot_of: BTreeMap<PassId, Lot>,
    /// Lots turned away lately. Not stored: they come again.
    waiting: BTreeMap<Lot, Millis>,
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
        Self::restore(books, BTreeMap::new())
    }

    /// The gate as it was stored.
    pub fn restore(books: Books, entries: BTreeMap<Lot, Entry>) -> Self {
        let live = entries
            .iter()
            .filter(|(_, e)| !e.closed && e.counts_until() > books.clock)
            .map(|(lot, e)| (e.counts_until(), *lot))
            .collect();
        let lot_of = entries.iter().map(|(lot, e)| (e.pass, *lot)).collect();
        Self {
            books,
            entries,
            live,
            lot_of,
            waiting: BTreeMap::new(),
        }
    }

    pub fn books(&self) -> &Books {
        &self.books
    }

    pub fn entry(&self, lot: Lot) -> Option<&Entry> {
        self.entries.get(&lot)
    }

    /// A pass for this lot: a new one, or the one it has, renewed. Store the books and the
    /// entry before signing.
    pub fn enter(
        &mut self,
        wanted: &Enter,
        now: Millis,
        entropy: [u8; 16],
    ) -> Result<Entered, NotEntered> {
        let now = self.move_clock(now);
        let lot = wanted.lot;
        let mut entry = match self.decide(wanted, now, entropy) {
            Ok(entry) => entry,
            Err(refused @ (NotEntered::Spent | NotEntered::NotYet)) => return Err(refused),
            Err(later) => {
                if self.waiting.len() < MAX_WAITING || self.waiting.contains_key(&lot) {
                    self.waiting.insert(lot, now);
                }
                return Err(later);
            }
        };
        self.waiting.remove(&lot);
        let renewed = now + u64::from(wanted.pass_seconds) * 1_000;
        // A shorter `pass_seconds` cannot take back what was signed.
        let expires = renewed.min(entry.start + MAX_PASS_MS).max(entry.expires);
        self.live.remove(&(entry.counts_until(), lot));
        entry.expires = expires;
        self.live.insert((entry.counts_until(), lot));
        if self.entries.insert(lot, entry).is_none() {
            self.books.entered += 1;
            self.lot_of.insert(entry.pass, lot);
        }
        Ok(Entered {
            pass: entry.pass,
            issued: now,
            expires,
        })
    }

    fn decide(&self, wanted: &Enter, now: Millis, entropy: [u8; 16]) -> Result<Entry, NotEntered> {
        let has_slot = self.live.len() < self.books.slots as usize;
        match self.entries.get(&wanted.lot) {
            Some(entry) if entry.closed || now >= entry.start + MAX_PASS_MS => {
                Err(NotEntered::Spent)
            }
            Some(entry) if entry.counts_until() > now || has_slot => Ok(*entry),
            None if !wanted.may_begin => Err(NotEntered::NotYet),
            None if self.books.entered >= self.books.entries => Err(NotEntered::TooFast),
            None if has_slot => Ok(Entry {
                pass: PassId::at_gate(self.books.gate, entropy),
                start: now,
                expires: now,
                closed: false,
            }),
            _ => Err(NotEntered::Full),
        }
    }

    /// Ends the pass of a lot and frees its slot at once. Only once the cloud has recorded
    /// the pass as closed, or it would live on beside the next one.
    pub fn leave(&mut self, lot: Lot, now: Millis) -> Option<Entry> {
        self.move_clock(now);
        self.waiting.remove(&lot);
        let entry = self.entries.get_mut(&lot)?;
        if self.live.remove(&(entry.counts_until(), lot)) {
            self.books.returned += 1;
        }
        entry.closed = true;
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
        self.waiting.retain(|_, seen| *seen + WAITING_MS > now);
        self.books.reports += 1;
        let live = u32::try_from(self.live.len()).unwrap_or(u32::MAX);
        Report {
            number: self.books.reports,
            version: self.books.version,
            slots: self.books.slots.max(live),
            live,
            entered: self.books.entered,
            waiting: u32::try_from(self.waiting.len()).unwrap_or(u32::MAX),
            returned: self.books.returned,
            ended: self.books.ended,
        }
    }

    /// Frees the slots of passes that have lapsed. A clock that goes back changes nothing:
    /// what was freed may have been given away.
    fn move_clock(&mut self, now: Millis) -> Millis {
        let now = now.max(self.books.clock);
        self.books.clock = now;
        while self.live.first().is_some_and(|(until, _)| *until <= now) {
            self.live.pop_first();
            self.books.returned += 1;
        }
        now
    }
}

#[cfg(test)]
#[path = "gate_tests.rs"]
mod tests;
