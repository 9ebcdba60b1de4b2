use std::collections::HashSet;

use super::*;
use crate::block::{BlockIndex, BlockState, Cell, PlaceState, Slot};
use crate::ids::HoldId;
use crate::layout::{Row, SectionSpec, SectionSpecKind};
use crate::time::Millis;
use proptest::prelude::*;

fn layout(rows: &[u16]) -> Layout {
    let rows = rows
        .iter()
        .enumerate()
        .map(|(i, n)| (format!("{}", i + 1), (1..=*n).collect()))
        .collect();
    let section = SectionSpec {
        name: "A".into(),
        kind: SectionSpecKind::Seated(rows),
        ..SectionSpec::default()
    };
    Layout::build(vec![section], None).unwrap()
}

fn map_with(layout: &Layout, taken: impl Fn(PlaceIndex) -> bool) -> SeatMap {
    let cell = Cell::sold(HoldId::from_bytes([9; 16]));
    let mut blocks = vec![BlockState::default(); layout.blocks().len()];
    for place in (0..layout.places()).map(PlaceIndex).filter(|p| taken(*p)) {
        let (block, slot) = layout.locate(place);
        blocks[block.0 as usize].set(slot, Some(cell));
    }
    let indexed = blocks
        .iter()
        .enumerate()
        .map(|(i, b)| (BlockIndex(i as u32), b));
    SeatMap::build(layout, indexed, Millis(0))
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

fn pick_among(
    layout: &Layout,
    map: &SeatMap,
    wish: &Wish<'_>,
    breadth: Breadth,
    seed: u64,
) -> Option<Vec<PlaceIndex>> {
    let house = House {
        layout,
        map,
        prices: &[Cents(100)],
    };
    choose(house, wish, breadth, &mut Seed::new(seed))
}

/// What the first try takes.
fn pick(layout: &Layout, map: &SeatMap, wish: &Wish<'_>) -> Option<Vec<PlaceIndex>> {
    pick_among(layout, map, wish, Breadth::BEST, 1)
}

/// All windows of free neighbours of this length, straight from the definition.
fn windows(layout: &Layout, map: &SeatMap, quantity: usize) -> Vec<Vec<PlaceIndex>> {
    layout.sections()[0]
        .rows()
        .iter()
        .flat_map(|row| {
            let places: Vec<_> = (0..row.seats.len() as u32)
                .map(|i| PlaceIndex(row.first + i))
                .collect();
            places
                .windows(quantity)
                .map(<[_]>::to_vec)
                .collect::<Vec<_>>()
        })
        .filter(|w| w.iter().all(|p| map.state(*p) == PlaceState::Free))
        .collect()
}

/// Single free seats that taking these places would newly leave beside them.
fn orphans(layout: &Layout, map: &SeatMap, places: &[PlaceIndex]) -> usize {
    let free = |row: &Row, i: i64| {
        let inside = i >= 0 && (i as usize) < row.seats.len();
        inside && map.state(PlaceIndex(row.first + i as u32)) == PlaceState::Free
    };
    let (row, start) = layout.row_at(places[0]).unwrap();
    let (left, right) = (start as i64 - 1, (start + places.len()) as i64);
    usize::from(free(row, left) && !free(row, left - 1))
        + usize::from(free(row, right) && !free(row, right + 1))
}

#[test]
fn the_first_try_takes_the_best_window_whatever_the_seed() {
    let layout = layout(&[20; 30]);
    let map = map_with(&layout, |_| false);
    for seed in 0..200 {
        let places = pick_among(&layout, &map, &wish(2), Breadth::BEST, seed).unwrap();
        assert_eq!(places, vec![PlaceIndex(9), PlaceIndex(10)]);
    }
    let map = map_with(&layout, |place| place.0 < 20);
    let places = pick(&layout, &map, &wish(3)).unwrap();
    assert_eq!(places[1], PlaceIndex(29), "the next row");
}

#[test]
fn a_crowd_spreads_over_the_nearest_rows() {
    let layout = layout(&[20; 30]);
    let map = map_with(&layout, |_| false);
    let picks: HashSet<_> = (0..200)
        .map(|seed| pick_among(&layout, &map, &wish(2), Breadth::FEW, seed).unwrap())
        .collect();
    assert!(picks.len() >= CHOICES / 2, "{}", picks.len());
    assert!(picks.iter().all(|places| places[0].0 < 20 * CHOICES as u32));
}

#[test]
fn whoever_was_too_late_picks_from_more_windows_none_of_which_overlap() {
    let layout = layout(&[40; 50]);
    let map = map_with(&layout, |_| false);
    let mut tries = Tries::default();
    for most in [1, 48, 192, 768] {
        let breadth = tries.breadth();
        let pick = |seed| pick_among(&layout, &map, &wish(2), breadth, seed).unwrap();
        let picks: HashSet<_> = (0..4_000).map(pick).collect();
        let different = picks.len();
        assert!(
            different <= most && different > most * 9 / 10,
            "{different}"
        );
        let places: HashSet<_> = picks.iter().flatten().collect();
        assert_eq!(places.len(), 2 * different);
        assert!(picks.iter().all(|pair| orphans(&layout, &map, pair) == 0));
        tries.was_late();
    }
}

#[test]
fn whoever_was_too_late_leaves_an_orphan_rather_than_wait_for_the_one_window_without() {
    // A run of two fits a pair; each run of three would be left with a single seat.
    let layout = layout(&[2, 3, 3, 3, 3]);
    let map = map_with(&layout, |_| false);
    let mut tries = Tries::default();
    let rows_at = |breadth| {
        let row = |seed| {
            let pair = pick_among(&layout, &map, &wish(2), breadth, seed).unwrap();
            layout.row_at(pair[0]).unwrap().0.first
        };
        (0..100).map(row).collect::<HashSet<_>>()
    };
    assert_eq!(rows_at(tries.breadth()).len(), 1);
    tries.was_late();
    assert_eq!(rows_at(tries.breadth()).len(), 5);
}

#[test]
fn a_group_without_room_is_split_in_halves() {
    // Runs of 3, 2 and 2: five people sit as 3 + 2, six as 3 + (2 + 1).
    let layout = layout(&[3, 2, 2]);
    let map = map_with(&layout, |_| false);
    let five = pick(&layout, &map, &wish(5)).unwrap();
    assert!(!layout.are_together(&five));
    assert!(layout.are_together(&five[..3]) && layout.are_together(&five[3..]));
    assert_eq!(pick(&layout, &map, &wish(6)).unwrap().len(), 6);
    assert_eq!(pick(&layout, &map, &wish(8)), None);
    let required = Wish {
        together: Together::Required,
        ..wish(5)
    };
    assert_eq!(pick(&layout, &map, &required), None);
    let fewer = Wish {
        allow_fewer: true,
        ..required
    };
    assert_eq!(pick(&layout, &map, &fewer).unwrap().len(), 3);
}

#[test]
fn price_and_section_limit_the_choice_and_general_sections_serve_last() {
    let seated = |name: &str| SectionSpec {
        name: name.into(),
        kind: SectionSpecKind::Seated(vec![("1".into(), vec![1, 2, 3, 4])]),
        ..SectionSpec::default()
    };
    let floor = SectionSpec {
        kind: SectionSpecKind::General(10),
        ..seated("F")
    };
    let layout = Layout::build(vec![floor, seated("A"), seated("B")], None).unwrap();
    let map = map_with(&layout, |_| false);
    let prices = [Cents(10), Cents(50), Cents(20)];
    let house = House {
        layout: &layout,
        map: &map,
        prices: &prices,
    };
    let section_of = |wish: &Wish<'_>| {
        let places = choose(house, wish, Breadth::BEST, &mut Seed::new(3));
        places.map(|p| layout.section_at(p[0]))
    };
    assert_eq!(
        section_of(&Wish {
            section: Some("B"),
            ..wish(2)
        }),
        Some(2)
    );
    assert_eq!(
        section_of(&Wish {
            max_price: Some(Cents(20)),
            ..wish(2)
        }),
        Some(2)
    );
    assert_eq!(
        section_of(&Wish {
            max_price: Some(Cents(10)),
            ..wish(2)
        }),
        Some(0)
    );
    assert_eq!(
        section_of(&Wish {
            max_price: Some(Cents(9)),
            ..wish(2)
        }),
        None
    );
    assert_eq!(
        section_of(&Wish {
            section: Some("C"),
            ..wish(2)
        }),
        None
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_choice_keeps_the_rules_on_any_map(
        rows in prop::collection::vec(1u16..14, 1..8),
        taken in prop::collection::vec(any::<bool>(), 120),
        density in 0usize..4,
        quantity in 1usize..9,
        seed in any::<u64>(),
        crowd in any::<bool>(),
    ) {
        let layout = layout(&rows);
        let map = map_with(&layout, |p| taken[p.at()] && p.at() % 4 >= density);
        let breadth = if crowd { Breadth::FEW } else { Breadth::BEST };
        let pick = || pick_among(&layout, &map, &wish(quantity), breadth, seed);
        let picked = pick();
        prop_assert_eq!(&picked, &pick(), "one seed, one answer");

        let whole = windows(&layout, &map, quantity);
        let Some(places) = picked else {
            // Nobody is refused while single seats enough for everyone are free.
            let free = windows(&layout, &map, 1).len();
            prop_assert!(free < quantity, "{free} free, {quantity} wanted");
            return Ok(());
        };
        prop_assert_eq!(places.len(), quantity);
        let distinct: std::collections::HashSet<_> = places.iter().collect();
        prop_assert_eq!(distinct.len(), quantity);
        prop_assert!(places.iter().all(|p| map.state(*p) == PlaceState::Free), "never a taken place");
        if whole.is_empty() {
            prop_assert!(!layout.are_together(&places));
            // The halving rule: the larger half sits together whenever it can.
            let half = quantity.div_ceil(2);
            if !windows(&layout, &map, half).is_empty() {
                prop_assert!(places.windows(half).any(|w| layout.are_together(w)));
            }
        } else {
            prop_assert!(layout.are_together(&places), "together when a run exists");
            let least = whole.iter().map(|w| orphans(&layout, &map, w)).min().unwrap();
            prop_assert_eq!(orphans(&layout, &map, &places), least, "no orphan that could be avoided");
        }
    }
}

#[test]
fn slots_stay_inside_blocks() {
    // A window that crosses a block is still one window.
    let layout = layout(&[40]);
    let map = map_with(&layout, |p| !(18..22).contains(&p.0));
    let places = pick(&layout, &map, &wish(4)).unwrap();
    let blocks: std::collections::HashSet<_> = places
        .iter()
        .map(|p| layout.locate(*p))
        .map(|(b, _): (BlockIndex, Slot)| b)
        .collect();
    assert_eq!(blocks.len(), 2);
}

#[test]
fn fewer_are_as_many_as_there_are_seated_or_standing() {
    let seated = SectionSpec {
        name: "A".into(),
        kind: SectionSpecKind::Seated(vec![("1".into(), (1..=4).collect())]),
        ..SectionSpec::default()
    };
    let floor = SectionSpec {
        name: "F".into(),
        kind: SectionSpecKind::General(6),
        ..SectionSpec::default()
    };
    let layout = Layout::build(vec![seated, floor], None).unwrap();
    let offered = |seats: u32, standing: u32, quantity: usize, together: Together| {
        let map = map_with(&layout, |place| match place.0 {
            seat @ 0..4 => seat >= seats,
            place => place - 4 >= standing,
        });
        let wish = Wish {
            together,
            allow_fewer: true,
            ..wish(quantity)
        };
        let house = House {
            layout: &layout,
            map: &map,
            prices: &[Cents(100), Cents(100)],
        };
        let chosen = choose(house, &wish, Breadth::BEST, &mut Seed::new(7));
        let chosen = chosen.unwrap_or_default();
        let seated = chosen.iter().filter(|place| place.0 < 4).count();
        (seated, chosen.len() - seated)
    };
    for together in [Together::Required, Together::Preferred] {
        assert_eq!(offered(1, 3, 4, together), (0, 3));
        assert_eq!(offered(3, 1, 4, together), (3, 0));
        assert_eq!(offered(2, 2, 4, together), (2, 0));
        assert_eq!(offered(1, 6, 8, together), (0, 6));
        assert_eq!(offered(0, 1, 4, together), (0, 1));
        assert_eq!(offered(0, 0, 4, together), (0, 0));
    }
}
