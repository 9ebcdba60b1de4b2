//! The controller of a show's room: it hears counters, gates and the cloud, moves the
//! frontier once a second, deals slots out to the gates, and calls those at the door.
//!
//! It is plain data. Store it after each step, before its grants are sent and before what
//! it publishes is served; then it may die between any two steps and be restored.

mod forgetting;

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use super::allotment::{
    Allotment, Calling, Grant, Knocker, Phase, Report, at_door, call, deal_entries, deal_slots,
};
use super::backend::Backend;
use super::census::{Census, CounterReport};
use super::draw::Beacon;
use super::estimate::{Calibration, Progress};
use super::forecast::{Forecast, Inside};
use super::frontier::{Frontier, Place};
use super::gate::{GATES, GateIndex};
use super::opaque::PassId;
use super::opening::{Bucket, Opening};
use super::published::{Door, Line, Published};
use super::steering::{Limits, Steering, Turnout};
use crate::ids::ShowId;
use crate::sales::RoomFigures;
use crate::show::{RoomMode, Show, StoredStatus};
use crate::time::Millis;

/// A cloud that was not heard of for this long counts as unhealthy.
pub const NEWS_STALE_MS: u64 = 15_000;
/// A tick after a longer sleep makes up for this much and no more, so that nobody is met
/// by a burst.
const MAX_ELAPSED_MS: u64 = 3_000;
const ARRIVALS_MEMORY_S: f64 = 5.0;
/// Where slots are few, nobody is called sooner than this after the frontier reached them:
/// whoever stands before them has asked by then, and is called first.
const SETTLED_MS: u64 = 6_000;
/// By how much a step may exceed the rate, to make up for one that fell short; and at the
/// beginning, for those who are called come to hear of it within the next second.
const MOST_AHEAD: f64 = 2.2;
/// So many a second are not called one by one: gates name some hundreds of those at their
/// doors.
const QUICK_RATE: f64 = 2_000.0;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    pub mode: RoomMode,
    pub capacity: u32,
    pub rate_per_second: u32,
    pub pass_seconds: u32,
    pub opening: Opening,
    pub beacon: Beacon,
    /// When the show begins: nobody is let in any more, and the last seed is revealed.
    pub ends: Millis,
}

impl Settings {
    /// A show that is cancelled lets nobody in, whatever its room was set to.
    pub fn of(show: &Show) -> Self {
        let mode = match show.status {
            StoredStatus::Cancelled => RoomMode::Closed,
            StoredStatus::Draft | StoredStatus::OnSale => show.room.mode,
        };
        Self {
            mode,
            capacity: show.room.capacity,
            rate_per_second: show.room.rate_per_second,
            pass_seconds: show.room.pass_seconds,
            opening: Opening::of(show),
            beacon: Beacon::from(show.room.beacon.as_ref()),
            ends: show.starts_at,
        }
    }
}

/// What the cloud says each second.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct News {
    /// Rises with every change; news that were heard before change nothing.
    pub cursor: u64,
    /// Places that can be bought now. Without any the line rests: held ones may come back.
    pub free_seats: Option<u32>,
    /// Whether every place is sold, so that nobody needs to wait.
    #[serde(default)]
    pub sold_out: bool,
    pub healthy: bool,
    pub ended: Vec<PassId>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Controller {
    show: ShowId,
    settings: Settings,
    /// Whether the beacon was named before anybody joined and before its value was known.
    beacon_in_time: bool,
    census: Census,
    frontier: Frontier,
    /// Where the frontier was in the last seconds, the oldest first.
    frontier_before: VecDeque<(Millis, Frontier)>,
    straight_through: bool,
    straight_until: Option<Bucket>,
    /// Whether the frontier has reached everybody who waits.
    caught_up: bool,
    gates: [Allotment; GATES],
    /// Up to which place those at the door may take a slot.
    turn: Option<Place>,
    steering: Steering,
    calibration: Calibration,
    /// Entries earned by the rate and not yet dealt out.
    earned: f64,
    /// How many joined until the last tick, and how fast they come lately.
    joined: u64,
    arrivals_per_second: f64,
    free_seats: Option<u32>,
    sold_out: bool,
    healthy: bool,
    /// Not stored: a controller that was moved learns it again within seconds.
    #[serde(skip)]
    backend: Backend,
    cursor: u64,
    heard: Option<Millis>,
    ticked: Option<Millis>,
    revision: u64,
}

impl Controller {
    pub fn new(show: ShowId, settings: Settings) -> Self {
        Self {
            show,
            beacon_in_time: settings.beacon.is_awaited(),
            settings,
            census: Census::default(),
            frontier: Frontier::default(),
            frontier_before: VecDeque::new(),
            straight_through: false,
            straight_until: None,
            caught_up: true,
            gates: Default::default(),
            turn: None,
            steering: Steering::default(),
            calibration: Calibration::default(),
            earned: 0.0,
            joined: 0,
            arrivals_per_second: 0.0,
            free_seats: None,
            sold_out: false,
            healthy: false,
            backend: Backend::default(),
            cursor: 0,
            heard: None,
            ticked: None,
            revision: 0,
        }
    }

    /// Takes over what the organiser changed. A beacon that is known stays as it is, for
    /// draws have been told. One that is named once somebody has joined serves, but proves
    /// nothing: whoever knows the seed could have looked for a name to their liking.
    pub fn change_settings(&mut self, wanted: Settings, now: Millis) {
        let anyone_joined = self.census.joined() > 0;
        let started = self.frontier != Frontier::default();
        let opening = self.settings.opening;
        let opening = opening.changed_to(wanted.opening, started, anyone_joined, now);
        let beacon = match (&self.settings.beacon, started) {
            (Beacon::Known { .. }, _) | (_, true) => self.settings.beacon.clone(),
            _ => wanted.beacon.clone(),
        };
        if beacon.name() != self.settings.beacon.name() {
            self.beacon_in_time = beacon.is_awaited() && !anyone_joined;
        }
        let changed = Settings {
            opening,
            beacon,
            ..wanted
        };
        if changed != self.settings {
            self.settings = changed;
            self.calibration.interrupt();
        }
    }

    pub fn hear_counter(&mut self, report: &CounterReport, now: Millis) {
        let newest = self.settings.opening.bucket_at(now);
        self.census.count(report, newest);
        self.backend.hear(report.calls, now);
    }

    pub fn hear_gate(&mut self, gate: GateIndex, report: Report) {
        let now = self.ticked.unwrap_or(Millis(0));
        self.gates[gate.index()].hear(report, now);
    }

    pub fn hear_cloud(&mut self, news: &News, now: Millis) {
        self.heard = Some(self.heard.map_or(now, |heard| heard.max(now)));
        if news.cursor < self.cursor {
            return;
        }
        self.free_seats = news.free_seats;
        self.sold_out = news.sold_out;
        self.healthy = news.healthy;
        if news.cursor > self.cursor {
            self.cursor = news.cursor;
            for gate in &mut self.gates {
                gate.forget_ended(news.cursor);
            }
            for pass in &news.ended {
                self.gates[pass.gate().index()].end(*pass, news.cursor);
            }
        }
    }

    /// Up to where the cloud's news are known: what to ask it for next.
    pub fn cursor(&self) -> u64 {
        self.cursor
    }

    pub fn frontier(&self) -> Frontier {
        self.frontier
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// One step, about once a second. A repeated tick does nothing; a late one makes up
    /// for a little; a clock that went back waits for itself.
    pub fn tick(&mut self, now: Millis) {
        let last = self.ticked.unwrap_or(now.saturating_sub(1_000));
        let elapsed_ms = (now - last).min(MAX_ELAPSED_MS);
        if elapsed_ms == 0 {
            return;
        }
        self.ticked = Some(now);
        self.revision += 1;
        self.measure_arrivals(elapsed_ms);
        self.backend.judge(now);
        let turnout = self.turnout(now);
        let queueing = !self.straight_through && self.settings.mode != RoomMode::Off;
        let limits = self.limits();
        self.steering
            .learn(now, elapsed_ms, turnout, &limits, queueing);
        let door = at_door(&self.gates, now);
        deal_slots(&mut self.gates, limits.capacity, &door);
        if self.is_paused(now) {
            self.earned = 0.0;
            self.turn = None;
            self.straight_through = false;
            self.calibration.interrupt();
        } else {
            self.earn(elapsed_ms);
            self.advance(now);
            self.call(now, elapsed_ms, &door);
            self.calibrate(now);
        }
        let newest = self.settings.opening.bucket_at(now);
        if self.straight_through {
            self.straight_until = Some(newest);
        }
        self.census.settle(self.frontier.bucket, newest);
    }

    /// Reports of counters come in bursts, so the rate is smoothed over some five seconds.
    fn measure_arrivals(&mut self, elapsed_ms: u64) {
        let joined = self.census.joined();
        let seconds = elapsed_ms as f64 / 1_000.0;
        let lately = joined.saturating_sub(self.joined) as f64 / seconds;
        let weight = (seconds / ARRIVALS_MEMORY_S).min(1.0);
        self.arrivals_per_second += (lately - self.arrivals_per_second) * weight;
        self.joined = joined;
    }

    fn earn(&mut self, elapsed_ms: u64) {
        let rate = f64::from(self.settings.rate_per_second);
        let earned = rate * elapsed_ms as f64 / 1_000.0;
        // What nobody came for is kept for the next step and not saved up.
        self.earned = (self.earned + earned).min(2.0 * earned.max(rate));
    }

    /// Lets those at the door take slots. While there are enough of them for everybody who
    /// may come, whoever knocks gets one at once. Else those at the door are called one by
    /// one, in the order of the line.
    fn call(&mut self, now: Millis, elapsed_ms: u64, door: &[Knocker]) {
        let limits = self.limits();
        let rate = f64::from(limits.rate_per_second);
        let live = self.gates.iter().filter_map(Allotment::report);
        let live: u64 = live.map(|report| u64::from(report.live)).sum();
        let free_slots = u64::from(limits.capacity).saturating_sub(live);
        let expected = self.steering.expected(now);
        let step = rate * elapsed_ms as f64 / 1_000.0;
        let is_open = self.straight_through || self.settings.mode == RoomMode::Off;
        // Who else may come before the free slots are taken.
        let behind = self.census.joined() as f64 - self.census.admitted(self.frontier);
        let soon = behind.clamp(0.0, rate * SETTLED_MS as f64 / 1_000.0);
        let most = self.steering.at_most_expected(now) + soon;
        let lacks_slots = most > free_slots as f64;
        let is_quick = rate > QUICK_RATE || expected <= 2.0 * rate;
        if is_open || !lacks_slots && is_quick {
            // Nothing is kept in stock for nobody: a crowd would be met by it at once.
            if is_open || expected > 0.0 {
                let phase = Phase::of_step(self.revision);
                let given = deal_entries(&mut self.gates, self.earned as u64, step, phase);
                self.earned -= given as f64;
            }
            self.turn = match is_open {
                true => Some(Place::LAST),
                false => Some(self.frontier.place()),
            };
            return;
        }
        let settled = match lacks_slots {
            true => self.settled(now),
            false => self.frontier,
        };
        self.earned = self.earned.min((MOST_AHEAD * step).max(1.0) + 0.5);
        let calling = Calling {
            free_slots,
            earned: self.earned,
            settled: settled.place(),
        };
        let called = call(&mut self.gates, door, &calling);
        self.earned -= called.spent;
        self.turn = called.turn;
    }

    /// How long after the line began to move the first are called.
    fn begins_ms(&self, now: Millis) -> u64 {
        let has_moved = |(_, frontier): &&(Millis, Frontier)| *frontier != Frontier::default();
        let known = self
            .frontier_before
            .front()
            .is_some_and(|it| has_moved(&it));
        let moved = self.frontier_before.iter().find(has_moved);
        match moved.filter(|_| !known) {
            Some((at, _)) => now.until(*at + SETTLED_MS),
            None => 0,
        }
    }

    /// Where the frontier was some seconds ago.
    fn settled(&self, now: Millis) -> Frontier {
        let known = self.frontier_before.iter();
        let settled = known.take_while(|(at, _)| *at + SETTLED_MS <= now);
        settled.last().map_or(Frontier::default(), |(_, at)| *at)
    }

    fn advance(&mut self, now: Millis) {
        let opening = self.settings.opening;
        let closed = opening.last_closed(now);
        // A lottery goes before whoever comes after it. Without one nobody can be waiting yet
        // in a room whose first bucket has not closed.
        if closed.is_none() && opening.lottery_ends().is_some() {
            return;
        }
        let limits = self.limits();
        // Before anybody has joined the frontier stays put, so that the organiser may still
        // call a lottery.
        let mut caught_up = true;
        if let Some(last) = closed.filter(|_| self.census.joined() > 0) {
            let is_open = self.straight_through || self.settings.mode == RoomMode::Off;
            let wanted = match is_open {
                true => f64::INFINITY,
                false => self.steering.wanted(now, &limits),
            };
            let before = self.census.admitted(self.frontier);
            let (frontier, unused) = self.census.advance(self.frontier, wanted, last);
            self.frontier = self.frontier.forward_to(frontier);
            if wanted.is_finite() {
                let reached = self.census.admitted(self.frontier) - before;
                self.steering.reached(now, reached);
            }
            caught_up = unused > 0.0;
        }
        self.remember_frontier(now);
        self.caught_up = caught_up;
        self.straight_through = self.settings.mode == RoomMode::Queue
            && caught_up
            && self.turnout(now).waiting == 0
            && self.steering.free_slots(now, limits.capacity) >= 1.0;
    }

    fn remember_frontier(&mut self, now: Millis) {
        self.frontier_before.push_back((now, self.frontier));
        while self
            .frontier_before
            .get(1)
            .is_some_and(|(at, _)| *at + SETTLED_MS <= now)
        {
            self.frontier_before.pop_front();
        }
    }

    fn calibrate(&mut self, now: Millis) {
        if self.caught_up {
            return self.calibration.interrupt();
        }
        let reached = self.census.admitted(self.frontier);
        let share = self.steering.share();
        let at_door = self.steering.expected(now);
        let progress = Progress {
            reached,
            admitted: reached - at_door / share,
            waiting: self.census.joined() as f64 - reached,
            at_door,
            share,
            cautious_share: self.steering.cautious_share(),
            forecast: &self.forecast(now),
        };
        self.calibration.observe(now, &progress);
    }

    /// What to send to each gate, as often as wanted.
    pub fn grants(&self) -> impl Iterator<Item = (GateIndex, Grant)> {
        let gates = GateIndex::all();
        gates.map(|gate| {
            (
                gate,
                self.gates[gate.index()].grant(self.revision, self.turn),
            )
        })
    }

    pub fn published(&self, now: Millis) -> Published {
        Published {
            show: self.show,
            revision: self.revision,
            now,
            opening: self.settings.opening,
            beacon: self.settings.beacon.clone(),
            beacon_in_time: self.beacon_in_time,
            mode: self.settings.mode,
            pass_seconds: self.settings.pass_seconds,
            rate_per_second: self.settings.rate_per_second,
            arrivals_per_second: self.arrivals_per_second.round() as u32,
            ends: self.settings.ends,
            frontier: self.frontier,
            straight_through: self.straight_through,
            straight_until: self.straight_until,
            paused: self.is_paused(now),
            sold_out: self.sold_out,
            line: Line::of(&self.census),
            door: self.door(now),
            share_permille: (self.steering.share() * 1_000.0) as u32,
            cautious_share_permille: (self.steering.cautious_share() * 1_000.0) as u32,
            forecast: self.forecast(now),
            spread: self.calibration.spread(now),
            promises: self.calibration.promises(),
        }
    }

    fn door(&self, now: Millis) -> Door {
        let people = self.turnout(now).waiting;
        let coming = self.steering.expected(now) as u64;
        let coming = coming.saturating_sub(people);
        Door::of(people, coming, &at_door(&self.gates, now))
    }

    /// What an organiser sees of the room. Whoever is at the door waits still. Whoever went straight through may be inside before the line reached them.
    pub fn figures(&self, now: Millis) -> RoomFigures {
        let turnout = self.turnout(now);
        let passed = self.census.admitted(self.frontier);
        let in_line = self.census.joined() as f64 - passed.max(turnout.entered as f64);
        RoomFigures {
            waiting: in_line.max(0.0).round() as u64 + turnout.waiting,
            admitted: turnout.live,
            rate: self.settings.rate_per_second,
            at: now,
        }
    }

    /// The most passes that may be alive by what the gates were granted.
    pub fn ceiling(&self) -> u64 {
        let ceilings = self.gates.iter().map(|gate| u64::from(gate.ceiling()));
        ceilings.sum()
    }

    fn is_paused(&self, now: Millis) -> bool {
        let silent = self.heard.is_none_or(|heard| heard + NEWS_STALE_MS < now);
        self.settings.mode == RoomMode::Closed
            || self.sold_out
            || self.free_seats == Some(0)
            || !self.healthy
            || self.backend.is_ill()
            || silent
            || !self.settings.opening.is_open(now)
            || self.settings.ends <= now
            || self.settings.beacon.value().is_none()
    }

    fn limits(&self) -> Limits {
        Limits {
            capacity: self.settings.capacity,
            rate_per_second: self.settings.rate_per_second,
            pass_seconds: self.settings.pass_seconds,
            free_seats: self.free_seats,
        }
    }

    fn turnout(&self, now: Millis) -> Turnout {
        let mut all = Turnout::default();
        let soon = Steering::lead(now);
        for gate in &self.gates {
            let Some(report) = gate.report() else {
                continue;
            };
            all.entered += report.entered;
            all.waiting += u64::from(report.waiting);
            all.live += u64::from(report.live);
            all.knocked += report.counts.knocked;
            all.left += report.counts.left;
            all.lapsed += report.counts.lapsed;
            all.renewed += report.counts.renewed;
            let ending = gate.ends().filter(|(end, _)| *end <= soon);
            all.ending += ending.map(|(_, people)| people).sum::<f64>();
        }
        all
    }

    /// When how many of those who wait will have been let in.
    fn forecast(&self, now: Millis) -> Forecast {
        let limits = self.limits();
        let turnout = self.turnout(now);
        let seconds = |end: Millis| now.until(end) as f64 / 1_000.0;
        let ends = self.gates.iter().flat_map(Allotment::ends);
        let in_line = self.census.joined() as f64 - self.census.admitted(self.frontier);
        Forecast::of(&Inside {
            capacity: limits.capacity,
            rate_per_second: limits.rate_per_second,
            pass_seconds: limits.pass_seconds,
            live: turnout.live as f64,
            ends: ends.map(|(end, people)| (seconds(end), people)).collect(),
            leaving_per_second: self.steering.leaving_per_second(&limits),
            renewing: self.steering.renewing(),
            begins_s: self.begins_ms(now) as f64 / 1_000.0,
            people: self.steering.expected(now) + in_line.max(0.0) * self.steering.share() + 1.0,
        })
    }
}

#[cfg(test)]
#[path = "controller_tests.rs"]
mod tests;
