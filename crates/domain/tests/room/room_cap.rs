//! The cap against a network that loses, repeats, delays and reorders, gates and a
//! controller that crash between any two steps, clocks that disagree, and a crowd that
//! never stops pushing.

use std::collections::{BTreeMap, BTreeSet};

use onsale_domain::room::allotment::{Grant, Report};
use onsale_domain::room::census::{CounterReport, Tally};
use onsale_domain::room::controller::{Controller, News};
use onsale_domain::room::draw::Draw;
use onsale_domain::room::frontier::Place;
use onsale_domain::room::gate::{
    Books, Enter, Entry, Gate, GateIndex, Knock, Knocked, RESERVED_MS, Reservation,
};
use onsale_domain::room::opaque::{Lot, PassId};
use onsale_domain::room::opening::Bucket;
use onsale_domain::room::pass::PassClaims;
use onsale_domain::show::RoomOrder;
use onsale_domain::time::{CLOCK_SKEW_MS, Millis};

use crate::chance::Chance;
use crate::crowd::{OPENS, SHOW, settings};

const STEP_MS: u64 = 250;

enum Message {
    Grant(GateIndex, Grant),
    Report(GateIndex, Report),
}

/// A gate in memory, and what its disk would give back after a crash.
struct Station {
    gate: Gate,
    books: Books,
    entries: BTreeMap<Lot, Entry>,
    reserved: BTreeMap<Lot, Reservation>,
    /// By how much its clock is ahead of the function that is furthest behind.
    skew_ms: u64,
}

impl Station {
    fn store(&mut self, lots: &[Lot]) {
        self.books = *self.gate.books();
        for lot in lots {
            if let Some(entry) = self.gate.entry(*lot) {
                self.entries.insert(*lot, *entry);
            }
        }
        for lot in self.gate.take_lapsed().iter().chain(lots) {
            match self.gate.reservation(*lot) {
                Some(reserved) => self.reserved.insert(*lot, *reserved),
                None => self.reserved.remove(lot),
            };
        }
    }

    fn crash(&mut self) {
        let text = serde_json::to_string(&(&self.books, &self.entries, &self.reserved)).unwrap();
        let (books, entries, reserved) = serde_json::from_str(&text).unwrap();
        self.gate = Gate::restore(books, entries, reserved);
    }
}

struct World {
    chance: Chance,
    now: Millis,
    controller: Controller,
    stored: String,
    stations: Vec<Station>,
    network: BTreeMap<u64, Vec<Message>>,
    /// Passes in somebody's hands that some function would accept.
    passes: BTreeMap<PassId, (Lot, PassClaims)>,
    news: News,
    ended: Vec<PassId>,
    /// What the cloud has closed it never accepts again, even if a gate that has not heard
    /// of it yet renews it.
    closed: BTreeSet<PassId>,
    faults: f64,
    entered: u64,
    most_live: usize,
    /// Lots that were told `admitted`, and until when that is a promise.
    promised: BTreeMap<Lot, Millis>,
}

fn place(lot: Lot) -> Place {
    let draw = u64::from_be_bytes(lot.0[8..].try_into().unwrap());
    Place {
        bucket: Bucket(0),
        draw: Draw(draw.rotate_left(48)),
    }
}

impl World {
    fn new(seed: u64, capacity: u32, faults: f64) -> Self {
        let mut chance = Chance(seed);
        let mut wanted = settings(RoomOrder::Lottery, capacity, capacity);
        wanted.pass_seconds = 30;
        let mut controller = Controller::new(SHOW, wanted);
        let everybody = Tally {
            fans: 0,
            others: 1_000_000,
        };
        let report = CounterReport {
            counter: 0,
            totals: vec![(Bucket(0), everybody)],
            ..CounterReport::default()
        };
        controller.hear_counter(&report, OPENS.saturating_sub(1));
        let stations = GateIndex::all()
            .map(|index| {
                let gate = Gate::new(index);
                let books = *gate.books();
                // The first gate and the functions disagree as much as clocks may.
                let skew_ms = match index.number() {
                    0 => CLOCK_SKEW_MS,
                    _ => chance.below(CLOCK_SKEW_MS + 1),
                };
                Station {
                    gate,
                    books,
                    entries: BTreeMap::new(),
                    reserved: BTreeMap::new(),
                    skew_ms,
                }
            })
            .collect();
        Self {
            stored: serde_json::to_string(&controller).unwrap(),
            controller,
            stations,
            chance,
            now: OPENS + 10_000,
            network: BTreeMap::new(),
            passes: BTreeMap::new(),
            news: News {
                cursor: 0,
                free_seats: Some(9_999),
                sold_out: false,
                healthy: true,
                ended: vec![],
            },
            ended: Vec::new(),
            closed: BTreeSet::new(),
            faults,
            entered: 0,
            most_live: 0,
            promised: BTreeMap::new(),
        }
    }

    fn send(&mut self, message: impl Fn() -> Message) {
        let copies = match self.chance.share() {
            lost if lost < self.faults => 0,
            repeated if repeated > 1.0 - self.faults => 2,
            _ => 1,
        };
        for _ in 0..copies {
            let late = match self.chance.happens(self.faults) {
                true => self.chance.below(60_000),
                false => self.chance.below(400),
            };
            self.network
                .entry(self.now.0 + late)
                .or_default()
                .push(message());
        }
    }

    fn store_controller(&mut self) {
        self.stored = serde_json::to_string(&self.controller).unwrap();
    }

    fn deliver(&mut self) {
        let later = self.network.split_off(&(self.now.0 + 1));
        for message in std::mem::replace(&mut self.network, later)
            .into_values()
            .flatten()
        {
            match message {
                Message::Grant(index, grant) => self.hear_grant(index, &grant),
                Message::Report(index, report) => self.controller.hear_gate(index, report),
            }
        }
    }

    fn hear_grant(&mut self, index: GateIndex, grant: &Grant) {
        let (now, crash) = (self.now, self.chance.happens(self.faults / 20.0));
        let station = &mut self.stations[usize::from(index.number())];
        let changed = station.gate.apply(grant, now + station.skew_ms);
        if crash {
            return station.crash();
        }
        let report = station.gate.report(now + station.skew_ms);
        station.store(&changed);
        self.send(|| Message::Report(index, report.clone()));
    }

    fn enter(&mut self, lot: Lot) {
        let (now, entropy) = (self.now, self.chance.name());
        let crash = self.chance.share() < self.faults / 200.0;
        let sign = !self.chance.happens(self.faults / 10.0);
        let index = GateIndex::of_lot(lot).number();
        let station = &mut self.stations[usize::from(index)];
        let clock = now + station.skew_ms;
        let before = station.gate.entry(lot).map(|entry| entry.pass);
        // Some ask first, and a few of them never enter.
        if before.is_none() && self.chance.happens(0.3) {
            let knock = Knock {
                lot,
                place: place(lot),
                may_begin: true,
            };
            let knocked = station.gate.knock(&knock, clock);
            if crash {
                return station.crash();
            }
            if knocked == Knocked::Admitted {
                station.store(&[lot]);
                self.promised.insert(lot, now + RESERVED_MS);
            }
            if self.chance.happens(0.5) {
                return;
            }
        }
        let wanted = Enter {
            lot,
            place: place(lot),
            pass_seconds: 30,
            may_begin: true,
        };
        let is_promised = self.promised.remove(&lot).is_some_and(|until| now < until);
        let Ok(entered) = station.gate.enter(&wanted, clock, entropy) else {
            assert!(!is_promised, "admitted is a promise");
            return;
        };
        if crash {
            return station.crash();
        }
        station.store(&[lot]);
        assert!(
            before.is_none_or(|pass| pass == entered.pass),
            "one lot, one pass"
        );
        if sign && !self.closed.contains(&entered.pass) {
            self.entered += u64::from(before.is_none());
            let claims = PassClaims {
                pass: entered.pass,
                show: SHOW,
                issued: entered.issued,
                expires: entered.expires,
                key_id: String::new(),
            };
            self.passes.insert(entered.pass, (lot, claims));
        }
    }

    /// Somebody leaves, or an order is confirmed: the cloud closes the pass, then the slot
    /// comes free.
    fn end_a_pass(&mut self) {
        let at = self.chance.below(self.passes.len().max(1) as u64) as usize;
        let Some((pass, lot)) = self.passes.iter().nth(at).map(|(p, (lot, _))| (*p, *lot)) else {
            return;
        };
        self.passes.remove(&pass);
        self.closed.insert(pass);
        if self.chance.happens(0.5) {
            let station = &mut self.stations[usize::from(pass.gate().number())];
            station.gate.leave(lot, self.now + station.skew_ms);
            station.store(&[lot]);
        } else {
            self.ended.push(pass);
        }
    }

    fn tick(&mut self) {
        self.news.cursor += 1;
        self.news.ended = std::mem::take(&mut self.ended);
        self.controller.hear_cloud(&self.news, self.now);
        if self.chance.happens(self.faults / 20.0) {
            // The news are asked for again from the stored cursor on.
            self.ended = std::mem::take(&mut self.news.ended);
            self.controller = serde_json::from_str(&self.stored).unwrap();
            return;
        }
        self.controller.tick(self.now);
        self.store_controller();
        let grants: Vec<_> = self.controller.grants().collect();
        for (index, grant) in grants {
            self.send(|| Message::Grant(index, grant.clone()));
        }
    }

    fn step(&mut self) {
        self.now = self.now + STEP_MS;
        self.deliver();
        // Whoever is accepted by the function that is furthest behind has a live pass.
        let now = self.now;
        self.passes
            .retain(|_, (_, claims)| claims.check(SHOW, now).is_ok());
        for _ in 0..40 {
            // A small pool of lots, so that renewals and spent lots are common, and some of
            // them at the door at a time, so that they are there when they are called.
            let mut name = [0; 16];
            let at_door = self.now.0 / 5_000 * 150 + self.chance.below(150);
            let number = match self.chance.happens(0.8) {
                true => at_door % 20_000,
                false => self.chance.below(20_000),
            };
            name[12..].copy_from_slice(&(number as u32).to_be_bytes());
            self.enter(Lot(name));
        }
        for _ in 0..self.chance.below(3) {
            self.end_a_pass();
        }
        if self.now.0.is_multiple_of(1_000) {
            self.tick();
        }
        self.most_live = self.most_live.max(self.passes.len());
    }
}

#[test]
fn live_passes_never_exceed_the_capacity() {
    for (seed, capacity, faults) in [
        (1, 500, 0.2),
        (2, 100, 0.3),
        (3, 9, 0.2),
        (4, 1, 0.1),
        (5, 60, 0.5),
        (6, 300, 0.0),
    ] {
        let mut world = World::new(seed, capacity, faults);
        for _ in 0..8_000 {
            world.step();
            assert!(
                world.passes.len() <= capacity as usize,
                "{}",
                world.passes.len()
            );
            assert!(world.controller.ceiling() <= u64::from(capacity));
        }
        println!(
            "capacity {capacity}, faults {faults}: {} live at most, {} entered",
            world.most_live, world.entered
        );
        // Where half of all messages are lost hardly anybody is called; the cap holds.
        if faults < 0.5 {
            assert!(
                world.most_live * 4 > capacity as usize,
                "{}",
                world.most_live
            );
            assert!(world.entered > 8 * u64::from(capacity), "{}", world.entered);
        }
    }
}

#[test]
fn a_smaller_capacity_is_reached_and_a_larger_one_filled() {
    let mut world = World::new(7, 400, 0.2);
    let mut run = |capacity: u32, steps: usize| {
        let changed = settings(RoomOrder::Lottery, capacity, capacity);
        world.controller.change_settings(changed, world.now);
        world.store_controller();
        let mut lives = Vec::new();
        for _ in 0..steps {
            world.step();
            lives.push(world.passes.len());
        }
        lives
    };
    assert!(run(400, 1_200).iter().all(|live| *live <= 400));
    // Passes end 15 minutes after their start at the latest.
    let shrunk = run(100, 6_000);
    assert!(
        shrunk[4_000..].iter().all(|live| *live <= 100),
        "{:?}",
        &shrunk[4_000..]
    );
    let grown = run(300, 2_400);
    assert!(grown.iter().all(|live| *live <= 300));
    assert!(grown.iter().max() > Some(&150), "{:?}", grown.iter().max());
}
