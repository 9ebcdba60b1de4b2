//! Who joined: how many people per bucket and band.
//!
//! Counters report totals that only grow, so of two reports about the same thing the
//! larger is the newer: repeated and reordered reports change nothing. Counts steer and
//! inform; no promise about the cap depends on them.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

use super::backend::Calls;
use super::draw::Draw;
use super::frontier::Frontier;
use super::opening::Bucket;
use super::ticket::Band;

/// More than two hours of waiting, one bucket a second. A longer line is remembered more
/// coarsely.
const MAX_BUCKETS: usize = 8_192;
pub const MAX_COUNTERS: u8 = 16;
/// How long the counters are told apart after a bucket ended. What they report later
/// than that is lost, and the estimate a little short.
const SETTLE_AFTER: u32 = 120;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tally {
    pub fans: u64,
    pub others: u64,
}

impl Tally {
    pub fn all(self) -> u64 {
        self.fans.saturating_add(self.others)
    }

    fn of(self, band: Band) -> u64 {
        match band {
            Band::Fan => self.fans,
            Band::Everybody => self.others,
        }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            fans: self.fans.saturating_add(other.fans),
            others: self.others.saturating_add(other.others),
        }
    }

    /// How many of the bucket lie at or before a draw.
    pub fn through(self, draw: Draw) -> f64 {
        let share = draw.share_of_band();
        match draw.band() {
            Band::Fan => self.fans as f64 * share,
            Band::Everybody => self.fans as f64 + self.others as f64 * share,
        }
    }
}

/// What one counter has counted so far in some buckets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CounterReport {
    pub counter: u8,
    pub totals: Vec<(Bucket, Tally)>,
    /// No total: what was counted since the last report.
    #[serde(default)]
    pub calls: Calls,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Census {
    /// Everybody in buckets before the frontier's.
    behind: u64,
    settled: BTreeMap<Bucket, Tally>,
    /// Buckets that may still grow, by counter.
    fresh: BTreeMap<Bucket, BTreeMap<u8, Tally>>,
    /// Reports about buckets before this one come too late.
    settled_before: Bucket,
    frontier: Bucket,
}

impl Census {
    pub fn count(&mut self, report: &CounterReport, newest: Bucket) {
        if report.counter >= MAX_COUNTERS {
            return;
        }
        // Where nobody is known nobody can be counted twice, and a line needs somebody to begin.
        let knows_nobody = self.behind == 0 && self.settled.is_empty() && self.fresh.is_empty();
        for (bucket, total) in &report.totals {
            let late = *bucket < self.settled_before && *bucket != Bucket::LOTTERY && !knows_nobody;
            // A bucket of the future is a mistake, and would never be settled.
            if late || *bucket < self.frontier || *bucket > newest.next() {
                continue;
            }
            let known = self.fresh.entry(*bucket).or_default();
            let known = known.entry(report.counter).or_default();
            known.fans = known.fans.max(total.fans);
            known.others = known.others.max(total.others);
        }
    }

    /// Forgets what is behind the frontier, and which counter said what long ago.
    pub fn settle(&mut self, frontier: Bucket, newest: Bucket) {
        self.frontier = self.frontier.max(frontier);
        let settled_before = Bucket(newest.0.saturating_sub(SETTLE_AFTER));
        self.settled_before = self.settled_before.max(settled_before);
        // The lottery stays fresh until the frontier has passed it.
        let is_done = |bucket: &Bucket| {
            *bucket < self.frontier || *bucket != Bucket::LOTTERY && *bucket < self.settled_before
        };
        for (bucket, counters) in self.fresh.extract_if(.., |bucket, _| is_done(bucket)) {
            let known = self.settled.entry(bucket).or_default();
            *known = known.plus(sum(&counters));
        }
        while let Some(entry) = self.settled.first_entry() {
            if *entry.key() >= self.frontier {
                break;
            }
            self.behind = self.behind.saturating_add(entry.remove().all());
        }
        self.coarsen();
    }

    /// Adds every other bucket to the next. The frontier then lets one second of arrivals
    /// in early, which the gates absorb.
    fn coarsen(&mut self) {
        if self.settled.len() <= MAX_BUCKETS {
            return;
        }
        let mut coarse = BTreeMap::new();
        let mut carried: Option<(Bucket, Tally)> = None;
        for (bucket, tally) in std::mem::take(&mut self.settled) {
            match carried.take() {
                Some((_, before)) => {
                    coarse.insert(bucket, tally.plus(before));
                }
                None if bucket == Bucket::LOTTERY || bucket == self.frontier => {
                    coarse.insert(bucket, tally);
                }
                None => carried = Some((bucket, tally)),
            }
        }
        coarse.extend(carried);
        self.settled = coarse;
    }

    pub fn tally(&self, bucket: Bucket) -> Tally {
        let settled = self.settled.get(&bucket).copied().unwrap_or_default();
        match self.fresh.get(&bucket) {
            Some(counters) => settled.plus(sum(counters)),
            None => settled,
        }
    }

    /// Buckets from the frontier's on with their people, in order.
    pub fn buckets(&self) -> impl Iterator<Item = (Bucket, Tally)> {
        let mut all = self.settled.clone();
        for (bucket, counters) in &self.fresh {
            let known = all.entry(*bucket).or_default();
            *known = known.plus(sum(counters));
        }
        let from = self.frontier;
        all.into_iter().filter(move |(bucket, _)| *bucket >= from)
    }

    pub fn behind(&self) -> u64 {
        self.behind
    }

    pub fn joined(&self) -> u64 {
        let ahead = self.buckets().map(|(_, tally)| tally.all());
        ahead.fold(self.behind, u64::saturating_add)
    }

    /// How many tickets lie at or before the frontier.
    pub fn admitted(&self, frontier: Frontier) -> f64 {
        let passed = ..frontier.bucket;
        let settled = self.settled.range(passed).map(|(_, tally)| tally.all());
        let fresh = self
            .fresh
            .range(passed)
            .map(|(_, counters)| sum(counters).all());
        let behind = settled.chain(fresh).fold(self.behind, u64::saturating_add);
        behind as f64 + self.tally(frontier.bucket).through(frontier.through)
    }

    /// The frontier moved on by `want` people, up to the end of `last`; and how many were
    /// wanted beyond the people there are.
    pub fn advance(&self, from: Frontier, want: f64, last: Bucket) -> (Frontier, f64) {
        let mut at = from;
        let mut want = want;
        if want <= 0.0 || last < from.bucket {
            return (from, 0.0);
        }
        loop {
            let tally = self.tally(at.bucket);
            for band in [Band::Fan, Band::Everybody] {
                if at.through.band() > band {
                    continue;
                }
                let people = tally.of(band) as f64;
                let share = match at.through.band() == band {
                    true => at.through.share_of_band(),
                    false => 0.0,
                };
                let left = people * (1.0 - share);
                if want < left {
                    at.through = Draw::at_share(band, share + want / people);
                    return (from.forward_to(at), 0.0);
                }
                want -= left;
                at.through = match band {
                    Band::Fan => Draw::LAST_FAN,
                    Band::Everybody => Draw::LAST,
                };
            }
            match self.next_bucket(at.bucket).filter(|next| *next <= last) {
                Some(bucket) => {
                    at = Frontier {
                        bucket,
                        through: Draw(0),
                    }
                }
                None => {
                    let end = Frontier {
                        bucket: last,
                        through: Draw::LAST,
                    };
                    return (end.forward_to(at), want);
                }
            }
        }
    }

    fn next_bucket(&self, after: Bucket) -> Option<Bucket> {
        let from = after.next()..;
        let settled = self.settled.range(from.clone()).next().map(|(b, _)| *b);
        let fresh = self.fresh.range(from).next().map(|(b, _)| *b);
        match (settled, fresh) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }
}

fn sum(counters: &BTreeMap<u8, Tally>) -> Tally {
    counters
        .values()
        .copied()
        .fold(Tally::default(), Tally::plus)
}

#[cfg(test)]
#[path = "census_tests.rs"]
mod tests;
