//! Are the promises about waiting true? Sales of many shapes, each with several seeds.
//!
//! A panel of visitors is asked for what one poll of theirs promised, at a moment picked
//! from their wait. Coverage is the share of the panel for whom the promise held.
//!
//! `ROOM_SEEDS=100..120 cargo test --release -p onsale-domain --test room -- wait --nocapture`
//! runs other seeds and only prints.

use onsale_domain::room::controller::Settings;
use onsale_domain::room::estimate::Wait;
use onsale_domain::room::opening::Opening;
use onsale_domain::show::RoomOrder;
use onsale_domain::time::Millis;

use crate::chance::Chance;
use crate::crowd::{Habits, OPENS, Room, SINCE, settings};

const PANEL: usize = 2_000;

struct Visitor {
    person: usize,
    /// How often there was something to pick from, and what was picked.
    seconds: u64,
    promise: Option<(Millis, Wait)>,
}

pub struct Panel {
    visitors: Vec<Visitor>,
    chance: Chance,
}

#[derive(Debug)]
pub struct Coverage {
    pub p50: f64,
    pub p90: f64,
}

impl Panel {
    pub fn of(room: &Room) -> Self {
        let visitor = |person| Visitor {
            person,
            seconds: 0,
            promise: None,
        };
        // Nobody else is let in, so that their wait has no end.
        let real: Vec<usize> = (0..room.people.len())
            .filter(|person| room.people[*person].shows_up)
            .collect();
        let every = (real.len() / PANEL).max(1);
        let visitors = real.into_iter().step_by(every).map(visitor).collect();
        Self {
            visitors,
            chance: Chance(5),
        }
    }

    /// Once a second. Each second of a wait is as likely to be picked as any other.
    pub fn ask(&mut self, room: &Room) {
        for visitor in &mut self.visitors {
            let person = &room.people[visitor.person];
            if person.arrived > room.now {
                break;
            }
            if person.admitted.is_some() {
                continue;
            }
            visitor.seconds += 1;
            if self.chance.below(visitor.seconds) == 0 {
                match room.status(visitor.person).wait_seconds {
                    Some(wait) => visitor.promise = Some((room.now, wait)),
                    None => visitor.seconds -= 1,
                }
            }
        }
    }

    pub fn coverage(&self, room: &Room) -> Coverage {
        let judged: Vec<(bool, bool)> = self
            .visitors
            .iter()
            .filter_map(|visitor| {
                let (at, wait) = visitor.promise?;
                let waited = room.people[visitor.person].admitted? - at;
                let kept = |seconds: u32| waited <= u64::from(seconds) * 1_000;
                Some((kept(wait.p50), kept(wait.p90)))
            })
            .collect();
        assert!(judged.len() > PANEL / 2, "hardly anybody waits");
        let share = |kept: fn(&(bool, bool)) -> bool| {
            judged.iter().filter(|j| kept(j)).count() as f64 / judged.len() as f64
        };
        Coverage {
            p50: share(|j| j.0),
            p90: share(|j| j.1),
        }
    }
}

struct Shape {
    name: &'static str,
    settings: Settings,
    arrivals: fn(&mut Chance) -> Vec<Millis>,
    habits: Habits,
}

fn habits(show_up: fn(&mut Chance) -> f64, stays_ms: fn(&mut Chance) -> u64) -> Habits {
    Habits {
        fans: 0.1,
        show_up,
        stays_ms,
    }
}

/// Half of all visits last longer than 70 s, one in twenty longer than five minutes.
fn unsteady(chance: &mut Chance) -> u64 {
    (-(1.0 - chance.share()).ln() * 100_000.0) as u64 + 1_000
}

fn brisk(chance: &mut Chance) -> u64 {
    20_000 + chance.below(80_000)
}

/// Half of all passes lapse without anybody giving them back.
fn half_lapse(chance: &mut Chance) -> u64 {
    match chance.happens(0.5) {
        true => 400_000,
        false => 30_000 + chance.below(60_000),
    }
}

fn before_opening(people: usize, chance: &mut Chance) -> Vec<Millis> {
    let mut all: Vec<Millis> = (0..people)
        .map(|_| SINCE + chance.below(OPENS - SINCE))
        .collect();
    all.sort();
    all
}

/// Arrivals at a rate that changes, none above a hundred a second.
fn flowing(seconds: u64, chance: &mut Chance, per_second: fn(f64) -> f64) -> Vec<Millis> {
    let mut all = Vec::new();
    let mut at = 5.0;
    while at < seconds as f64 {
        at -= (1.0 - chance.share()).ln() / 100.0;
        if chance.happens(per_second(at) / 100.0) {
            all.push(SINCE + (at * 1_000.0) as u64);
        }
    }
    all
}

fn overload(chance: &mut Chance) -> Vec<Millis> {
    flowing(1_200, chance, |_| 20.0)
}

fn wave(chance: &mut Chance) -> Vec<Millis> {
    flowing(2_400, chance, |at| {
        3.0 + 40.0 * (-((at - 600.0) / 200.0).powi(2)).exp()
    })
}

fn shapes() -> Vec<Shape> {
    let opening = |capacity, rate| settings(RoomOrder::Lottery, capacity, rate);
    let at_once = |capacity, rate| {
        let settings = settings(RoomOrder::Lottery, capacity, rate);
        Settings {
            opening: Opening {
                opens: None,
                ..settings.opening
            },
            ..settings
        }
    };
    vec![
        Shape {
            name: "a burst at opening, by the rate, all show up",
            settings: opening(20_000, 50),
            arrivals: |chance| before_opening(20_000, chance),
            habits: habits(|_| 1.0, brisk),
        },
        Shape {
            name: "a burst at opening, by the slots, all show up",
            settings: opening(1_000, 100),
            arrivals: |chance| before_opening(20_000, chance),
            habits: habits(|_| 1.0, unsteady),
        },
        Shape {
            name: "a burst at opening, by the slots, 70 % no-shows",
            settings: opening(500, 100),
            arrivals: |chance| before_opening(30_000, chance),
            habits: habits(|_| 0.3, unsteady),
        },
        Shape {
            name: "steady overload, by the rate, 30 % no-shows",
            settings: at_once(10_000, 7),
            arrivals: overload,
            habits: habits(|_| 0.7, brisk),
        },
        Shape {
            name: "steady overload, by the slots, 30 % no-shows",
            settings: at_once(700, 100),
            arrivals: overload,
            habits: habits(|_| 0.7, unsteady),
        },
        Shape {
            name: "a wave of arrivals, by the rate, 30 % no-shows",
            settings: at_once(10_000, 10),
            arrivals: wave,
            habits: habits(|_| 0.7, brisk),
        },
        Shape {
            name: "a wave of arrivals, by the slots, 70 % no-shows",
            settings: at_once(400, 100),
            arrivals: wave,
            habits: habits(|_| 0.3, unsteady),
        },
        Shape {
            name: "slow returns of passes, 30 % no-shows",
            settings: opening(1_000, 50),
            arrivals: |chance| before_opening(15_000, chance),
            habits: habits(|_| 0.7, half_lapse),
        },
    ]
}

fn run(shape: &Shape, seed: u64) -> Coverage {
    let mut chance = Chance(seed ^ 0x5eed_0000);
    let arrivals = (shape.arrivals)(&mut chance);
    let mut room = Room::seeded(seed, shape.settings.clone(), &arrivals, &shape.habits);
    let mut panel = Panel::of(&room);
    let end = OPENS + 12_000_000;
    while room.now < end && room.anybody_waits() {
        room.step();
        panel.ask(&room);
    }
    panel.coverage(&room)
}

/// The seeds from the environment, as `from..to`.
pub fn other_seeds() -> Option<std::ops::Range<u64>> {
    let text = std::env::var("ROOM_SEEDS").ok()?;
    let (from, to) = text.split_once("..").unwrap();
    Some(from.parse().unwrap()..to.parse().unwrap())
}

/// A run has few independent errors, because one mistake about the flow concerns the whole
/// line. So over hundreds of seeds some three runs in a hundred miss the band; a
/// run that misses it by far, or a shape that misses it on average, is a fault.
#[test]
fn nine_in_ten_promises_about_waiting_are_kept_in_sales_of_every_shape() {
    let seeds = other_seeds();
    let (mut runs, mut within) = (0, 0);
    for shape in shapes() {
        let coverages: Vec<Coverage> = seeds
            .clone()
            .unwrap_or(0..5)
            .map(|seed| run(&shape, seed))
            .collect();
        let mean = |of: fn(&Coverage) -> f64| {
            coverages.iter().map(of).sum::<f64>() / coverages.len() as f64
        };
        let (p50, p90) = (mean(|c| c.p50), mean(|c| c.p90));
        let all: Vec<String> = coverages.iter().map(|c| format!("{:.3}", c.p90)).collect();
        println!("{}: p50 {p50:.3}, p90 {p90:.3} of {all:?}", shape.name);
        runs += coverages.len();
        let good = |c: &&Coverage| (0.85..=0.97).contains(&c.p90);
        within += coverages.iter().filter(good).count();
        if seeds.is_none() {
            assert!((0.85..=0.97).contains(&p90), "{}: {p90}", shape.name);
            // Where nothing is left to chance a second more or less decides about the middle.
            assert!((0.4..=0.7).contains(&p50), "{}: {p50}", shape.name);
            assert!(coverages.iter().all(|c| (0.80..=0.98).contains(&c.p90)));
        }
    }
    println!("{within} of {runs} runs within 0.85 to 0.97");
    assert!(
        seeds.is_some() || within * 100 >= runs * 90,
        "{within} of {runs}"
    );
}
