//! What the controller tells everybody once a second, and what can be read from it.
//!
//! Polls read it through a cache, so it is small: the frontier, a table of at most 256
//! knots of the line, who is at the door, and a forecast.

use serde::{Deserialize, Serialize};

use super::allotment::Knocker;
use super::census::{Census, Tally};
use super::draw::{Beacon, Draw};
use super::estimate::{Ahead, Promises, Spread, Wait};
use super::forecast::Forecast;
use super::frontier::{Frontier, Place};
use super::opening::{Bucket, Opening};
use super::steering::LEAD_MS;
use crate::ids::ShowId;
use crate::show::RoomMode;
use crate::time::Millis;

pub const MAX_KNOTS: usize = 256;
/// So many of those at the door are named; of more, every other one, and so on.
const MAX_AT_DOOR: usize = 64;
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
    /// The last bucket whose people could go to a gate at once: some of them may be inside
    /// though the frontier has not reached them.
    pub straight_until: Option<Bucket>,
    /// Nobody new is let in for the moment.
    pub paused: bool,
    pub sold_out: bool,
    pub line: Line,
    pub door: Door,
    /// Of a thousand tickets, how many people come to the door.
    pub share_permille: u32,
    /// The same as cautious forecasts reckon with it.
    pub cautious_share_permille: u32,
    pub forecast: Forecast,
    pub spread: Spread,
    pub promises: Promises,
}

/// Those at the door in brief.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Door {
    pub people: u64,
    /// How many more will come of those whom the line has reached.
    pub coming: u64,
    /// Where they stand, in order, each for as many of them as the others.
    places: Vec<Place>,
}

impl Door {
    pub fn of(people: u64, coming: u64, knockers: &[Knocker]) -> Self {
        let every = knockers.len().div_ceil(MAX_AT_DOOR).max(1);
        let places = knockers.iter().step_by(every).map(|k| k.place);
        Self {
            people: people.max(knockers.len() as u64),
            coming,
            places: places.collect(),
        }
    }

    /// Those who are there, and those who will come.
    fn all(&self) -> u64 {
        self.people + self.coming
    }

    /// How many of them stand before this place. Those who will come stand as those who are
    /// there do.
    fn before(&self, place: Place) -> u64 {
        let before = self.places.partition_point(|known| *known < place) as u64;
        match self.places.len() as u64 {
            0 => self.coming / 2,
            known => before * self.all() / known,
        }
    }
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

    /// Whether a ticket of this bucket may be inside though the line has not reached it.
    pub fn may_be_inside(&self, bucket: Bucket) -> bool {
        self.straight_until.is_some_and(|last| bucket <= last)
    }

    /// How many tickets lie between the frontier and this one; `None`: it is reached.
    fn behind_frontier(&self, place: Place) -> Option<f64> {
        if self.frontier.admits(place.bucket, place.draw) {
            return None;
        }
        let reached = self.line.place(self.frontier.bucket, self.frontier.through);
        // A place counts its own ticket, so the ones before it are one fewer.
        Some((self.line.place(place.bucket, place.draw) - reached - 1.0).max(0.0))
    }

    /// How many come before this one: those at the door, and the tickets in between.
    pub fn ahead(&self, bucket: Bucket, draw: Draw) -> u64 {
        let place = Place { bucket, draw };
        match self.behind_frontier(place) {
            Some(tickets) => self.door.all() + tickets as u64,
            None => self.door.before(place),
        }
    }

    /// The first of all who wait is at position 1.
    pub fn position(&self, bucket: Bucket, draw: Draw) -> u64 {
        self.ahead(bucket, draw) + 1
    }

    /// How many people will be let in up to this ticket, itself included. Not every ticket
    /// between has somebody who comes.
    fn people_until(&self, place: Place, share_permille: u32) -> f64 {
        let share = f64::from(share_permille) / 1_000.0;
        let before = match self.behind_frontier(place) {
            Some(tickets) => self.door.all() as f64 + tickets * share,
            None => self.door.before(place) as f64,
        };
        before + 1.0
    }

    /// How long somebody waits for a slot.
    pub fn wait(&self, bucket: Bucket, draw: Draw) -> Option<Wait> {
        let place = Place { bucket, draw };
        let people = Ahead {
            expected: self.people_until(place, self.share_permille),
            cautious: self.people_until(place, self.cautious_share_permille),
        };
        Wait::estimate(people, &self.forecast, self.spread)
    }

    /// How long it takes at least until the line reaches this ticket.
    pub fn earliest_ms(&self, bucket: Bucket, draw: Draw) -> u64 {
        let people = self.people_until(Place { bucket, draw }, self.share_permille);
        self.forecast.earliest_ms(people).saturating_sub(LEAD_MS)
    }

    /// Everybody who waits, at the door and behind it.
    pub fn total_waiting(&self) -> u64 {
        let reached = self.line.place(self.frontier.bucket, self.frontier.through);
        let in_line = (self.line.joined() as f64 - reached).max(0.0);
        in_line.round() as u64 + self.door.all()
    }
}

#[cfg(test)]
#[path = "published_tests.rs"]
mod tests;
