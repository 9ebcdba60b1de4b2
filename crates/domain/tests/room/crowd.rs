//! A crowd and its room, on a network that works but takes its time.
//!
//! Nobody is told anything: visitors poll when they were told to, and what they read is a
//! bulletin that lay in a cache. The controller steps once a second, and a gate reports
//! when it is granted something, so that a step knows what the gates said one step ago.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use onsale_domain::ids::{ShowId, VisitorId};
use onsale_domain::room::census::{CounterReport, Tally};
use onsale_domain::room::controller::{Controller, News, Settings};
use onsale_domain::room::draw::{Beacon, Draw, Seed, Seeds, draw};
use onsale_domain::room::gate::{Enter, Gate, GateIndex, NotEntered};
use onsale_domain::room::opaque::Lot;
use onsale_domain::room::opening::{Bucket, Opening};
use onsale_domain::room::published::Published;
use onsale_domain::room::status::{State, Status, decide};
use onsale_domain::room::ticket::{Band, QueueTicket};
use onsale_domain::show::{RoomMode, RoomOrder};
use onsale_domain::time::Millis;

use crate::chance::Chance;

pub const SINCE: Millis = Millis(1_800_000_000_000);
pub const OPENS: Millis = Millis(SINCE.0 + 600_000);
pub const SHOW: ShowId = ShowId::from_bytes([1; 16]);
const COUNTERS: u64 = 4;
/// How long whoever finds the gate busy is told to stay away.
const BUSY_MS: u64 = 2_000;
/// A cache serves a bulletin of ten seconds while it fetches a new one, and what it
/// fetched was up to three seconds old.
const OLDEST_MS: u64 = 13_000;

pub fn seeds() -> Seeds {
    Seeds {
        opening: Seed([1; 32]),
        later: Seed([2; 32]),
    }
}

pub fn settings(order: RoomOrder, capacity: u32, rate_per_second: u32) -> Settings {
    Settings {
        mode: RoomMode::Queue,
        capacity,
        rate_per_second,
        pass_seconds: 300,
        opening: Opening {
            opens: Some(OPENS),
            order,
            since: SINCE,
        },
        beacon: Beacon::Unused,
        ends: onsale_domain::time::LAST_MOMENT,
    }
}

#[derive(Debug, Clone)]
pub struct Person {
    pub arrived: Millis,
    pub ticket: QueueTicket,
    pub draw: Draw,
    pub shows_up: bool,
    pub stays_ms: u64,
    /// When the frontier had passed the ticket, and when the gate let it in.
    pub admitted: Option<Millis>,
    pub entered: Option<Millis>,
}

/// How people behave.
pub struct Habits {
    pub fans: f64,
    /// The share that shows up, by how many have joined before.
    pub show_up: fn(&mut Chance) -> f64,
    pub stays_ms: fn(&mut Chance) -> u64,
}

pub struct Room {
    pub now: Millis,
    pub controller: Controller,
    pub published: Published,
    /// What caches at the edge still say, newest last: the bulletin before the last, or,
    /// where nobody has asked for a while, one that is up to thirteen seconds old.
    cached: VecDeque<Published>,
    /// How likely a poll is to meet such an old one.
    pub stale: f64,
    pub people: Vec<Person>,
    /// People in the order of the line, and how many of them are admitted.
    line: Vec<usize>,
    pub admitted: usize,
    gates: Vec<Gate>,
    counted: usize,
    totals: BTreeMap<(u64, Bucket), Tally>,
    agenda: BTreeMap<u64, Vec<Errand>>,
    /// Passes alive by the time they lapse, and who has which.
    passes: BTreeSet<(Millis, usize)>,
    expiry_of: BTreeMap<usize, Millis>,
    pub entries: Vec<Millis>,
    /// Who entered from the line before it had come to them.
    pub jumped: Vec<usize>,
    pub refused: u64,
    pub most_live: usize,
    pub news: News,
    pub hears_cloud: bool,
    /// How likely the controller is to sleep through a second.
    pub sleepy: f64,
    /// Stores and restores the controller at every step.
    pub restarts: bool,
    chance: Chance,
}

enum Errand {
    Poll(usize),
    Leave(usize),
}

impl Room {
    /// `arrivals` in order of time.
    pub fn new(settings: Settings, arrivals: &[Millis], habits: &Habits) -> Self {
        Self::seeded(7, settings, arrivals, habits)
    }

    pub fn seeded(seed: u64, settings: Settings, arrivals: &[Millis], habits: &Habits) -> Self {
        let mut chance = Chance(seed);
        let opening = settings.opening;
        let people: Vec<Person> = arrivals
            .iter()
            .map(|at| person(*at, &opening, habits, &mut chance))
            .collect();
        let mut line: Vec<usize> = (0..people.len()).collect();
        line.sort_by_key(|i| (people[*i].ticket.bucket, people[*i].draw));
        let mut agenda: BTreeMap<u64, Vec<Errand>> = BTreeMap::new();
        for (index, at) in arrivals.iter().enumerate() {
            agenda.entry(at.0).or_default().push(Errand::Poll(index));
        }
        let controller = Controller::new(SHOW, settings);
        Self {
            now: SINCE,
            published: controller.published(SINCE),
            cached: VecDeque::from([controller.published(SINCE)]),
            stale: 0.0,
            jumped: Vec::new(),
            controller,
            people,
            line,
            admitted: 0,
            gates: GateIndex::all().map(Gate::new).collect(),
            counted: 0,
            totals: BTreeMap::new(),
            agenda,
            passes: BTreeSet::new(),
            expiry_of: BTreeMap::new(),
            entries: Vec::new(),
            refused: 0,
            most_live: 0,
            news: News {
                cursor: 0,
                free_seats: Some(1_000_000),
                sold_out: false,
                healthy: true,
                ended: vec![],
            },
            hears_cloud: true,
            sleepy: 0.0,
            restarts: false,
            chance,
        }
    }

    /// Moves on by a second.
    pub fn step(&mut self) {
        self.now = self.now + 1_000;
        self.run_errands();
        self.count();
        if self.chance.happens(self.sleepy) {
            return;
        }
        if self.hears_cloud {
            self.controller.hear_cloud(&self.news, self.now);
        }
        self.controller.tick(self.now);
        if self.restarts {
            let stored = postcard::to_allocvec(&self.controller).unwrap();
            self.controller = postcard::from_bytes(&stored).unwrap();
        }
        let published = self.controller.published(self.now);
        let before = std::mem::replace(&mut self.published, published);
        self.cached.push_back(before);
        self.cached.retain(|old| old.now + OLDEST_MS >= self.now);
        let grants: Vec<_> = self.controller.grants().collect();
        for (index, grant) in grants {
            let gate = &mut self.gates[usize::from(index.number())];
            gate.apply(&grant, self.now);
            let report = gate.report(self.now);
            self.controller.hear_gate(index, report);
        }
        self.admit();
    }

    pub fn run_until(&mut self, end: Millis) {
        while self.now < end {
            self.step();
        }
    }

    fn admit(&mut self) {
        while let Some(next) = self.line.get(self.admitted).copied() {
            let person = &mut self.people[next];
            let status = decide(&self.published, &seeds(), Some(&person.ticket), self.now);
            if person.arrived > self.now || status.state != State::Admitted {
                break;
            }
            person.admitted = Some(self.now);
            self.admitted += 1;
        }
    }

    fn run_errands(&mut self) {
        while let Some(entry) = self.agenda.first_entry() {
            if *entry.key() >= self.now.0 {
                break;
            }
            let (at, errands) = entry.remove_entry();
            for errand in errands {
                match errand {
                    Errand::Poll(person) => self.poll(person, Millis(at)),
                    Errand::Leave(person) => self.leave(person, Millis(at)),
                }
            }
        }
    }

    /// Asks how things stand, enters if that is allowed, and else comes back when told to.
    fn poll(&mut self, index: usize, at: Millis) {
        let person = &self.people[index];
        if !person.shows_up {
            return;
        }
        let view = match self.chance.happens(self.stale) {
            true => self.chance.below(self.cached.len() as u64) as usize,
            false => self.cached.len() - 1,
        };
        let view = &self.cached[view];
        let status = decide(view, &seeds(), Some(&person.ticket), at);
        let straight = view.is_straight_through(at);
        let errand = match status.state {
            State::Admitted => match self.enter(index, at) {
                true => {
                    let person = &self.people[index];
                    let frontier = self.published.frontier;
                    let place = (person.ticket.bucket, person.draw);
                    if !straight && place > (frontier.bucket, frontier.through) {
                        self.jumped.push(index);
                    }
                    (person.stays_ms, Errand::Leave(index))
                }
                false => (BUSY_MS, Errand::Poll(index)),
            },
            _ => (status.refresh_after_ms, Errand::Poll(index)),
        };
        let (after_ms, errand) = errand;
        let travels_ms = 50 + self.chance.below(300);
        let at = at.0 + after_ms + travels_ms;
        self.agenda.entry(at).or_default().push(errand);
    }

    fn enter(&mut self, index: usize, at: Millis) -> bool {
        let entropy = self.chance.name();
        let pass_seconds = self.published.pass_seconds;
        let person = &mut self.people[index];
        let lot = person.ticket.lot;
        let gate = &mut self.gates[usize::from(GateIndex::of_lot(lot).number())];
        let wanted = Enter {
            lot,
            pass_seconds,
            may_begin: true,
        };
        match gate.enter(&wanted, at, entropy) {
            Ok(entered) => {
                person.entered = Some(at);
                self.entries.push(at);
                while self
                    .passes
                    .first()
                    .is_some_and(|(expires, _)| *expires <= at)
                {
                    self.passes.pop_first();
                }
                self.passes.insert((entered.expires, index));
                self.expiry_of.insert(index, entered.expires);
                self.most_live = self.most_live.max(self.passes.len());
                true
            }
            Err(NotEntered::Spent) => panic!("nobody enters twice here"),
            Err(_) => {
                self.refused += 1;
                false
            }
        }
    }

    fn leave(&mut self, index: usize, at: Millis) {
        let lot = self.people[index].ticket.lot;
        if let Some(expires) = self.expiry_of.remove(&index) {
            self.passes.remove(&(expires, index));
        }
        self.gates[usize::from(GateIndex::of_lot(lot).number())].leave(lot, at);
    }

    fn count(&mut self) {
        let seen = self.now.saturating_sub(1_500);
        let mut changed: BTreeMap<u64, Vec<Bucket>> = BTreeMap::new();
        while let Some(person) = self.people.get(self.counted).filter(|p| p.arrived <= seen) {
            let counter = self.counted as u64 % COUNTERS;
            let total = self
                .totals
                .entry((counter, person.ticket.bucket))
                .or_default();
            match person.ticket.band {
                Band::Fan => total.fans += 1,
                Band::Everybody => total.others += 1,
            }
            changed
                .entry(counter)
                .or_default()
                .push(person.ticket.bucket);
            self.counted += 1;
        }
        for (counter, mut buckets) in changed {
            buckets.dedup();
            let totals = buckets
                .iter()
                .map(|b| (*b, self.totals[&(counter, *b)]))
                .collect();
            let report = CounterReport {
                counter: counter as u8,
                totals,
                ..CounterReport::default()
            };
            self.controller.hear_counter(&report, self.now);
            self.controller.hear_counter(&report, self.now);
        }
    }

    pub fn status(&self, person: usize) -> Status {
        let ticket = Some(&self.people[person].ticket);
        decide(&self.published, &seeds(), ticket, self.now)
    }

    pub fn entries_between(&self, from: Millis, to: Millis) -> usize {
        self.entries
            .iter()
            .filter(|at| **at >= from && **at < to)
            .count()
    }
}

fn person(arrived: Millis, opening: &Opening, habits: &Habits, chance: &mut Chance) -> Person {
    let fan = chance.happens(habits.fans);
    let show_up = (habits.show_up)(chance);
    let ticket = QueueTicket {
        show: SHOW,
        bucket: opening.bucket_at(arrived),
        band: if fan { Band::Fan } else { Band::Everybody },
        lot: Lot(chance.name()),
        visitor: VisitorId::from_bytes(chance.name()),
        expires: arrived + 86_400_000,
    };
    let seeds = seeds();
    Person {
        arrived,
        draw: draw(
            seeds.of(ticket.bucket),
            b"",
            ticket.bucket,
            ticket.band,
            ticket.lot,
        ),
        ticket,
        shows_up: chance.happens(show_up),
        stays_ms: (habits.stays_ms)(chance),
        admitted: None,
        entered: None,
    }
}
