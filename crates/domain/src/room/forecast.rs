//! When how many of those who wait will have been let in: a middle forecast, and one that
//! should hold for nine in ten.
//!
//! The room is run ahead in thought. What is known of it is when each pass ends at the
//! latest, how many leave before, and the rate. People are treated as an amount that flows;
//! chance comes in as the spread of a sum over the slots. So it holds for a room of one as
//! for one of ten thousand.

use serde::{Deserialize, Serialize};

use super::pass::MAX_PASS_MS;
use crate::time::CLOCK_SKEW_MS;

/// Into how many steps a visit is divided. None is shorter than a second.
const STEPS_OF_A_VISIT: f64 = 96.0;
/// How many visits are thought ahead. A longer line is taken to move on as in the last.
const VISITS_AHEAD: usize = 8;
/// From when a slot is free until whoever gets it has heard of it.
const HANDOVER_P50_S: f64 = 2.5;
const HANDOVER_P90_S: f64 = 6.0;
/// How long a slot is empty between two visits.
const IDLE_S: f64 = 3.0;
/// Nine in ten of a normal distribution lie below its mean and 1.28 deviations; of visits
/// that end at a certain time at the latest a little fewer are enough.
const DEVIATIONS: f64 = 1.0;
/// What is known of visits is wrong by up to a fifth, for all of them alike. That tells
/// after some rounds of visits.
const SYSTEMATIC: f64 = 0.2;
const SYSTEMATIC_ROUNDS: f64 = 8.0;
/// Each number of people up to this has a knot, and above it each that is a fifth larger.
const SINGLE_KNOTS: f64 = 16.0;
const MAX_KNOTS: usize = 64;

/// What the room is like now.
#[derive(Debug, Clone, PartialEq)]
pub struct Inside {
    pub capacity: u32,
    pub rate_per_second: u32,
    pub pass_seconds: u32,
    pub live: f64,
    /// In how many seconds passes end at the latest, each with how many it stands for.
    pub ends: Vec<(f64, f64)>,
    /// The share of those inside who leave within a second, and of passes that are renewed.
    pub leaving_per_second: f64,
    pub renewing: f64,
    /// In how many seconds the first are called.
    pub begins_s: f64,
    /// For how many people to think ahead.
    pub people: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Knot {
    people: u64,
    p50_ms: u64,
    p90_ms: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Forecast {
    knots: Vec<Knot>,
    /// How fast people are let in beyond the last knot.
    milli_per_second: u64,
    rate_per_second: u32,
    capacity: u32,
    free: u32,
}

/// How long until somebody is let in, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    pub p50: f64,
    pub p90: f64,
}

impl Forecast {
    pub fn of(inside: &Inside) -> Self {
        let (dt, curve) = run_ahead(inside);
        let mut forecast = Self {
            knots: Vec::new(),
            milli_per_second: steady(inside, dt, &curve),
            rate_per_second: inside.rate_per_second,
            capacity: inside.capacity,
            free: (f64::from(inside.capacity) - inside.live).max(0.0) as u32,
        };
        let capacity = f64::from(inside.capacity).max(1.0);
        let (mut middle, mut most) = (Crossing::default(), Crossing::default());
        let mut people = 1.0f64;
        while forecast.knots.len() < MAX_KNOTS {
            let wanted = people - 0.5;
            let p50 = middle.after(&curve, dt, wanted, |admitted| admitted);
            let p90 = most.after(&curve, dt, wanted, |admitted| low(admitted, capacity));
            let (Some(p50), Some(p90)) = (p50, p90) else {
                break;
            };
            let ms = |seconds: f64| ((seconds + inside.begins_s) * 1_000.0) as u64;
            forecast.knots.push(Knot {
                people: people as u64,
                p50_ms: ms(p50 + HANDOVER_P50_S),
                p90_ms: ms(p90.max(p50) + HANDOVER_P90_S),
            });
            if people >= inside.people {
                break;
            }
            people = match people < SINGLE_KNOTS {
                true => people + 1.0,
                false => (people * 1.2).ceil(),
            };
        }
        forecast
    }

    /// For somebody who is number `people` of those still to be let in, themselves included;
    /// `None` when the line stands still.
    pub fn seconds(&self, people: f64) -> Option<Expected> {
        let after = self.knots.partition_point(|k| (k.people as f64) < people);
        let between = |low: &Knot, high: &Knot| {
            let share = (people - low.people as f64) / (high.people - low.people).max(1) as f64;
            let mix = |low: u64, high: u64| low as f64 + (high as f64 - low as f64) * share;
            (mix(low.p50_ms, high.p50_ms), mix(low.p90_ms, high.p90_ms))
        };
        let (p50, p90) = match (self.knots[..after].last(), self.knots.get(after)) {
            (Some(low), Some(high)) => between(low, high),
            (None, Some(first)) => (first.p50_ms as f64, first.p90_ms as f64),
            (last, None) if self.milli_per_second > 0 => {
                let (known, p50, p90) = last.map_or((0, 0, 0), |k| (k.people, k.p50_ms, k.p90_ms));
                let more = (people - known as f64) * 1e6 / self.milli_per_second as f64;
                (p50 as f64 + more, p90 as f64 + more)
            }
            (_, None) => return None,
        };
        let possible = self.possible_s(people);
        Some(Expected {
            p50: (p50 / 1_000.0).min(possible),
            p90: (p90 / 1_000.0).min(possible),
        })
    }

    /// No visit lasts longer than fifteen minutes, so nobody can wait for longer than it
    /// takes those before them to come and go one after the other. Where slots are free a
    /// line at a quarter of its rate stands still, and nothing is promised.
    pub fn possible_s(&self, people: f64) -> f64 {
        let visits = ((people - f64::from(self.free)) / f64::from(self.capacity.max(1))).ceil();
        let at_rate = people / f64::from(self.rate_per_second.max(1));
        match visits > 0.0 {
            true => visits * MAX_PASS_MS as f64 / 1_000.0 + 2.0 * (at_rate - 1.0).max(0.0),
            false => 4.0 * at_rate + 10.0,
        }
    }

    /// How long it takes at least, should every slot be free: the rate is a limit.
    pub fn earliest_ms(&self, people: f64) -> u64 {
        (people * 1_000.0 / f64::from(self.rate_per_second.max(1))) as u64
    }
}

/// How many will have been let in after each step, and how long a step is.
fn run_ahead(inside: &Inside) -> (f64, Vec<f64>) {
    let pass = f64::from(inside.pass_seconds);
    let visit = pass + 2.0 * CLOCK_SKEW_MS as f64 / 1_000.0 + IDLE_S;
    let dt = (visit / STEPS_OF_A_VISIT).max(1.0);
    let steps = (visit / dt).ceil() as usize;
    let renewed = ((pass / dt) as usize).min(steps);
    let mut ending = vec![0.0; steps + 1];
    for (seconds, people) in &inside.ends {
        ending[((seconds / dt).max(0.0) as usize).min(steps)] += people;
    }
    let leaving = inside.leaving_per_second / (1.0 + IDLE_S * inside.leaving_per_second);
    let stays = (-leaving * dt).exp();
    let mut free = f64::from(inside.capacity) - inside.live;
    let per_step = f64::from(inside.rate_per_second) * dt;
    let mut curve = Vec::new();
    let mut admitted = 0.0;
    // A little beyond, for the cautious forecast of the last in line.
    let enough = inside.people + 2.0 + 2.0 * inside.people.sqrt();
    while curve.len() < steps * VISITS_AHEAD && admitted < enough {
        for people in &mut ending {
            free += *people * (1.0 - stays);
            *people *= stays;
        }
        ending.rotate_left(1);
        let ended = std::mem::take(&mut ending[steps]);
        ending[renewed] += ended * inside.renewing;
        free += ended * (1.0 - inside.renewing);
        let entering = free.clamp(0.0, per_step);
        free -= entering;
        ending[steps] += entering;
        admitted += entering;
        curve.push(admitted);
    }
    (dt, curve)
}

/// How fast people were let in at the end of what was thought ahead.
fn steady(inside: &Inside, dt: f64, curve: &[f64]) -> u64 {
    let steps = (curve.len() / 2).max(1);
    let last = curve.last().copied().unwrap_or(0.0);
    let before = curve.len().checked_sub(steps + 1);
    let before = before.map_or(0.0, |at| curve[at]);
    let per_second = (last - before) / (steps as f64 * dt);
    (per_second.min(f64::from(inside.rate_per_second)) * 1_000.0) as u64
}

/// As many as will have been let in nine times in ten. Of each slot it is known how often
/// it will have been given away, up to one.
fn low(admitted: f64, capacity: f64) -> f64 {
    let part = (admitted / capacity).fract();
    let rounds = (admitted / capacity / SYSTEMATIC_ROUNDS).min(1.0);
    let systematic = SYSTEMATIC * rounds * admitted;
    let variance = capacity * part * (1.0 - part) + systematic.powi(2);
    admitted - DEVIATIONS * variance.sqrt()
}

/// Where a curve has come to, looked for from where it was found last.
#[derive(Debug, Default)]
struct Crossing(usize);

impl Crossing {
    fn after(
        &mut self,
        curve: &[f64],
        dt: f64,
        wanted: f64,
        value: impl Fn(f64) -> f64,
    ) -> Option<f64> {
        while value(*curve.get(self.0)?) < wanted {
            self.0 += 1;
        }
        let high = value(curve[self.0]);
        let low = self.0.checked_sub(1).map_or(0.0, |at| value(curve[at]));
        let share = match high > low {
            true => ((wanted - low) / (high - low)).clamp(0.0, 1.0),
            false => 1.0,
        };
        Some((self.0 as f64 + share) * dt)
    }
}

#[cfg(test)]
#[path = "forecast_tests.rs"]
mod tests;
