//! How long the wait is: a middle estimate and a promise that holds for nine in ten.
//!
//! The forecast says how fast the line should move. How far forecasts were off is
//! measured all the time by probes, which ask and look back as a visitor would, and each
//! is stretched by what would have been right for half or nine in ten of them.
//! Two things keep the promise true to its number. The last seconds of a wait are less
//! certain for their length than the minutes before, so near and far are measured apart.
//! And probes remember what they were promised: each promise that is kept makes the next
//! ones a little shorter and each broken one makes them nine times as much longer, so that
//! they settle where nine in ten are kept (quantile tracking, as in Angelopoulos, Candès
//! and Tibshirani 2023). The steps are small beside the errors of a line that is hard to
//! foretell, and large where it moves like clockwork and a hundredth decides about all
//! promises at once.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use super::forecast::{Expected, Forecast};
use crate::sorted::sorted;
use crate::time::Millis;

/// By which factors to stretch a forecast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stretch {
    pub p50_permille: u32,
    pub p90_permille: u32,
}

/// How to stretch forecasts of [`NEAR_SECONDS`] and less, and of [`FAR_SECONDS`] and more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    pub near: Stretch,
    pub far: Stretch,
}

pub const NEAR_SECONDS: f64 = 10.0;
pub const FAR_SECONDS: f64 = 60.0;

/// From 0 for near to 1 for far, evenly between them in terms of factors.
fn farness(seconds: f64) -> f64 {
    let between = (seconds / NEAR_SECONDS).ln() / (FAR_SECONDS / NEAR_SECONDS).ln();
    between.clamp(0.0, 1.0)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    pub p50: u32,
    pub p90: u32,
}

/// Which number somebody is of those still to be let in, themselves included: by the share of
/// tickets that should have somebody who comes, and by the share that may.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ahead {
    pub expected: f64,
    pub cautious: f64,
}

impl Ahead {
    fn expected_by(self, forecast: &Forecast) -> Option<Expected> {
        let p50 = forecast.seconds(self.expected)?.p50;
        let p90 = forecast.seconds(self.cautious)?.p90;
        Some(Expected { p50, p90 })
    }
}

impl Wait {
    /// The wait of somebody in the line, in whole seconds.
    pub fn estimate(people: Ahead, forecast: &Forecast, spread: Spread) -> Option<Self> {
        let wait = Self::stretched(people.expected_by(forecast)?, spread);
        let possible = |people: f64| forecast.possible_s(people) as u32;
        Some(Self {
            p50: wait.p50.min(possible(people.expected)),
            p90: wait.p90.min(possible(people.cautious)),
        })
    }

    fn stretched(expected: Expected, Spread { near, far }: Spread) -> Self {
        let farness = farness(expected.p50);
        let by = |seconds: f64, near: u32, far: u32| {
            let permille = f64::from(near) * (1.0 - farness) + f64::from(far) * farness;
            (seconds * permille / 1_000.0).round() as u32
        };
        let p50 = by(expected.p50, near.p50_permille, far.p50_permille).max(1);
        let p90 = by(expected.p90, near.p90_permille, far.p90_permille);
        Self {
            p50,
            p90: p90.max(p50),
        }
    }
}

const PROBE_EVERY_MS: u64 = 2_000;
const MAX_PROBES: usize = 512;
/// In a line of hours the places left are for probes that come back sooner.
const MAX_EVEN_PROBES: usize = 384;
const MAX_RATIOS: usize = 300;
/// Shorter forecasts would only measure the length of a tick.
const SHORTEST_PROBE_SECONDS: f64 = 2.0;
/// What was forecast longer ago than this was forecast of another line.
const RECENT_MS: u64 = 450_000;
/// Before anything is measured middle forecasts are taken to be right within a fifth, and
/// cautious ones to hold for nine in ten.
const ASSUMED: usize = 12;
const ASSUMED_P50_PERMILLE: (f64, f64) = (800.0, 1_200.0);
const ASSUMED_P90_PERMILLE: (f64, f64) = (600.0, 1_080.0);
const LEAST_PERMILLE: u32 = 250;
const MOST_PERMILLE: u32 = 4_000;

/// The shares of visitors that the promises shall hold for.
const P50: f64 = 0.5;
const P90: f64 = 0.9;
/// A kept promise at P90 makes the next ones shorter by three in ten thousand.
const GAIN: f64 = 0.003;
const LEAST_CORRECTION: f64 = 0.5;
const MOST_CORRECTION: f64 = 2.0;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Probe {
    asked: Millis,
    /// Done once this many tickets have been let in.
    admitted: f64,
    forecast_p50_ms: f64,
    forecast_p90_ms: f64,
    promised: Wait,
    /// Which of the promises have been judged: a broken one is before the wait is over.
    judged_p50: bool,
    judged_p90: bool,
}

impl Probe {
    /// Waited over forecast in thousandths.
    fn ratio(&self, now: Millis) -> Ratio {
        let waited = (now - self.asked) as f64 * 1_000.0;
        Ratio {
            p50: (waited / self.forecast_p50_ms) as u32,
            p90: (waited / self.forecast_p90_ms) as u32,
        }
    }

    fn is_far(&self) -> bool {
        farness(self.forecast_p50_ms / 1_000.0) >= 0.5
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Ratio {
    p50: u32,
    p90: u32,
}

/// How far forecasts of about one length were off lately.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Experience {
    /// When asked, and how far the forecasts were off.
    ratios: VecDeque<(Millis, Ratio)>,
    /// By how much the quantiles of the ratios are corrected, to keep as many promises as
    /// they should.
    p50: f64,
    p90: f64,
}

impl Default for Experience {
    fn default() -> Self {
        Self {
            ratios: VecDeque::new(),
            p50: 1.0,
            p90: 1.0,
        }
    }
}

impl Experience {
    /// Learns what it can from a probe, and counts the promises it judges.
    fn learn(&mut self, probe: &mut Probe, now: Millis, done: bool, promises: &mut Promises) {
        let waited = now - probe.asked;
        let judge = |correction: &mut f64,
                     judged: &mut bool,
                     share: f64,
                     promised: u32,
                     count: &mut Judged| {
            let broken = waited > u64::from(promised) * 1_000;
            if *judged || !(done || broken) {
                return;
            }
            *judged = true;
            count.count(!broken);
            let kept = if broken { 0.0 } else { 1.0 };
            let corrected = *correction * (GAIN * (share - kept)).exp();
            *correction = corrected.clamp(LEAST_CORRECTION, MOST_CORRECTION);
        };
        let Wait { p50, p90 } = probe.promised;
        let Promises {
            p50: half,
            p90: most,
        } = promises;
        judge(&mut self.p50, &mut probe.judged_p50, P50, p50, half);
        judge(&mut self.p90, &mut probe.judged_p90, P90, p90, most);
        if done {
            self.ratios.push_back((probe.asked, probe.ratio(now)));
            if self.ratios.len() > MAX_RATIOS {
                self.ratios.pop_front();
            }
        }
    }
}

/// Recent ratios in rising order, and whether each is the last word.
struct Ratios(Vec<(u32, bool)>);

impl Ratios {
    /// The ratio that this share of all stays at or below. Probes under way count as
    /// having waited at least so long, as the patients still alive do in the estimate of
    /// Kaplan and Meier: or a line that slows down would be judged by the short waits
    /// alone.
    fn quantile(&self, share: f64) -> u32 {
        let Self(all) = self;
        let mut waiting_still = 1.0;
        let mut found = 1_000;
        for (i, (ratio, done)) in all.iter().enumerate() {
            found = *ratio;
            if *done {
                waiting_still *= 1.0 - 1.0 / (all.len() - i) as f64;
            }
            if waiting_still <= 1.0 - share + 1e-9 {
                break;
            }
        }
        found.clamp(LEAST_PERMILLE, MOST_PERMILLE)
    }
}

/// What was measured lately of both forecasts.
struct Measured {
    p50: Ratios,
    p90: Ratios,
}

impl Measured {
    fn stretch(&self, experience: &Experience) -> Stretch {
        let corrected = |ratio: u32, by: f64| (f64::from(ratio) * by).round() as u32;
        Stretch {
            p50_permille: corrected(self.p50.quantile(P50), experience.p50),
            p90_permille: corrected(self.p90.quantile(P90), experience.p90),
        }
    }
}

/// Twelfths in an order in which even a few of them span the whole.
fn twelfths() -> impl Iterator<Item = f64> {
    (0..ASSUMED).map(|i| (i * 7 % ASSUMED) as f64 / ASSUMED as f64)
}

/// How many promises about waiting were judged so far, and how many of them kept: what
/// anybody can hold the forecasts to after the sale. Pauses are no part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Promises {
    pub p50: Judged,
    pub p90: Judged,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Judged {
    pub all: u32,
    pub kept: u32,
}

impl Judged {
    fn count(&mut self, kept: bool) {
        self.all = self.all.saturating_add(1);
        self.kept = self.kept.saturating_add(u32::from(kept));
    }

    /// The share that was kept; `None` before any was judged.
    pub fn share(self) -> Option<f64> {
        (self.all > 0).then(|| f64::from(self.kept) / f64::from(self.all))
    }
}

/// How far forecasts were off lately, and the probes under way.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Calibration {
    near: Experience,
    far: Experience,
    probes: VecDeque<Probe>,
    asked: u64,
    last_asked: Millis,
    promises: Promises,
}

impl Calibration {
    pub fn promises(&self) -> Promises {
        self.promises
    }

    /// The factors that would have been right for half and for nine in ten of the probes.
    pub fn spread(&self, now: Millis) -> Spread {
        let assumed = |(from, to): (f64, f64)| {
            let all = twelfths().map(move |share| (from + share * (to - from)) as u32);
            all.collect::<Vec<_>>()
        };
        let near = Measured {
            p50: self.ratios(now, false, |r| r.p50, assumed(ASSUMED_P50_PERMILLE)),
            p90: self.ratios(now, false, |r| r.p90, assumed(ASSUMED_P90_PERMILLE)),
        };
        // Somebody far behind waits about as much longer than forecast as those in front.
        let as_near = |near: &Ratios| {
            let all = twelfths().map(|share| near.quantile(share + 0.5 / ASSUMED as f64));
            all.collect::<Vec<_>>()
        };
        let far = Measured {
            p50: self.ratios(now, true, |r| r.p50, as_near(&near.p50)),
            p90: self.ratios(now, true, |r| r.p90, as_near(&near.p90)),
        };
        Spread {
            near: near.stretch(&self.near),
            far: far.stretch(&self.far),
        }
    }

    /// What was measured lately, made up to a dozen by what is assumed.
    fn ratios(&self, now: Millis, far: bool, of: fn(Ratio) -> u32, assumed: Vec<u32>) -> Ratios {
        let recent = |asked: Millis| asked + RECENT_MS > now;
        let experience = if far { &self.far } else { &self.near };
        let done = experience.ratios.iter();
        let done = done.filter(|(asked, _)| recent(*asked));
        let mut all: Vec<_> = done.map(|(_, ratio)| (of(*ratio), true)).collect();
        let missing = ASSUMED.saturating_sub(all.len());
        all.extend(assumed.into_iter().take(missing).map(|ratio| (ratio, true)));
        let under_way = self.probes.iter().filter(|probe| probe.is_far() == far);
        let under_way = under_way.filter(|probe| recent(probe.asked));
        all.extend(under_way.map(|probe| (of(probe.ratio(now)), false)));
        Ratios(sorted(all))
    }

    /// Forgets the probes under way: a pause or new settings would teach them nothing
    /// about forecasts.
    pub fn interrupt(&mut self) {
        self.probes.clear();
    }

    /// Looks back on the probes and sends new ones from somewhere in the line.
    pub fn observe(&mut self, now: Millis, line: &Progress<'_>) {
        let Self {
            near,
            far,
            probes,
            promises,
            ..
        } = self;
        probes.retain_mut(|probe| {
            let done = probe.admitted <= line.admitted;
            match probe.is_far() {
                true => far.learn(probe, now, done, promises),
                false => near.learn(probe, now, done, promises),
            }
            !done
        });
        if self.last_asked + PROBE_EVERY_MS > now {
            return;
        }
        self.last_asked = now;
        self.asked = self.asked.wrapping_add(1);
        self.send(now, line);
    }

    /// One probe from anywhere in the line, as its people are spread, and one that is the
    /// likelier the nearer the front, as their questions are.
    fn send(&mut self, now: Millis, line: &Progress<'_>) {
        let spread = self.spread(now);
        // Multiples of the golden ratio fill the line evenly.
        let share = (self.asked as f64 * 0.618_033_988_749_895).fract();
        let even = (line.waiting * share, MAX_EVEN_PROBES);
        let in_front = (line.waiting.max(1.0).powf(share), MAX_PROBES);
        for (ahead, room) in [even, in_front] {
            let people = |share: f64| line.at_door + ahead * share + 1.0;
            let people = Ahead {
                expected: people(line.share),
                cautious: people(line.cautious_share),
            };
            let expected = people.expected_by(line.forecast);
            let expected =
                expected.filter(|it| it.p50 >= SHORTEST_PROBE_SECONDS && ahead < line.waiting);
            if let Some(expected) = expected.filter(|_| self.probes.len() < room) {
                self.probes.push_back(Probe {
                    asked: now,
                    admitted: line.reached + ahead,
                    forecast_p50_ms: expected.p50 * 1_000.0,
                    forecast_p90_ms: expected.p90 * 1_000.0,
                    promised: Wait::stretched(expected, spread),
                    judged_p50: false,
                    judged_p90: false,
                });
            }
        }
    }
}

/// How far the line has come, in tickets.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// How many tickets the frontier has reached, and how many of them are past the door.
    pub reached: f64,
    pub admitted: f64,
    /// How many tickets are behind the frontier.
    pub waiting: f64,
    pub at_door: f64,
    /// How many people a ticket stands for.
    pub share: f64,
    pub cautious_share: f64,
    pub forecast: &'a Forecast,
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
