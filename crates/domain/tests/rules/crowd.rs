//! What it costs a crowd that the first try takes the best window there is.
//!
//! A model of processes that each know the map of this second and the conflicts they met.
//! All who come at the same moment choose before the first of them has anything.

use onsale_domain::best_available::{House, Next, Together, Tries, Wish, choose};
use onsale_domain::block::{BlockIndex, BlockState, Cell};
use onsale_domain::ids::HoldId;
use onsale_domain::layout::{Layout, PlaceIndex, SectionSpec, SectionSpecKind};
use onsale_domain::map::SeatMap;
use onsale_domain::money::Cents;
use onsale_domain::seed::Seed;
use onsale_domain::time::Millis;

const PEOPLE: u32 = 240;
const START: Millis = Millis(1_800_000_000_000);

/// How a request begins.
#[derive(Clone, Copy, PartialEq)]
enum First {
    /// With the best window, unless its process met a conflict lately.
    Best,
    /// With one of a dozen windows, always.
    Few,
}

struct Hall {
    layout: Layout,
    blocks: Vec<BlockState>,
    claims: usize,
}

struct Request {
    process: usize,
    hold: HoldId,
    map: SeatMap,
    tries: Tries,
    done: bool,
}

const PAIR: Wish<'_> = Wish {
    quantity: 2,
    section: None,
    max_price: None,
    together: Together::Preferred,
    allow_fewer: false,
    accessible: false,
};

impl Hall {
    /// 50 rows of 40 seats.
    fn new() -> Self {
        let rows = (1..=50).map(|row| (row.to_string(), (1..=40).collect()));
        let section = SectionSpec {
            name: "A".into(),
            kind: SectionSpecKind::Seated(rows.collect()),
            ..SectionSpec::default()
        };
        let layout = Layout::build(vec![section], None).unwrap();
        Self {
            blocks: vec![BlockState::default(); layout.blocks().len()],
            layout,
            claims: 0,
        }
    }

    fn map(&self, now: Millis) -> SeatMap {
        let blocks = (0..).map(BlockIndex).zip(&self.blocks);
        SeatMap::build(&self.layout, blocks, now)
    }

    fn choose(&self, request: &Request) -> Vec<PlaceIndex> {
        let house = House {
            layout: &self.layout,
            map: &request.map,
            prices: &[Cents(100)],
        };
        let mut seed = Seed::of_id(request.hold.as_bytes(), request.tries.made());
        choose(house, &PAIR, request.tries.breadth(), &mut seed).unwrap()
    }

    /// Takes these places, or tells the request what their blocks are.
    fn claim(&mut self, request: &mut Request, places: &[PlaceIndex], now: Millis) {
        self.claims += 1;
        let slots: Vec<_> = places
            .iter()
            .map(|place| self.layout.locate(*place))
            .collect();
        let block = |index: BlockIndex| index.0 as usize;
        if slots
            .iter()
            .all(|(b, slot)| self.blocks[block(*b)].cell(*slot).is_none())
        {
            for (b, slot) in slots {
                self.blocks[block(b)].set(slot, Some(Cell::sold(request.hold)));
                request
                    .map
                    .learn(&self.layout, b, &self.blocks[block(b)], now);
            }
            request.done = true;
            return;
        }
        let all = (0..self.blocks.len() as u32).map(BlockIndex);
        let learnt: Vec<_> = match request.tries.was_late() {
            Next::Choose => slots.iter().map(|(b, _)| *b).collect(),
            Next::Read => {
                request.tries.have_read();
                all.collect()
            }
            other => panic!("nobody is sent away: {other:?}"),
        };
        for index in learnt {
            request
                .map
                .learn(&self.layout, index, &self.blocks[block(index)], now);
        }
    }
}

/// How many claims it takes until everybody has a pair. They come `at_once` at a time, a
/// tenth of a second apart, each to a process of their own.
fn claims(at_once: u32, first: First) -> usize {
    let mut hall = Hall::new();
    let mut conflicts: Vec<Option<Millis>> = vec![None; at_once as usize];
    let mut known = vec![hall.map(START); at_once as usize];
    for wave in 0..PEOPLE / at_once {
        let now = START + u64::from(wave) * 100;
        if known[0].version.until(now) >= 1_000 {
            known.fill(hall.map(now));
        }
        let request = |n: u32| {
            let process = n as usize;
            let conflict = match first {
                First::Best => conflicts[process],
                First::Few => Some(now),
            };
            Request {
                process,
                hold: HoldId::derived(&[b"crowd", &(wave * at_once + n).to_be_bytes()]),
                map: known[process].clone(),
                tries: Tries::begin(now, conflict),
                done: false,
            }
        };
        let mut requests: Vec<_> = (0..at_once).map(request).collect();
        while requests.iter().any(|request| !request.done) {
            requests.retain(|request| !request.done);
            let chosen: Vec<_> = requests
                .iter()
                .map(|request| hall.choose(request))
                .collect();
            for (request, places) in requests.iter_mut().zip(&chosen) {
                hall.claim(request, places, now);
                if request.done {
                    known[request.process] = request.map.clone();
                } else {
                    conflicts[request.process] = Some(now);
                }
            }
        }
    }
    hall.claims
}

#[test]
fn the_best_window_first_costs_a_crowd_few_claims_more_than_a_dozen_would() {
    for at_once in [1, 2, 5, 10, 30, 60, PEOPLE] {
        let (best, few) = (claims(at_once, First::Best), claims(at_once, First::Few));
        println!("{at_once} at once: {best} claims, with a dozen windows first {few}");
        assert!(10 * best <= 11 * few, "{at_once}: {best} and {few}");
        assert!(best <= 4 * PEOPLE as usize, "{at_once}: {best}");
    }
}
