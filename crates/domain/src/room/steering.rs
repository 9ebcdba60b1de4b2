//! How many tickets to let in, when an unknown part of them never shows up.
//!
//! The controller wants arrivals at the gates to equal the rate, or the slots that come
//! free if those are fewer. It lets in as many tickets as should bring those arrivals,
//! judged by the share of recent tickets that did arrive.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use super::gate::GATES;
use crate::time::Millis;

/// Someone who was let in learns it with the next poll, every two seconds or so at the
/// front of the line, and is counted a report later.
const CLAIM_MS: u64 = 3_000;
/// After this the others are taken for gone.
const CLAIM_WINDOW_MS: u64 = 6_000;
/// How far back the share of arrivals is measured.
const MEMORY_MS: f64 = 30_000.0;
/// Slots come back in a trickle, so that is measured for longer: over as much time spent
/// inside as a full room has in these seconds. A room that is less full has less to tell
/// and is remembered for longer; an empty one is not forgotten.
const VISITS_MEMORY_S: f64 = 90.0;
/// Before anybody has left, visits are taken to last half a pass, for a pass is meant to
/// suffice for nearly everybody. That counts as much as visits by a tenth of the slots.
const FIRST_VISIT_OF_PASS: f64 = 0.5;
const FIRST_VISITS_OF_SLOTS: f64 = 0.1;
/// Even if nobody shows up, the line moves at most at this multiple of the rate.
const LEAST_SHARE: f64 = 0.02;
const FIRST_SHARE: f64 = 0.7;
/// How many seconds of the rate the first share counts for.
const FIRST_SECONDS: f64 = 5.0;
/// By how much the share may fall in a second. Right after the draw everybody polls within
/// ten seconds, and whoever is slow must not be taken for gone.
const MOST_FALL: f64 = 0.1;
/// Aims this much above the rate, so that chance leaves no entry unused. The gates keep
/// the rate itself.
const AIM: f64 = 1.05;
/// So many seconds of the rate, and one at each gate, may wait before fewer are let in.
/// People come in clumps, and a gate that was met by one is given more a step later; at a
/// small rate that alone keeps some of them waiting, and fewer would be too few.
const BACKLOG_SECONDS: f64 = 0.5;

/// What the gates have said so far, added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Turnout {
    pub entered: u64,
    /// Turned away for the moment.
    pub waiting: u64,
    pub live: u64,
    /// Slots that came free.
    pub returned: u64,
}

/// What limits the arrivals wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub capacity: u32,
    pub rate_per_second: u32,
    pub pass_seconds: u32,
    /// Places that can still be bought, when known.
    pub free_seats: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Steering {
    /// Tickets let in lately, and whether they are part of the measured share already.
    recent: VecDeque<Admitted>,
    share: f64,
    arrived: f64,
    expected_of: f64,
    visits: Visits,
    last: Turnout,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Admitted {
    at: Millis,
    tickets: f64,
    measured: bool,
}

/// How many visits ended in how much time spent inside, by those who left and by those who
/// are still there alike. Whoever looked at finished visits alone would find them short
/// while the long ones are under way; survival analysis counts the same way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Visits {
    ended: f64,
    seconds_inside: f64,
    /// How much of the first assumption still counts.
    assumed: f64,
}

impl Visits {
    const NONE: Self = Self {
        ended: 0.0,
        seconds_inside: 0.0,
        assumed: 1.0,
    };

    fn learn(&mut self, ended: f64, seconds_inside: f64, capacity: u32) {
        let memory = f64::from(capacity) * VISITS_MEMORY_S;
        let kept = 1.0 - (seconds_inside / memory.max(1.0)).min(1.0);
        self.ended = self.ended * kept + ended;
        self.seconds_inside = self.seconds_inside * kept + seconds_inside;
        self.assumed *= kept;
    }

    /// The share of those inside who leave within a second.
    fn leaving_per_second(&self, limits: &Limits) -> f64 {
        let visits = self.assumed * f64::from(limits.capacity) * FIRST_VISITS_OF_SLOTS;
        let seconds = visits * f64::from(limits.pass_seconds) * FIRST_VISIT_OF_PASS;
        (self.ended + visits) / (self.seconds_inside + seconds).max(1.0)
    }

    /// The same as far as it was measured: nobody is let in for slots that are only assumed
    /// to come free.
    fn measured_per_second(&self) -> f64 {
        self.ended / self.seconds_inside.max(1.0)
    }
}

impl Default for Steering {
    fn default() -> Self {
        Self {
            recent: VecDeque::new(),
            share: FIRST_SHARE,
            arrived: 0.0,
            expected_of: 0.0,
            visits: Visits::NONE,
            last: Turnout::default(),
        }
    }
}

impl Steering {
    /// Learns from what the gates said since the last tick. While people go straight
    /// through they arrive before they are let in, which teaches nothing about the share.
    pub fn learn(
        &mut self,
        now: Millis,
        elapsed_ms: u64,
        turnout: Turnout,
        limits: &Limits,
        queueing: bool,
    ) {
        let elapsed = elapsed_ms as f64;
        let kept = 1.0 - (elapsed / MEMORY_MS).min(1.0);
        let arrivals = (turnout.entered + turnout.waiting) as f64
            - (self.last.entered + self.last.waiting) as f64;
        let returned = turnout.returned.saturating_sub(self.last.returned) as f64;
        self.last = turnout;

        let inside = turnout.live as f64 * elapsed / 1_000.0;
        self.visits.learn(returned, inside, limits.capacity);

        let mut due = 0.0;
        for admitted in self.recent.iter_mut().filter(|a| !a.measured) {
            if admitted.at + CLAIM_MS <= now {
                admitted.measured = true;
                due += admitted.tickets;
            }
        }
        self.recent.retain(|a| a.at + CLAIM_WINDOW_MS > now);
        if queueing {
            self.measure_share(arrivals, due, kept, elapsed / 1_000.0, limits);
        }
    }

    fn measure_share(&mut self, arrived: f64, due: f64, kept: f64, seconds: f64, limits: &Limits) {
        if self.expected_of == 0.0 {
            self.expected_of = f64::from(limits.rate_per_second) * FIRST_SECONDS;
            self.arrived = self.expected_of * FIRST_SHARE;
        }
        self.arrived = (self.arrived * kept + arrived).max(0.0);
        self.expected_of = self.expected_of * kept + due;
        // A handful of tickets says nothing about a share.
        if self.expected_of >= 10.0 {
            let least = self.share * (1.0 - MOST_FALL * seconds);
            let measured = self.arrived / self.expected_of;
            self.share = measured.max(least).clamp(LEAST_SHARE, 1.0);
        }
    }

    /// How many tickets to let in now.
    pub fn wanted(&self, now: Millis, elapsed_ms: u64, limits: &Limits) -> f64 {
        let rate = f64::from(limits.rate_per_second);
        let waiting = self.last.waiting as f64;
        let usual = rate * BACKLOG_SECONDS + GATES as f64;
        let excess = (waiting - usual).max(0.0);
        let by_rate = rate * AIM * elapsed_ms as f64 / 1_000.0 - excess / 2.0;
        let coming = self.coming(now) + waiting;
        let leaving = self.last.live as f64 * self.visits.measured_per_second();
        let returning = leaving * CLAIM_MS as f64 / 1_000.0;
        let by_slots = f64::from(limits.capacity) - self.last.live as f64 + returning - coming;
        let by_seats = limits.free_seats.map_or(f64::INFINITY, f64::from) - coming;
        by_rate.min(by_slots).min(by_seats).max(0.0) / self.share
    }

    pub fn admitted(&mut self, now: Millis, tickets: f64) {
        if tickets > 0.0 {
            self.recent.push_back(Admitted {
                at: now,
                tickets,
                measured: false,
            });
        }
    }

    /// The share of admitted tickets that arrive.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// How many slots are free for people who have not been let in yet.
    pub fn free_slots(&self, now: Millis, capacity: u32) -> f64 {
        let taken = self.last.live as f64 + self.last.waiting as f64 + self.coming(now);
        (f64::from(capacity) - taken).max(0.0)
    }

    /// How fast slots come back once all are taken.
    pub fn sustained_per_second(&self, limits: &Limits) -> f64 {
        f64::from(limits.capacity) * self.visits.leaving_per_second(limits)
    }

    /// Arrivals still to come from the tickets let in lately; the longer ago, the fewer.
    fn coming(&self, now: Millis) -> f64 {
        let left = |a: &Admitted| 1.0 - ((now - a.at) as f64 / CLAIM_WINDOW_MS as f64).min(1.0);
        let tickets: f64 = self.recent.iter().map(|a| a.tickets * left(a)).sum();
        tickets * self.share
    }
}

#[cfg(test)]
#[path = "steering_tests.rs"]
mod tests;
