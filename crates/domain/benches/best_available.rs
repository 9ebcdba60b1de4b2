//! How long best available takes on a map of 50,000 places. The promise is 2 ms.
//!
//! Prints one row a case for `scripts/bench`: name, median, p99 and slowest in ms.
#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark reads the clock; the rules do not"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use onsale_domain::best_available::{Breadth, House, Together, Wish, choose};
use onsale_domain::block::{BlockIndex, BlockState, Cell};
use onsale_domain::ids::HoldId;
use onsale_domain::layout::{Layout, PlaceIndex, SectionSpec, SectionSpecKind};
use onsale_domain::map::SeatMap;
use onsale_domain::money::Cents;
use onsale_domain::seed::Seed;
use onsale_domain::time::Millis;

const PLACES: u32 = 50_000;
const SECTIONS: u32 = 10;
const SEATS_PER_ROW: u16 = 40;
const WARM_UPS: u64 = 10;
/// A case ends after so many runs, or sooner when it is slow.
const RUNS: u64 = 1_000;
const LONG_ENOUGH: Duration = Duration::from_secs(3);

fn main() {
    let arena = arena();
    let floor = floor();
    let empty = map(&arena, |_| false);
    let half = map(&arena, |place| draw(place, 2) == 0);
    let nearly_full = map(&arena, |place| draw(place, 100) != 0);
    // Every other seat: the many runs of one seat that no group fits into.
    let singles = map(&arena, |place| place % 2 == 0);
    let full = map(&arena, |_| true);
    let open_floor = map(&floor, |_| false);

    let pair = wish(2);
    let eight = wish(8);
    let any_of_fifty = Wish {
        allow_fewer: true,
        ..wish(50)
    };
    measure("empty, 2 together", &arena, &empty, &pair);
    measure("empty, 8 together", &arena, &empty, &eight);
    measure("half full, 2 together", &arena, &half, &pair);
    measure("half full, 8 together", &arena, &half, &eight);
    measure("1 % free, 2 together", &arena, &nearly_full, &pair);
    measure("1 % free, 8 in halves", &arena, &nearly_full, &eight);
    measure("every other seat, 8 in halves", &arena, &singles, &eight);
    measure(
        "every other seat, 50 in halves",
        &arena,
        &singles,
        &wish(50),
    );
    measure("full, up to 50", &arena, &full, &any_of_fifty);
    measure("floor of 50,000, 2", &floor, &open_floor, &pair);
}

fn measure(name: &str, layout: &Layout, map: &SeatMap, wish: &Wish<'_>) {
    let prices = vec![Cents(5_000); layout.sections().len()];
    let once = |seed: u64| {
        let started = Instant::now();
        let house = House {
            layout: black_box(layout),
            map: black_box(map),
            prices: &prices,
        };
        let places = choose(house, wish, Breadth::BEST, &mut Seed::new(seed));
        let took = started.elapsed();
        black_box(places);
        took.as_secs_f64() * 1_000.0
    };
    (0..WARM_UPS).for_each(|seed| {
        once(seed);
    });
    let started = Instant::now();
    let mut ms: Vec<f64> = (0..RUNS)
        .take_while(|_| started.elapsed() < LONG_ENOUGH)
        .map(once)
        .collect();
    ms.sort_by(f64::total_cmp);
    let at = |share: f64| ms[((ms.len() - 1) as f64 * share) as usize];
    println!("{name}\t{:.3}\t{:.3}\t{:.3}", at(0.5), at(0.99), at(1.0));
}

/// Ten sections of 125 rows, with the focal point in the middle of one of them.
fn arena() -> Layout {
    let rows_per_section = PLACES / SECTIONS / u32::from(SEATS_PER_ROW);
    let section = |n: u32| SectionSpec {
        name: format!("S{n}"),
        kind: SectionSpecKind::Seated(
            (1..=rows_per_section)
                .map(|row| (row.to_string(), (1..=SEATS_PER_ROW).collect()))
                .collect(),
        ),
        accessible: vec![format!("S{n}-1-1"), format!("S{n}-1-2")],
        ..SectionSpec::default()
    };
    let layout = Layout::build((1..=SECTIONS).map(section).collect(), Some("S5-20-20"));
    layout.expect("the arena is a valid layout")
}

fn floor() -> Layout {
    let section = SectionSpec {
        name: "Floor".into(),
        kind: SectionSpecKind::General(PLACES),
        ..SectionSpec::default()
    };
    Layout::build(vec![section], None).expect("the floor is a valid layout")
}

fn map(layout: &Layout, is_sold: impl Fn(u32) -> bool) -> SeatMap {
    let sold = Cell::sold(HoldId::from_bytes([9; 16]));
    let mut blocks = vec![BlockState::default(); layout.blocks().len()];
    for place in (0..layout.places()).filter(|place| is_sold(*place)) {
        let (block, slot) = layout.locate(PlaceIndex(place));
        blocks[block.0 as usize].set(slot, Some(sold));
    }
    let indexed = (0..).map(BlockIndex).zip(&blocks);
    SeatMap::build(layout, indexed, Millis(0))
}

/// A number below `sides` for this place, the same in every run.
fn draw(place: u32, sides: usize) -> usize {
    Seed::new(u64::from(place)).below(sides).unwrap_or_default()
}

fn wish(quantity: usize) -> Wish<'static> {
    Wish {
        quantity,
        section: None,
        max_price: None,
        together: Together::Preferred,
        allow_fewer: false,
        accessible: false,
    }
}
