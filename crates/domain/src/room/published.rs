//! What the controller tells everybody once a second, and what can be read from it.
//!
//! Polls read it through a cache, so it is small: the frontier, a table of at most 256
//! knots of the line, and the flow.

use serde::{Deserialize, Serialize};

use super::census::{Census, Tally};
use super::draw::{Beacon, Draw};
use super::estimate::{Flow, Promises, Spread};
use super::frontier::Frontier;
use super::opening::{Bucket, Opening};
use crate::ids::ShowId;
use crate::show::RoomMode;
use crate::time::Millis;

pub const MAX_KNOTS: usize = 256;
/// Whoever walks in by an older bulletin could overtake somebody who came two seconds
/// earlier and found a line.
const STRAIGHT_MS: u64 = 3_000;
/// By then the counts of a closed bucket have arrived, unless they are lost.
const COUNTED_MS: u64 = 5_000;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Published {
    pub show: ShowId,
    pub revision: u64,
    pub now: Millis,
    pub opening: Opening,
    pub beacon: Beacon,
    /// Whether the beacon was named before anybody joined and before its value was known.
    pub beacon_in_time: bool,
    pub mode: RoomMode,
    pub pass_seconds: u32,
    pub rate_per_second: u32,
    pub arrivals_per_second: u32,
    /// When the show begins.
    pub ends: Millis,
    pub frontier: Frontier,
    /// Nobody waits: whoever comes may go to a gate at once.
    pub straight_through: bool,
    /// Nobody new is let in for the moment.
    pub paused: bool,
    pub sold_out: bool,
    pub line: Line,
    pub flow: Flow,
    pub spread: Spread,
    pub promises: Promises,
}

/// The line in brief: how many joined before some of the buckets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Line {
    /// Bucket and how many joined in the buckets before it, both rising.
    knots: Vec<(Bucket, u64)>,
    /// Everybody in the lottery.
    lottery: Tally,
    /// Of a thousand people in later buckets, how many are fans.
    later_fans_permille: u16,
}

impl Line {
    pub fn of(census: &Census) -> Self {
        let buckets: Vec<_> = census.buckets().collect();
        let people: u64 = buckets.iter().map(|(_, tally)| tally.all()).sum();
        let last = buckets.last().map_or(Bucket(0), |(last, _)| *last);
        // Between the lottery and the first second after it there may be days.
        let first = buckets.get(1).map_or(last, |(second, _)| *second);
        // A knot each time the line grew by a share of its people or of its seconds, and
        // one on both sides of the first bucket, where the frontier stands. Each rule
        // gives at most 120 knots, and an uneven bucket one more before it.
        let (by_people, by_seconds) = (people / 120 + 1, (last.0 - first.0) / 120 + 1);
        let mut line = Self {
            lottery: census.tally(Bucket::LOTTERY),
            ..Self::default()
        };
        let mut before = census.behind();
        let mut later = Tally::default();
        for (i, (bucket, tally)) in buckets.iter().enumerate() {
            let due = match line.knots.last() {
                Some((knot, at)) => {
                    i == 1 || before - at >= by_people || bucket.0 - knot.0 >= by_seconds
                }
                None => true,
            };
            if due && line.knots.len() < MAX_KNOTS - 1 {
                line.knots.push((*bucket, before));
            }
            before = before.saturating_add(tally.all());
            if *bucket != Bucket::LOTTERY {
                later.fans = later.fans.saturating_add(tally.fans);
                later.others = later.others.saturating_add(tally.others);
            }
        }
        line.knots.push((last.next(), before));
        let permille = later.fans.saturating_mul(1_000) / later.all().max(1);
        line.later_fans_permille = u16::try_from(permille).unwrap_or(1_000);
        line
    }

    pub fn knots(&self) -> &[(Bucket, u64)] {
        &self.knots
    }

    pub fn joined(&self) -> u64 {
        self.knots.last().map_or(0, |(_, before)| *before)
    }

    /// How many joined before a bucket, straight between two knots.
    fn before(&self, bucket: Bucket) -> f64 {
        let after = self.knots.partition_point(|(knot, _)| *knot <= bucket);
        match (self.knots[..after].last(), self.knots.get(after)) {
            (Some((low, at_low)), Some((high, at_high))) => {
                let share = f64::from(bucket.0 - low.0) / f64::from(high.0 - low.0);
                *at_low as f64 + (at_high - at_low) as f64 * share
            }
            (Some((_, at)), None) => *at as f64,
            // What lies behind the first knot has been let in.
            (None, Some((_, at))) => *at as f64,
            (None, None) => 0.0,
        }
    }

    /// How many tickets lie at or before this place.
    fn place(&self, bucket: Bucket, draw: Draw) -> f64 {
        let before = self.before(bucket);
        if bucket == Bucket::LOTTERY {
            return before + self.lottery.through(draw);
        }
        let people = self.before(bucket.next()) - before;
        let fans = people * f64::from(self.later_fans_permille) / 1_000.0;
        let share = draw.share_of_band();
        let within = match draw.band() {
            super::ticket::Band::Fan => fans * share,
            super::ticket::Band::Everybody => fans + (people - fans) * share,
        };
        before + within
    }
}

impl Published {
    /// Whether anybody was let in from the line. From then on the opening and the beacon are
    /// fixed, and with them every draw of the lottery.
    pub fn has_started(&self) -> bool {
        self.frontier != Frontier::default()
    }

    /// Whether the line moves no more: the room is closed, or the show has begun.
    pub fn is_over(&self, now: Millis) -> bool {
        self.mode == RoomMode::Closed || self.ends <= now
    }

    /// Whether those who joined in this bucket were lost on the way to the controller: it
    /// knows of nobody, long after it should have heard of them.
    pub fn has_lost(&self, bucket: Bucket) -> bool {
        self.line.joined() == 0 && self.opening.closes(bucket) + COUNTED_MS <= self.now
    }

    /// Whether whoever comes now may go to a gate at once.
    pub fn is_straight_through(&self, now: Millis) -> bool {
        self.straight_through && now <= self.now + STRAIGHT_MS
    }

    /// How many tickets will be let in before this one.
    pub fn ahead(&self, bucket: Bucket, draw: Draw) -> u64 {
        if self.frontier.admits(bucket, draw) {
            return 0;
        }
        let admitted = self.line.place(self.frontier.bucket, self.frontier.through);
        // A place counts its own ticket, so the ones before it are one fewer.
        (self.line.place(bucket, draw) - admitted - 1.0).max(0.0) as u64
    }

    /// The first in line is at position 1; the admitted have none.
    pub fn position(&self, bucket: Bucket, draw: Draw) -> Option<u64> {
        match self.frontier.admits(bucket, draw) {
            true => None,
            false => Some(self.ahead(bucket, draw) + 1),
        }
    }
}

#[cfg(test)]
#[path = "published_tests.rs"]
mod tests;
