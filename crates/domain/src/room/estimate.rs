//! How long the wait is: a middle estimate and a promise that holds for nine in ten.
//!
//! The flow says how fast the line should move. How far such forecasts were off is
//! measured all the time by probes, which ask and look back as a visitor would, and the
//! forecast is stretched by what would have been right for half or nine in ten of them.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use crate::time::{LAST_MOMENT, Millis};

/// How fast tickets are let in: some quickly, while slots are free, then as slots return.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Flow {
    pub quick_tickets: u64,
    pub quick_milli_per_second: u64,
    pub steady_milli_per_second: u64,
}

impl Flow {
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
pub struct Spread {
    pub p50_permille: u32,
    pub p90_permille: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    pub p50: u32,
    pub p90: u32,
}

impl Wait {
    /// The wait in whole seconds.
    pub fn estimate(ahead: u64, flow: &Flow, spread: Spread) -> Option<Self> {
        let seconds = flow.seconds(ahead)?;
        let stretched = |permille: u32| (seconds * f64::from(permille) / 1_000.0).round() as u32;
        let p50 = stretched(spread.p50_permille).max(1);
        Some(Self {
            p50,
            p90: stretched(spread.p90_permille).max(p50),
        })
    }
}

const PROBE_EVERY_MS: u64 = 2_000;
const MAX_PROBES: usize = 512;
const MAX_RATIOS: usize = 300;
/// Shorter forecasts would only measure the length of a tick.
const SHORTEST_PROBE_SECONDS: f64 = 20.0;
/// What was forecast longer ago than this was forecast of another line.
const RECENT_MS: u64 = 450_000;
/// Before anything is measured forecasts are taken to be off by a quarter.
const ASSUMED: usize = 12;

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Probe {
    asked: Millis,
    /// Done once this many tickets have been let in.
    admitted: f64,
    forecast_ms: f64,
}

/// How far forecasts were off lately, and the probes under way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// When asked, and waited over forecast in thousandths; at first some assumed ones.
    ratios: VecDeque<(Millis, u32)>,
    assumed: usize,
    probes: VecDeque<Probe>,
    asked: u64,
    last_asked: Millis,
}

impl Default for Calibration {
    fn default() -> Self {
        Self {
            ratios: (0..ASSUMED as u32)
                .map(|i| (LAST_MOMENT, 750 + i * 500 / ASSUMED as u32))
                .collect(),
            assumed: ASSUMED,
            probes: VecDeque::new(),
            asked: 0,
            last_asked: Millis(0),
        }
    }
}

impl Calibration {
    /// The factors that would have been right for half and for nine in ten of the probes.
    /// Probes under way count as having waited at least so long, as the patients still
    /// alive do in the estimate of Kaplan and Meier: or a line that slows down would be
    /// judged by the short waits alone.
    pub fn spread(&self, now: Millis) -> Spread {
        let recent = |asked: Millis| asked + RECENT_MS > now;
        let done = self.ratios.iter().filter(|(asked, _)| recent(*asked));
        let done = done.map(|(_, ratio)| (*ratio, true));
        let under_way = self.probes.iter().filter(|probe| recent(probe.asked));
        let under_way = under_way.map(|probe| (probe.ratio(now), false));
        let mut all: Vec<(u32, bool)> = done.chain(under_way).collect();
        all.sort_unstable();
        let quantile = |share: f64| {
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
        };
        Spread {
            p50_permille: quantile(0.5),
            p90_permille: quantile(0.9),
        }
    }

    /// Forgets the probes under way: a pause or new settings would teach them nothing
    /// about forecasts.
    pub fn interrupt(&mut self) {
        self.probes.clear();
    }

    /// Looks back on the probes and sends a new one from somewhere in the line.
    pub fn observe(&mut self, now: Millis, admitted: f64, waiting: f64, flow: &Flow) {
        let (done, under_way): (VecDeque<Probe>, _) = self
            .probes
            .iter()
            .partition(|probe| probe.admitted <= admitted);
        self.probes = under_way;
        for probe in done {
            self.ratios.push_back((probe.asked, probe.ratio(now)));
            // Each measured ratio takes the place of an assumed one, later of the oldest.
            if self.assumed > 0 || self.ratios.len() > MAX_RATIOS {
                self.assumed = self.assumed.saturating_sub(1);
                self.ratios.pop_front();
            }
        }
        if self.last_asked + PROBE_EVERY_MS > now || self.probes.len() >= MAX_PROBES {
            return;
        }
        self.last_asked = now;
        self.asked = self.asked.wrapping_add(1);
        // Multiples of the golden ratio fill the line evenly, as its people do.
        let ahead = waiting * (self.asked as f64 * 0.618_033_988_749_895).fract();
        let forecast = flow.seconds(ahead as u64);
        if let Some(seconds) = forecast.filter(|s| *s >= SHORTEST_PROBE_SECONDS) {
            self.probes.push_back(Probe {
                asked: now,
                admitted: admitted + ahead,
                forecast_ms: seconds * 1_000.0,
            });
        }
    }
}

const LEAST_PERMILLE: u32 = 250;
const MOST_PERMILLE: u32 = 4_000;

impl Probe {
    fn ratio(&self, now: Millis) -> u32 {
        ((now - self.asked) as f64 * 1_000.0 / self.forecast_ms) as u32
    }
}

#[cfg(test)]
#[path = "estimate_tests.rs"]
mod tests;
