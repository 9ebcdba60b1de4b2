//! How many tickets to let come to the door, when an unknown part of them never shows up.
//!
//! The controller wants as many people at the door as slots and entries can be given to in
//! the next seconds, and a little more. It lets as many tickets come as should bring those,
//! judged by the share of recent tickets that did.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use crate::time::Millis;

/// A ticket that was reached learns it with the next poll, every two seconds or so at the
/// front of the line, and is counted a report later.
const CLAIM_MS: u64 = 3_000;
/// After this the others are taken for gone.
const CLAIM_WINDOW_MS: u64 = 6_000;
/// For how long ahead there shall be people at the door: so long it takes to replace them.
pub(super) const LEAD_MS: u64 = 9_000;
/// Everybody at the door asks its gate every second or two, and a gate answers some
/// hundreds. Above this only as many come as enter in two seconds.
const MOST_AT_DOOR: f64 = 4_000.0;
/// How far back the share of arrivals is measured.
const MEMORY_MS: f64 = 30_000.0;
/// How long visits last is measured over as much time spent inside as a full room has in
/// these seconds, or as so many passes, if that is more. A room that is less full has less to
/// tell and is remembered for longer; an empty one is not forgotten.
const VISITS_MEMORY_S: f64 = 90.0;
const VISITS_MEMORY_PASSES: f64 = 10.0;
/// Before anybody has left, one in two is taken to leave within this part of a pass. That
/// counts as much as visits by three in a hundred slots, or half a visit.
const FIRST_VISIT_OF_PASS: f64 = 1.5;
const FIRST_VISITS_OF_SLOTS: f64 = 0.03;
const FIRST_VISITS: f64 = 0.5;
/// Even if nobody shows up, the line moves at most at this multiple of the rate.
const LEAST_SHARE: f64 = 0.02;
const FIRST_SHARE: f64 = 0.3;
/// How many seconds of the rate the first share counts for.
const FIRST_SECONDS: f64 = 2.0;
/// By how much the share may fall in a second.
const MOST_FALL: f64 = 0.1;
/// Right after the draw everybody polls within ten seconds, and whoever is slow must not be
/// taken for gone: for so long nobody is replaced until somebody has come, and at most
/// [`MOST_AT_FIRST`] times as many tickets are reached as the first share asks for.
const FIRST_POLLS_MS: u64 = 10_000;
const MOST_AT_FIRST: f64 = 2.0;

/// What the gates have said so far, added up.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Turnout {
    pub entered: u64,
    /// How many are at the door now, and how many ever came to it.
    pub waiting: u64,
    pub knocked: u64,
    /// Slots that passes and promises take.
    pub live: u64,
    /// Passes that were given back, lapsed, and were renewed.
    pub left: u64,
    pub lapsed: u64,
    pub renewed: u64,
    /// Passes that end within the next seconds, unless they are renewed.
    pub ending: f64,
}

/// What limits how many may enter.
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
    /// Tickets reached lately, and whether they are part of the measured share already.
    recent: VecDeque<Reached>,
    share: f64,
    arrived: f64,
    expected_of: f64,
    /// How much of `expected_of` is the first assumption and no measurement.
    assumed_of: f64,
    visits: Visits,
    last: Turnout,
    first: Option<First>,
}

/// The beginning of a line: when its first tickets were reached, how many had come to the
/// door before, and how many tickets were reached since.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct First {
    at: Millis,
    knocked: u64,
    tickets: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Reached {
    at: Millis,
    tickets: f64,
    measured: bool,
}

/// How many visits ended early in how much time spent inside, by those who left and by those
/// who are still there alike. Whoever looked at finished visits alone would find them short
/// while the long ones are under way; survival analysis counts the same way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Visits {
    left: f64,
    seconds_inside: f64,
    /// Passes that came to their end, and those of them that were renewed before.
    ended: f64,
    renewed: f64,
    /// How much of the first assumption still counts.
    assumed: f64,
}

impl Visits {
    const NONE: Self = Self {
        left: 0.0,
        seconds_inside: 0.0,
        ended: 0.0,
        renewed: 0.0,
        assumed: 1.0,
    };

    fn learn(&mut self, new: Self, limits: &Limits) {
        let passes = VISITS_MEMORY_PASSES * f64::from(limits.pass_seconds);
        let memory = f64::from(limits.capacity) * VISITS_MEMORY_S + passes;
        let kept = 1.0 - (new.seconds_inside / memory.max(1.0)).min(1.0);
        self.left = self.left * kept + new.left;
        self.seconds_inside = self.seconds_inside * kept + new.seconds_inside;
        self.ended = self.ended * kept + new.ended;
        self.renewed = self.renewed * kept + new.renewed;
        self.assumed *= kept;
    }

    /// The share of those inside who leave within a second.
    fn leaving_per_second(&self, limits: &Limits) -> f64 {
        let first = (f64::from(limits.capacity) * FIRST_VISITS_OF_SLOTS).max(FIRST_VISITS);
        let visits = self.assumed * first;
        let seconds = visits * f64::from(limits.pass_seconds) * FIRST_VISIT_OF_PASS;
        (self.left + visits) / (self.seconds_inside + seconds).max(1.0)
    }

    /// The same as far as it was measured: nobody is let come for slots that are only
    /// assumed to come free.
    fn measured_per_second(&self) -> f64 {
        self.left / self.seconds_inside.max(1.0)
    }
}

impl First {
    fn is_fresh(&self, now: Millis) -> bool {
        self.at + FIRST_POLLS_MS > now
    }
}

impl Default for Steering {
    fn default() -> Self {
        Self {
            recent: VecDeque::new(),
            share: FIRST_SHARE,
            arrived: 0.0,
            expected_of: 0.0,
            assumed_of: 0.0,
            visits: Visits::NONE,
            last: Turnout::default(),
            first: None,
        }
    }
}

impl Steering {
    /// Until when passes count as ending soon.
    pub fn lead(now: Millis) -> Millis {
        now + LEAD_MS
    }

    /// Learns from what the gates said since the last tick. While people go straight
    /// through they arrive before they are reached, which teaches nothing about the share.
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
        let last = std::mem::replace(&mut self.last, turnout);
        // Gates that were loaded anew begin to count anew.
        let since = |now: u64, last: u64| now.saturating_sub(last) as f64;
        let renewed = since(turnout.renewed, last.renewed);
        let new = Visits {
            left: since(turnout.left, last.left),
            seconds_inside: turnout.live as f64 * elapsed / 1_000.0,
            ended: since(turnout.lapsed, last.lapsed) + renewed,
            renewed,
            assumed: 0.0,
        };
        self.visits.learn(new, limits);
        let arrivals = since(turnout.knocked, last.knocked);
        if queueing && self.is_unanswered(now) {
            return;
        }

        let mut due = 0.0;
        for reached in self.recent.iter_mut().filter(|a| !a.measured) {
            if reached.at + CLAIM_MS <= now {
                reached.measured = true;
                due += reached.tickets;
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
            self.assumed_of = self.expected_of;
        }
        self.arrived = (self.arrived * kept + arrived).max(0.0);
        self.expected_of = self.expected_of * kept + due;
        self.assumed_of *= kept;
        // A handful of tickets says nothing about a share.
        if self.expected_of >= 10.0 {
            let least = self.share * (1.0 - MOST_FALL * seconds);
            let measured = self.arrived / self.expected_of;
            self.share = measured.max(least).clamp(LEAST_SHARE, 1.0);
        }
    }

    /// How many tickets to let come to the door now.
    pub fn wanted(&self, now: Millis, limits: &Limits) -> f64 {
        let missing = self.door(limits) - self.last.waiting as f64 - self.coming(now);
        let rate = f64::from(limits.rate_per_second);
        // However few show up, not everybody comes at once.
        let most = (2.0 * rate + 1.0) / LEAST_SHARE;
        let first = self.first.filter(|first| first.is_fresh(now));
        let at_first = MOST_AT_FIRST * self.door(limits) / FIRST_SHARE;
        let most = first.map_or(most, |first| most.min(at_first - first.tickets));
        (missing.max(0.0) / self.share).min(most.max(0.0))
    }

    /// Whether a line has just begun and nobody has come yet.
    fn is_unanswered(&self, now: Millis) -> bool {
        let first = self.first.filter(|first| first.is_fresh(now));
        first.is_some_and(|first| self.last.knocked <= first.knocked)
    }

    /// How many people shall be at the door: as many as can be let in within the next
    /// seconds, and as many more as chance may take away.
    fn door(&self, limits: &Limits) -> f64 {
        let seconds = LEAD_MS as f64 / 1_000.0;
        let rate = f64::from(limits.rate_per_second);
        let free = (f64::from(limits.capacity) - self.last.live as f64).max(0.0);
        let leaving = self.last.live as f64 * self.visits.measured_per_second();
        let returning = leaving * seconds + self.last.ending;
        let by_rate = (rate * seconds).min(MOST_AT_DOOR.max(2.0 * rate));
        let soon = by_rate.min(free + returning);
        let people = soon + 1.0 + 0.5 * soon.sqrt();
        people.min(limits.free_seats.map_or(f64::INFINITY, f64::from))
    }

    pub fn reached(&mut self, now: Millis, tickets: f64) {
        if tickets > 0.0 {
            let first = self.first.get_or_insert(First {
                at: now,
                knocked: self.last.knocked,
                tickets: 0.0,
            });
            first.tickets += tickets;
            self.recent.push_back(Reached {
                at: now,
                tickets,
                measured: false,
            });
        }
    }

    /// The share of reached tickets that come to the door.
    pub fn share(&self) -> f64 {
        self.share
    }

    /// The share that cautious forecasts reckon with. As far as the share is only assumed,
    /// every ticket may have somebody who comes.
    pub fn cautious_share(&self) -> f64 {
        let assumed = match self.expected_of > 0.0 {
            true => self.assumed_of / self.expected_of,
            false => 1.0,
        };
        self.share + (1.0 - self.share) * assumed
    }

    /// How many are at the door or on their way to it.
    pub fn expected(&self, now: Millis) -> f64 {
        self.last.waiting as f64 + self.coming(now)
    }

    /// The same if all of them come.
    pub fn at_most_expected(&self, now: Millis) -> f64 {
        self.last.waiting as f64 + self.coming(now) / self.share
    }

    /// How many slots are free for people who have not been reached yet.
    pub fn free_slots(&self, now: Millis, capacity: u32) -> f64 {
        let taken = self.last.live as f64 + self.expected(now);
        (f64::from(capacity) - taken).max(0.0)
    }

    /// The share of those inside who leave within a second.
    pub fn leaving_per_second(&self, limits: &Limits) -> f64 {
        self.visits.leaving_per_second(limits)
    }

    /// The share of passes that are renewed at their end.
    pub fn renewing(&self) -> f64 {
        self.visits.renewed / self.visits.ended.max(1.0)
    }

    /// Arrivals still to come from the tickets reached lately; the longer ago, the fewer.
    fn coming(&self, now: Millis) -> f64 {
        if self.is_unanswered(now) {
            return self.first.map_or(0.0, |first| first.tickets) * self.share;
        }
        let left = |a: &Reached| 1.0 - ((now - a.at) as f64 / CLAIM_WINDOW_MS as f64).min(1.0);
        let tickets: f64 = self.recent.iter().map(|a| a.tickets * left(a)).sum();
        tickets * self.share
    }
}

#[cfg(test)]
#[path = "steering_tests.rs"]
mod tests;
