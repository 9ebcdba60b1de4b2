//! How many tickets to let in, when an unknown part of them never shows up.
//!
//! The controller wants arrivals at the gates to equal the rate, or the slots that come
//! free if those are fewer. It lets in as many tickets as should bring those arrivals,
//! judged by the share of recent tickets that did arrive.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use crate::time::Millis;

/// Someone who was let in learns it with the next poll, every two seconds or so at the
/// front of the line, and is counted a report later.
const CLAIM_MS: u64 = 3_000;
/// After this the others are taken for gone.
const CLAIM_WINDOW_MS: u64 = 6_000;
/// How far back the share of arrivals is measured.
const MEMORY_MS: f64 = 30_000.0;
/// Slots come back in a trickle, so their flow is measured for longer.
const RETURNS_MEMORY_MS: f64 = 90_000.0;
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
/// How many seconds of the rate may wait at the gates before fewer are let in.
const BACKLOG_SECONDS: f64 = 0.5;

/// What the gates have said so far, added up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Turnout {
    pub entered: u64,
    /// Turned away for the moment.
    pub waiting: u64,
    pub live: u64,
    /// Slots that came free, and the seconds they were taken.
    pub returned: u64,
    pub stayed_seconds: u64,
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
    /// Seconds with (nearly) all slots taken, and the slots that came back in them.
    full_seconds: f64,
    full_returns: f64,
    stays: f64,
    stayed_seconds: f64,
    last: Turnout,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Admitted {
    at: Millis,
    tickets: f64,
    measured: bool,
}

impl Default for Steering {
    fn default() -> Self {
        Self {
            recent: VecDeque::new(),
            share: FIRST_SHARE,
            arrived: 0.0,
            expected_of: 0.0,
            full_seconds: 0.0,
            full_returns: 0.0,
            stays: 0.0,
            stayed_seconds: 0.0,
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
        let stayed = turnout
            .stayed_seconds
            .saturating_sub(self.last.stayed_seconds) as f64;
        self.last = turnout;

        let forgotten = (elapsed / RETURNS_MEMORY_MS).min(1.0);
        if is_full(turnout, limits.capacity) {
            self.full_seconds = self.full_seconds * (1.0 - forgotten) + elapsed / 1_000.0;
            self.full_returns = self.full_returns * (1.0 - forgotten) + returned;
        }
        self.stays = self.stays * (1.0 - forgotten) + returned;
        self.stayed_seconds = self.stayed_seconds * (1.0 - forgotten) + stayed;

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
        let excess = (waiting - rate * BACKLOG_SECONDS).max(0.0);
        let by_rate = rate * AIM * elapsed_ms as f64 / 1_000.0 - excess / 2.0;
        let coming = self.coming(now) + waiting;
        let returning = self.returns_per_second(limits.capacity) * CLAIM_MS as f64 / 1_000.0;
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

    /// How fast slots come back once all are taken: measured when they are, else foretold
    /// from how long people stay, and at first as if everyone stayed one pass long.
    pub fn sustained_per_second(&self, limits: &Limits) -> f64 {
        let measured = self.returns_per_second(limits.capacity);
        if measured > 0.0 {
            return measured;
        }
        let capacity = f64::from(limits.capacity);
        let assumed = capacity / 10.0;
        let stay = (self.stayed_seconds + assumed * f64::from(limits.pass_seconds))
            / (self.stays + assumed);
        capacity / stay.max(1.0)
    }

    fn returns_per_second(&self, capacity: u32) -> f64 {
        match is_full(self.last, capacity) && self.full_seconds >= 10.0 {
            true => self.full_returns / self.full_seconds,
            false => 0.0,
        }
    }

    /// Arrivals still to come from the tickets let in lately; the longer ago, the fewer.
    fn coming(&self, now: Millis) -> f64 {
        let left = |a: &Admitted| 1.0 - ((now - a.at) as f64 / CLAIM_WINDOW_MS as f64).min(1.0);
        let tickets: f64 = self.recent.iter().map(|a| a.tickets * left(a)).sum();
        tickets * self.share
    }
}

fn is_full(turnout: Turnout, capacity: u32) -> bool {
    turnout.live as f64 >= f64::from(capacity) * 0.9
}

#[cfg(test)]
#[path = "steering_tests.rs"]
mod tests;
