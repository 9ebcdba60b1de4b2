//! How long the wait is: a middle estimate and a promise that holds for nine in ten.
//!
//! The flow says how fast the line should move. How far such forecasts were off is
//! measured all the time by probes, which ask and look back as a visitor would, and the
//! forecast is stretched by what would have been right for half or nine in ten of them.
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

use crate::time::Millis;

/// How fast tickets are let in: some quickly, while slots are free, then as slots return.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Flow {
    pub quick_tickets: u64,
    pub quick_milli_per_second: u64,
    pub steady_milli_per_second: u64,
}

impl Flow {
    /// How long it takes at least, should every slot be free: the rate is a limit.
    pub fn earliest_ms(&self, ahead: u64) -> u64 {
        match self.quick_milli_per_second {
            0 => u64::MAX,
            milli => (u128::from(ahead) * 1_000_000 / u128::from(milli))
                .try_into()
                .unwrap_or(u64::MAX),
        }
    }

    /// The forecast for somebody with this many ahead; `None` when the line stands still.
    pub fn seconds(&self, ahead: u64) -> Option<f64> {
        let tickets = ahead.saturating_add(1);
        let quick = tickets.min(self.quick_tickets);
        let steady = tickets - quick;
        let time = |tickets: u64, milli_per_second: u64| match (tickets, milli_per_second) {
            (0, _) => Some(0.0),
            (_, 0) => None,
            (tickets, milli) => Some(tickets as f64 * 1_000.0 / milli as f64),
        };
        Some(
            time(quick, self.quick_milli_per_second)? + time(steady, self.steady_milli_per_second)?,
        )
    }
}

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

impl Wait {
    /// The wait in whole seconds.
    pub fn estimate(ahead: u64, flow: &Flow, spread: Spread) -> Option<Self> {
        Some(Self::stretched(flow.seconds(ahead)?, spread))
    }

    fn stretched(seconds: f64, Spread { near, far }: Spread) -> Self {
        let farness = farness(seconds);
        let by = |near: u32, far: u32| {
            let permille = f64::from(near) * (1.0 - farness) + f64::from(far) * farness;
            (seconds * permille / 1_000.0).round() as u32
        };
        let p50 = by(near.p50_permille, far.p50_permille).max(1);
        Self {
            p50,
            p90: by(near.p90_permille, far.p90_permille).max(p50),
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
/// Before anything is measured forecasts are taken to be right within a quarter below and
/// a tenth above: the first ones reckon with visits as long as a pass.
const ASSUMED: usize = 12;
const ASSUMED_FROM_PERMILLE: u32 = 750;
const ASSUMED_RANGE_PERMILLE: f64 = 350.0;
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
    forecast_ms: f64,
    promised: Wait,
    /// Which of the promises have been judged: a broken one is before the wait is over.
    judged_p50: bool,
    judged_p90: bool,
}

impl Probe {
    fn ratio(&self, now: Millis) -> u32 {
        ((now - self.asked) as f64 * 1_000.0 / self.forecast_ms) as u32
    }

    fn is_far(&self) -> bool {
        farness(self.forecast_ms / 1_000.0) >= 0.5
    }
}

/// How far forecasts of about one length were off lately.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Experience {
    /// When asked, and waited over forecast in thousandths.
    ratios: VecDeque<(Millis, u32)>,
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

    fn stretch(&self, experience: &Experience) -> Stretch {
        let corrected = |share, by: f64| (f64::from(self.quantile(share)) * by).round() as u32;
        Stretch {
            p50_permille: corrected(P50, experience.p50),
            p90_permille: corrected(P90, experience.p90),
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
        let assumed = |share| ASSUMED_FROM_PERMILLE + (share * ASSUMED_RANGE_PERMILLE) as u32;
        let near = self.ratios(now, false, twelfths().map(assumed));
        // Somebody far behind waits about as much longer than forecast as those in front.
        let as_near = twelfths().map(|share| near.quantile(share + 0.5 / ASSUMED as f64));
        let far = self.ratios(now, true, as_near);
        Spread {
            near: near.stretch(&self.near),
            far: far.stretch(&self.far),
        }
    }

    /// What was measured lately, made up to a dozen by what is assumed.
    fn ratios(&self, now: Millis, far: bool, assumed: impl Iterator<Item = u32>) -> Ratios {
        let recent = |asked: Millis| asked + RECENT_MS > now;
        let experience = if far { &self.far } else { &self.near };
        let done = experience.ratios.iter();
        let done = done.filter(|(asked, _)| recent(*asked));
        let mut all: Vec<_> = done.map(|(_, ratio)| (*ratio, true)).collect();
        let missing = ASSUMED.saturating_sub(all.len());
        all.extend(assumed.take(missing).map(|ratio| (ratio, true)));
        let under_way = self.probes.iter().filter(|probe| probe.is_far() == far);
        let under_way = under_way.filter(|probe| recent(probe.asked));
        all.extend(under_way.map(|probe| (probe.ratio(now), false)));
        all.sort_unstable();
        Ratios(all)
    }

    /// Forgets the probes under way: a pause or new settings would teach them nothing
    /// about forecasts.
    pub fn interrupt(&mut self) {
        self.probes.clear();
    }

    /// Looks back on the probes and sends new ones from somewhere in the line.
    pub fn observe(&mut self, now: Millis, admitted: f64, waiting: f64, flow: &Flow) {
        let Self {
            near,
            far,
            probes,
            promises,
            ..
        } = self;
        probes.retain_mut(|probe| {
            let done = probe.admitted <= admitted;
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
        self.send(now, admitted, waiting, flow);
    }

    /// One probe from anywhere in the line, as its people are spread, and one that is the
    /// likelier the nearer the front, as their questions are.
    fn send(&mut self, now: Millis, admitted: f64, waiting: f64, flow: &Flow) {
        let spread = self.spread(now);
        // Multiples of the golden ratio fill the line evenly.
        let share = (self.asked as f64 * 0.618_033_988_749_895).fract();
        let even = (waiting * share, MAX_EVEN_PROBES);
        let in_front = (waiting.max(1.0).powf(share), MAX_PROBES);
        for (ahead, room) in [even, in_front] {
            let forecast = flow.seconds(ahead as u64);
            let forecast = forecast.filter(|s| *s >= SHORTEST_PROBE_SECONDS && ahead < waiting);
            if let Some(seconds) = forecast.filter(|_| self.probes.len() < room) {
                self.probes.push_back(Probe {
                    asked: now,
                    admitted: admitted + ahead,
                    forecast_ms: seconds * 1_000.0,
                    promised: Wait::stretched(seconds, spread),
                    judged_p50: false,
                    judged_p90: false,
                });
            }
        }
    }
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
