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
use onsale_domain::room::frontier::Place;
use onsale_domain::room::gate::{Enter, Gate, GateIndex, Knock, Knocked, NotEntered};
use onsale_domain::room::opaque::Lot;
use onsale_domain::room::opening::{Bucket, Opening};
use onsale_domain::room::published::Published;
use onsale_domain::room::status::{State, Status, decide_drawn};
use onsale_domain::room::ticket::{Band, QueueTicket};
use onsale_domain::show::{RoomMode, RoomOrder};
use onsale_domain::time::Millis;

use crate::chance::Chance;

pub const SINCE: Millis = Millis(1_800_000_000_000);
pub const OPENS: Millis = Millis(SINCE.0 + 600_000);
pub const SHOW: ShowId = ShowId::from_bytes([1; 16]);
const COUNTERS: u64 = 4;
/// Whoever stands at the door with `enter` is tried again after this.
const KNOCK_AGAIN_MS: u64 = 700;
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
    /// When the frontier had passed the ticket, when somebody knocked with it first, when
    /// they were told that a slot is theirs, and when they were in.
    pub reached: Option<Millis>,
    pub knocked: Option<Millis>,
    pub admitted: Option<Millis>,
    pub entered: Option<Millis>,
}

impl Person {
    pub fn place(&self) -> Place {
        Place {
            bucket: self.ticket.bucket,
            draw: self.draw,
        }
    }
}

/// What people do who are at the door.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Asks for the status, and enters once told `admitted`.
    Asks,
    /// Tries to enter.
    Knocks,
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
    /// People in the order of the line, and how many of them are reached.
    line: Vec<usize>,
    pub reached: usize,
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
    /// How often somebody was told at the door to wait.
    pub refused: u64,
    pub client: Client,
    /// How often somebody was told something else after `admitted`.
    pub broken: u64,
    /// Those at the door, and since when somebody behind them is admitted.
    door: BTreeMap<(Place, usize), Option<Millis>>,
    /// How long each who was overtaken and is in was so.
    overtaken_ms: Vec<u64>,
    pub most_live: usize,
    /// Slots that passes and promises take.
    pub taken: u32,
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
    Enter(usize),
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
            reached: 0,
            gates: GateIndex::all().map(Gate::new).collect(),
            counted: 0,
            totals: BTreeMap::new(),
            agenda,
            passes: BTreeSet::new(),
            expiry_of: BTreeMap::new(),
            entries: Vec::new(),
            refused: 0,
            client: Client::Asks,
            broken: 0,
            door: BTreeMap::new(),
            overtaken_ms: Vec::new(),
            most_live: 0,
            taken: 0,
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
        let published = self.controller.published(self.now);
        let before = std::mem::replace(&mut self.published, published);
        self.cached.push_back(before);
        self.cached.retain(|old| old.now + OLDEST_MS >= self.now);
        let grants: Vec<_> = self.controller.grants().collect();
        if self.restarts {
            let stored = postcard::to_allocvec(&self.controller).unwrap();
            self.controller = postcard::from_bytes(&stored).unwrap();
        }
        let mut taken = 0;
        for (index, grant) in grants {
            let gate = &mut self.gates[usize::from(index.number())];
            gate.apply(&grant, self.now);
            let report = gate.report(self.now);
            taken += report.live;
            self.controller.hear_gate(index, report);
        }
        self.taken = taken;
        self.admit();
    }

    pub fn run_until(&mut self, end: Millis) {
        while self.now < end {
            self.step();
        }
    }

    fn admit(&mut self) {
        while let Some(next) = self.line.get(self.reached).copied() {
            let person = &mut self.people[next];
            let status = told(&self.published, person, self.now);
            if person.arrived > self.now || status.state != State::Door {
                break;
            }
            person.reached = Some(self.now);
            self.reached += 1;
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
                    Errand::Enter(person) => self.enter_admitted(person, Millis(at)),
                    Errand::Leave(person) => self.leave(person, Millis(at)),
                }
            }
        }
    }

    /// Asks how things stand, at the door a gate too, and comes back when told to.
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
        let status = told(view, person, at);
        let straight = view.is_straight_through(at);
        if status.state != State::Door {
            return self.later(at, status.refresh_after_ms, Errand::Poll(index));
        }
        let place = person.place();
        if person.knocked.is_none() {
            self.people[index].knocked = Some(at);
            self.door.insert((place, index), None);
        }
        let is_let_in = match self.client {
            Client::Asks => self.knock(index, at),
            Client::Knocks => self.enter(index, at),
        };
        let frontier = self.published.frontier;
        if is_let_in && !straight && place > frontier.place() {
            self.jumped.push(index);
        }
        match (is_let_in, self.client) {
            (true, Client::Asks) => self.later(at, 0, Errand::Enter(index)),
            (true, Client::Knocks) => {}
            (false, Client::Asks) => self.later(at, status.refresh_after_ms, Errand::Poll(index)),
            (false, Client::Knocks) => self.later(at, KNOCK_AGAIN_MS, Errand::Poll(index)),
        }
    }

    fn later(&mut self, at: Millis, after_ms: u64, errand: Errand) {
        let travels_ms = 50 + self.chance.below(300);
        let at = at.0 + after_ms + travels_ms;
        self.agenda.entry(at).or_default().push(errand);
    }

    fn knock(&mut self, index: usize, at: Millis) -> bool {
        let person = &self.people[index];
        let knock = Knock {
            lot: person.ticket.lot,
            place: person.place(),
            may_begin: true,
        };
        let gate = usize::from(GateIndex::of_lot(knock.lot).number());
        match self.gates[gate].knock(&knock, at) {
            Knocked::Admitted => {
                self.admit_one(index, at);
                true
            }
            Knocked::Door => {
                self.refused += 1;
                self.broken += u64::from(self.people[index].admitted.is_some());
                false
            }
            other => panic!("nobody comes twice here: {other:?}"),
        }
    }

    /// Somebody is let in. All who knock before them are overtaken.
    fn admit_one(&mut self, index: usize, at: Millis) {
        let place = (self.people[index].place(), index);
        self.people[index].admitted = Some(at);
        if let Some(Some(since)) = self.door.remove(&place) {
            self.overtaken_ms.push(at - since);
        }
        for since in self.door.range_mut(..place).map(|(_, since)| since) {
            since.get_or_insert(at);
        }
    }

    fn enter_admitted(&mut self, index: usize, at: Millis) {
        if !self.enter(index, at) {
            self.broken += 1;
            self.later(at, KNOCK_AGAIN_MS, Errand::Poll(index));
        }
    }

    fn enter(&mut self, index: usize, at: Millis) -> bool {
        let entropy = self.chance.name();
        let person = &self.people[index];
        let wanted = Enter {
            lot: person.ticket.lot,
            place: person.place(),
            pass_seconds: self.published.pass_seconds,
            may_begin: true,
        };
        let gate = usize::from(GateIndex::of_lot(wanted.lot).number());
        match self.gates[gate].enter(&wanted, at, entropy) {
            Ok(entered) => {
                if person.admitted.is_none() {
                    self.admit_one(index, at);
                }
                let person = &mut self.people[index];
                person.entered = Some(at);
                let stays_ms = person.stays_ms;
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
                self.later(at, stays_ms, Errand::Leave(index));
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
        told(&self.published, &self.people[person], self.now)
    }

    /// Whether somebody who shows up has not been let in.
    pub fn anybody_waits(&self) -> bool {
        self.entries.len() < self.people.iter().filter(|p| p.shows_up).count()
    }

    /// How long each who was overtaken was so, those among them who still stand at the door.
    pub fn overtaken_ms(&self) -> impl Iterator<Item = u64> {
        let still = self.door.values().flatten().map(|since| self.now - *since);
        self.overtaken_ms.iter().copied().chain(still)
    }

    pub fn entries_between(&self, from: Millis, to: Millis) -> usize {
        self.entries
            .iter()
            .filter(|at| **at >= from && **at < to)
            .count()
    }
}

/// What a person is told by a bulletin. Their draw is known here, and need not be computed
/// for each poll.
fn told(published: &Published, person: &Person, now: Millis) -> Status {
    let bucket = person.ticket.bucket;
    let is_fixed = bucket != Bucket::LOTTERY || published.has_started();
    let is_known = published.beacon.value().is_some();
    let is_drawn = is_known && is_fixed && published.opening.is_closed(bucket, now);
    let draw = is_drawn.then_some(person.draw);
    decide_drawn(published, Some(&person.ticket), draw, now)
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
        reached: None,
        knocked: None,
        admitted: None,
        entered: None,
    }
}
