//! The controller's side of the treaty with a gate: what it was allotted, and what it may
//! at most believe.
//!
//! A [`Grant`] carries a version. The next version is made only after the gate has
//! reported the last one, so at any time at most two amounts can be in force, and the
//! `ceiling` covers both. It is raised, and stored, before a grant can be sent; it falls
//! only when a report says the gate has stored the smaller amount. Grants may therefore be
//! lost, repeated, delayed and reordered.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

use super::briefing::ENDED_OVERLAP_MS;
use super::frontier::Place;
use super::gate::Counts;
use super::opaque::PassId;
use crate::sorted::sorted;
use crate::time::Millis;

/// A grant stays a small message however many passes ended at once.
const MAX_ENDED_PER_GRANT: usize = 500;
/// A list of ended passes takes some thousand a second; of those a gate has an eighth, for
/// the twenty seconds in which they may be named again: 2,500, and room to spare.
const MAX_REMEMBERED: usize = 4_096;
/// The cloud names a pass again for the overlap of its briefings and the difference of its
/// clocks. Twice the overlap is more than both.
const REMEMBERED_MS: u64 = 2 * ENDED_OVERLAP_MS;

/// A gate that was not heard of for so long is away.
const SILENT_MS: u64 = 4_000;

/// What the controller sends a gate, as often as it likes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub version: u64,
    pub slots: u32,
    /// How many lots may enter in all, ever. It only grows.
    pub entries: u64,
    /// Up to which place those at the door may take a slot now; `None`: nobody may. Of two
    /// grants that of the later step counts.
    pub turn: Option<Place>,
    pub step: u64,
    /// Passes the cloud has ended, the first of them being number `ended_from` of all.
    pub ended: Vec<PassId>,
    pub ended_from: u64,
}

/// What a gate says, after it has stored that it is so.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Report {
    /// Rises with every report, so that an old one is recognised.
    pub number: u64,
    pub version: u64,
    /// The slots it counts as its own: those granted, or those still taken if more.
    pub slots: u32,
    /// How many of them passes and promises take.
    pub live: u32,
    /// How many lots have entered in all, or are promised to.
    pub entered: u64,
    /// How many are at the door.
    pub waiting: u32,
    pub returned: u64,
    /// How many ended passes it has closed.
    pub ended: u64,
    pub counts: Counts,
    /// The first of those at the door, in order.
    pub knockers: Vec<Place>,
    /// When slots come free at the latest, in order: of each so many passes one.
    pub ends: Vec<Millis>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Allotment {
    version: u64,
    slots: u32,
    ceiling: u32,
    entries: u64,
    ended: VecDeque<PassId>,
    ended_from: u64,
    /// Passes that were ended lately, with the cursor of the news that said so first.
    #[serde(default)]
    remembered: BTreeMap<PassId, u64>,
    report: Option<Report>,
    /// What the last report said of the moment, and when it was heard. Not stored: a gate
    /// says it every second.
    #[serde(skip)]
    moment: Moment,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Moment {
    knockers: Vec<Place>,
    ends: Vec<Millis>,
    heard: Option<Millis>,
}

impl Allotment {
    /// What to send, with the place up to which people are called in this step.
    pub fn grant(&self, step: u64, turn: Option<Place>) -> Grant {
        Grant {
            turn,
            step,
            version: self.version,
            slots: self.slots,
            entries: self.entries,
            ended: self
                .ended
                .iter()
                .take(MAX_ENDED_PER_GRANT)
                .copied()
                .collect(),
            ended_from: self.ended_from,
        }
    }

    pub fn hear(&mut self, mut report: Report, now: Millis) {
        let last = self.report.as_ref();
        if last.is_some_and(|last| last.number >= report.number) {
            return;
        }
        self.moment = Moment {
            knockers: std::mem::take(&mut report.knockers),
            ends: std::mem::take(&mut report.ends),
            heard: Some(now),
        };
        // One grant at most is under way, so what is reported and what was granted last are
        // the only two amounts that can be in force.
        self.ceiling = report.slots.max(self.slots);
        while self.ended_from < report.ended && self.ended.pop_front().is_some() {
            self.ended_from += 1;
        }
        self.report = Some(report);
    }

    /// The cloud has ended this pass, as the news of this cursor say. It says so several
    /// times; the gate is told once.
    pub fn end(&mut self, pass: PassId, cursor: u64) {
        if self.remembered.contains_key(&pass) {
            return;
        }
        if self.remembered.len() >= MAX_REMEMBERED
            && let Some(oldest) = self.oldest_remembered()
        {
            self.remembered.remove(&oldest);
        }
        self.remembered.insert(pass, cursor);
        self.ended.push_back(pass);
    }

    fn oldest_remembered(&self) -> Option<PassId> {
        let oldest = self.remembered.iter().min_by_key(|(_, cursor)| **cursor);
        oldest.map(|(pass, _)| *pass)
    }

    /// Forgets the passes that news from this cursor on cannot name again.
    pub fn forget_ended(&mut self, cursor: u64) {
        self.remembered
            .retain(|_, heard| *heard + REMEMBERED_MS >= cursor);
    }

    pub fn report(&self) -> Option<&Report> {
        self.report.as_ref()
    }

    /// The most slots the gate may believe to hold.
    pub fn ceiling(&self) -> u32 {
        self.ceiling
    }

    fn is_settled(&self) -> bool {
        let report = self.report.as_ref();
        report.is_some_and(|report| report.version == self.version)
    }

    fn live(&self) -> u32 {
        self.report.as_ref().map_or(0, |report| report.live)
    }

    fn waiting(&self) -> u32 {
        self.report.as_ref().map_or(0, |report| report.waiting)
    }

    fn entered(&self) -> u64 {
        self.report.as_ref().map_or(0, |report| report.entered)
    }

    fn unspent(&self) -> u64 {
        self.entries.saturating_sub(self.entered())
    }

    /// When slots of this gate come free at the latest, each with how many it stands for.
    pub fn ends(&self) -> impl Iterator<Item = (Millis, f64)> {
        let ends = &self.moment.ends;
        let each = f64::from(self.live()) / ends.len().max(1) as f64;
        ends.iter().map(move |end| (*end, each))
    }

    /// Raises what this step has granted and nobody has been sent yet.
    fn raise_again(&mut self, slots: u32) {
        self.slots = slots;
        self.ceiling = self.ceiling.max(slots);
    }

    fn set_slots(&mut self, slots: u32) {
        if slots != self.slots {
            self.version += 1;
            self.slots = slots;
            self.ceiling = self.ceiling.max(slots);
        }
    }
}

/// Where the odd ones go when an amount is split, as a part of 2³²: another one at each
/// step, so that over time no gate has more of them than its share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase(u32);

impl Phase {
    /// Steps by the golden ratio, so that a few steps already lie evenly apart.
    pub fn of_step(step: u64) -> Self {
        Self((step.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32)
    }
}

/// Somebody at the door of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Knocker {
    pub place: Place,
    pub gate: usize,
}

/// Those at the door, in the order of the line. A gate that has not been heard of for a
/// while must not hold up the others, so those at its door are left out.
pub fn at_door(gates: &[Allotment], now: Millis) -> Vec<Knocker> {
    let mut door = Vec::new();
    for (gate, allotment) in gates.iter().enumerate() {
        let heard = allotment.moment.heard;
        if heard.is_some_and(|heard| heard + SILENT_MS > now) {
            let knockers = allotment.moment.knockers.iter();
            door.extend(knockers.map(|place| Knocker {
                place: *place,
                gate,
            }));
        }
    }
    sorted(door)
}

/// Deals the capacity out to the gates: first one slot for each of those at the door, as far
/// as there are slots and in the order of the line, then the rest evenly.
pub fn deal_slots(gates: &mut [Allotment], capacity: u32, door: &[Knocker]) {
    let (needed, wanted) = wanted_slots(gates, capacity, door);
    let ceilings =
        |gates: &[Allotment]| -> u64 { gates.iter().map(|g| u64::from(g.ceiling)).sum() };
    let over = ceilings(gates) > u64::from(capacity);
    // Slots are left where they are while nobody waits for them.
    for (gate, wanted) in gates.iter_mut().zip(&wanted) {
        if gate.is_settled() && *wanted < gate.slots && (!door.is_empty() || over) {
            gate.set_slots(*wanted);
        }
    }
    // What was just taken is still part of the ceilings: it is given away after the report.
    let mut pool = u64::from(capacity).saturating_sub(ceilings(gates));
    let mut raised = vec![false; gates.len()];
    for wanted in [needed, wanted] {
        for ((gate, wanted), raised) in gates.iter_mut().zip(&wanted).zip(&mut raised) {
            // A gate that never heard a grant believes in none, so the first is safe to make;
            // and one that was made in this step has not been sent.
            let free_to_change = gate.is_settled() || gate.version == 0 || *raised;
            if free_to_change && *wanted > gate.slots {
                let more = u64::from(wanted.saturating_sub(gate.ceiling)).min(pool);
                pool -= more;
                let more = u32::try_from(more).unwrap_or(0);
                let slots = gate.ceiling.saturating_add(more).min(*wanted);
                match *raised {
                    true => gate.raise_again(slots),
                    false => gate.set_slots(slots),
                }
                *raised = true;
            }
        }
    }
}

/// How many slots each gate needs for its passes and those at its door, and how many it
/// shall have.
fn wanted_slots(gates: &[Allotment], capacity: u32, door: &[Knocker]) -> (Vec<u32>, Vec<u32>) {
    let live: Vec<u64> = gates.iter().map(|g| u64::from(g.live())).collect();
    let capacity = u64::from(capacity);
    let taken = live.iter().sum::<u64>().min(capacity);
    let free = usize::try_from(capacity - taken).unwrap_or(usize::MAX);
    // With too many passes alive each gate keeps its part of the capacity and no more.
    let mut needed = shares(taken, &live, Phase(0));
    let first = &door[..door.len().min(free)];
    for knocker in first {
        needed[knocker.gate] += 1;
    }
    // The rest stays where it is from step to step: each move of it would cost seconds.
    let rest = (free - first.len()) as u64;
    let evenly = shares(rest, &vec![1; gates.len()], Phase(0));
    let slots = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let wanted = needed.iter().zip(evenly).map(|(n, even)| slots(n + even));
    let wanted = wanted.collect();
    (needed.into_iter().map(slots).collect(), wanted)
}

/// What limits how many of those at the door are called.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calling {
    pub free_slots: u64,
    /// Entries earned by the rate.
    pub earned: f64,
    /// Nobody behind it is called: some before them may not have heard yet that they are
    /// reached.
    pub settled: Place,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Called {
    /// Up to here those at the door may take a slot.
    pub turn: Option<Place>,
    pub people: usize,
    /// Entries that were given to the gates for it.
    pub spent: f64,
}

/// Calls those at the door in the order of the line, each with an entry and a slot at their
/// gate. Where the slot is on its way from another gate, everybody behind waits with them:
/// so nobody is overtaken for longer than a visitor takes to ask again.
pub fn call(gates: &mut [Allotment], door: &[Knocker], calling: &Calling) -> Called {
    let mut here = vec![0u32; gates.len()];
    let mut called = Called {
        turn: None,
        people: 0,
        spent: 0.0,
    };
    let free = usize::try_from(calling.free_slots).unwrap_or(usize::MAX);
    for knocker in door.iter().take(free) {
        let gate = &mut gates[knocker.gate];
        let here = &mut here[knocker.gate];
        *here += 1;
        let has_slot = gate.slots >= gate.live().saturating_add(*here);
        if !has_slot || knocker.place > calling.settled {
            break;
        }
        let entries = gate.entered() + u64::from(*here);
        if entries > gate.entries {
            if called.spent + 1.0 > calling.earned {
                break;
            }
            called.spent += 1.0;
            gate.entries = entries;
        }
        called.turn = Some(knocker.place);
        called.people += 1;
    }
    called
}

/// Deals entries out: one for each who waits, then about two steps' worth for every gate;
/// `earned` is the worth of one step. Returns how many were given.
///
/// Two steps, because a gate reports when it is granted something: what it seems to have
/// left is what it had a step ago. With one step's worth it would be given something every
/// other step only, and half the rate would be lost.
pub fn deal_entries(gates: &mut [Allotment], entries: u64, earned: f64, phase: Phase) -> u64 {
    let stock = (2.0 * earned / gates.len().max(1) as f64).ceil() as u64;
    let mut left = entries;
    for stock in [0, stock] {
        let wants: Vec<u64> = gates
            .iter()
            .map(|g| (stock + u64::from(g.waiting())).saturating_sub(g.unspent()))
            .collect();
        let given = shares(left.min(wants.iter().sum()), &wants, phase);
        for (gate, given) in gates.iter_mut().zip(&given) {
            gate.entries += given;
            left -= given;
        }
    }
    entries - left
}

/// Splits an amount by weights without losing or making any. Over all phases each gets
/// exactly its share on average.
fn shares(amount: u64, weights: &[u64], phase: Phase) -> Vec<u64> {
    let all: u128 = weights.iter().map(|w| u128::from(*w)).sum();
    let ahead = (all * u128::from(phase.0)) >> 32;
    let mut seen = 0u128;
    let mut given = 0u64;
    weights
        .iter()
        .map(|weight| {
            seen += u128::from(*weight);
            let upto = u128::from(amount) * seen + ahead;
            let upto = upto.checked_div(all).unwrap_or(0);
            let share = u64::try_from(upto).unwrap_or(u64::MAX) - given;
            given += share;
            share
        })
        .collect()
}

#[cfg(test)]
#[path = "allotment_tests.rs"]
mod tests;
