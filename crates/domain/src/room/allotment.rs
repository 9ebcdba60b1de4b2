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
use super::opaque::PassId;

/// A grant stays a small message however many passes ended at once.
const MAX_ENDED_PER_GRANT: usize = 500;
/// A list of ended passes takes some thousand a second; of those a gate has an eighth, for
/// the twenty seconds in which they may be named again: 2,500, and room to spare.
const MAX_REMEMBERED: usize = 4_096;
/// The cloud names a pass again for the overlap of its briefings and the difference of its
/// clocks. Twice the overlap is more than both.
const REMEMBERED_MS: u64 = 2 * ENDED_OVERLAP_MS;

/// What the controller sends a gate, as often as it likes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    pub version: u64,
    pub slots: u32,
    /// How many lots may enter in all, ever. It only grows.
    pub entries: u64,
    /// Passes the cloud has ended, the first of them being number `ended_from` of all.
    pub ended: Vec<PassId>,
    pub ended_from: u64,
}

/// What a gate says, after it has stored that it is so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Rises with every report, so that an old one is recognised.
    pub number: u64,
    pub version: u64,
    /// The slots it counts as its own: those granted, or those still taken if more.
    pub slots: u32,
    pub live: u32,
    pub entered: u64,
    pub waiting: u32,
    pub returned: u64,
    /// How many ended passes it has closed.
    pub ended: u64,
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
}

impl Allotment {
    pub fn grant(&self) -> Grant {
        Grant {
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

    pub fn hear(&mut self, report: Report) {
        if self.report.is_some_and(|last| last.number >= report.number) {
            return;
        }
        self.report = Some(report);
        // One grant at most is under way, so what is reported and what was granted last are
        // the only two amounts that can be in force.
        self.ceiling = report.slots.max(self.slots);
        while self.ended_from < report.ended && self.ended.pop_front().is_some() {
            self.ended_from += 1;
        }
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
        self.report
            .is_some_and(|report| report.version == self.version)
    }

    fn live(&self) -> u32 {
        self.report.map_or(0, |report| report.live)
    }

    fn waiting(&self) -> u32 {
        self.report.map_or(0, |report| report.waiting)
    }

    fn unspent(&self) -> u64 {
        let entered = self.report.map_or(0, |report| report.entered);
        self.entries.saturating_sub(entered)
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

/// Deals the capacity out to the gates: first to those where people wait, the rest evenly.
pub fn deal_slots(gates: &mut [Allotment], capacity: u32, phase: Phase) {
    let wanted = wanted_slots(gates, capacity, phase);
    let ceilings =
        |gates: &[Allotment]| -> u64 { gates.iter().map(|g| u64::from(g.ceiling)).sum() };
    let over = ceilings(gates) > u64::from(capacity);
    let anyone_waits = gates.iter().any(|g| g.waiting() > 0);
    // Slots are left where they are while nobody waits for them.
    for (gate, wanted) in gates.iter_mut().zip(&wanted) {
        if gate.is_settled() && *wanted < gate.slots && (anyone_waits || over) {
            gate.set_slots(*wanted);
        }
    }
    // What was just taken is still part of the ceilings: it is given away after the report.
    let mut pool = u64::from(capacity).saturating_sub(ceilings(gates));
    for (gate, wanted) in gates.iter_mut().zip(&wanted) {
        // A gate that never heard a grant believes in none, so the first is safe to make.
        let free_to_change = gate.is_settled() || gate.version == 0;
        if free_to_change && *wanted > gate.slots {
            let more = u64::from(wanted.saturating_sub(gate.ceiling)).min(pool);
            pool -= more;
            let allowed = gate
                .ceiling
                .saturating_add(u32::try_from(more).unwrap_or(0));
            gate.set_slots(allowed.min(*wanted));
        }
    }
}

fn wanted_slots(gates: &[Allotment], capacity: u32, phase: Phase) -> Vec<u32> {
    let live: Vec<u64> = gates.iter().map(|g| u64::from(g.live())).collect();
    let waiting: Vec<u64> = gates.iter().map(|g| u64::from(g.waiting())).collect();
    let capacity = u64::from(capacity);
    let taken = live.iter().sum::<u64>().min(capacity);
    let needed = waiting.iter().sum::<u64>().min(capacity - taken);
    // With too many passes alive each gate keeps its part of the capacity and no more.
    let kept = shares(taken, &live, Phase(0));
    let needed_here = needed_slots(gates, &waiting, needed, phase);
    // The rest stays where it is from step to step: each move of it would cost seconds.
    let evenly = shares(capacity - taken - needed, &vec![1; gates.len()], Phase(0));
    let all = kept.into_iter().zip(needed_here).zip(evenly);
    all.map(|((kept, needed), even)| u32::try_from(kept + needed + even).unwrap_or(u32::MAX))
        .collect()
}

/// Slots for those who wait. One that is free at a gate where somebody waits for it stays
/// there: by the time it had moved they would have come for it.
fn needed_slots(gates: &[Allotment], waiting: &[u64], needed: u64, phase: Phase) -> Vec<u64> {
    let met: Vec<u64> = gates
        .iter()
        .zip(waiting)
        .map(|(gate, waiting)| u64::from(gate.slots.saturating_sub(gate.live())).min(*waiting))
        .collect();
    let unmet: Vec<u64> = waiting.iter().zip(&met).map(|(w, met)| w - met).collect();
    let stay = met.iter().sum::<u64>().min(needed);
    let stay_here = shares(stay, &met, phase);
    let move_here = shares(needed - stay, &unmet, phase);
    let both = stay_here.into_iter().zip(move_here);
    both.map(|(stay, come)| stay + come).collect()
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
