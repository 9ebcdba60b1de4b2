//! Best available where seats are accessible, see less, or stand on a plan.

use super::*;
use crate::block::{BlockIndex, BlockState, Cell};
use crate::ids::HoldId;
use crate::layout::{RowsMetres, SectionSpec, SectionSpecKind, StageMetres};
use crate::time::Millis;

/// Rows of section A: `.` free, `#` sold, `a` accessible, `c` companion, `r` restricted view.
fn house(rows: &[&str]) -> (Layout, SeatMap) {
    drawn_house(&[("A", rows, None)], None)
}

type Drawn<'a> = (&'a str, &'a [&'a str], Option<RowsMetres>);

fn drawn_house(sections: &[Drawn<'_>], stage: Option<StageMetres>) -> (Layout, SeatMap) {
    let mut specs = Vec::new();
    let mut sold = Vec::new();
    for (name, rows, shape) in sections {
        let ids = |mark: char| {
            let mut found = Vec::new();
            for (r, row) in rows.iter().enumerate() {
                for (s, _) in row.chars().enumerate().filter(|(_, c)| *c == mark) {
                    found.push(format!("{name}-{}-{}", r + 1, s + 1));
                }
            }
            found
        };
        sold.extend(ids('#'));
        let numbered = |(r, row): (usize, &&str)| {
            let seats: Vec<u16> = (1..=row.len() as u16).collect();
            ((r + 1).to_string(), seats)
        };
        specs.push(SectionSpec {
            name: (*name).to_owned(),
            kind: SectionSpecKind::Seated(rows.iter().enumerate().map(numbered).collect()),
            accessible: ids('a'),
            companion: ids('c'),
            restricted_view: ids('r'),
            shape: shape.clone().map(|shape| shape.try_into().unwrap()),
            ..SectionSpec::default()
        });
    }
    let layout = Layout::build(specs, None).unwrap();
    let layout = layout.with_stage(stage.map(|stage| stage.try_into().unwrap()));
    let mut blocks = vec![BlockState::default(); layout.blocks().len()];
    for id in &sold {
        let (block, slot) = layout.locate(layout.find(id).unwrap());
        blocks[block.0 as usize].set(slot, Some(Cell::sold(HoldId::from_bytes([9; 16]))));
    }
    let map = SeatMap::build(&layout, (0..).map(BlockIndex).zip(&blocks), Millis(0));
    (layout, map)
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

fn asking(quantity: usize) -> Wish<'static> {
    Wish {
        accessible: true,
        ..wish(quantity)
    }
}

/// The ids of what the first try takes.
fn best((layout, map): &(Layout, SeatMap), wish: &Wish<'_>) -> Vec<String> {
    let prices = vec![Cents(100); layout.sections().len()];
    let house = House {
        layout,
        map,
        prices: &prices,
    };
    let places = choose(house, wish, Breadth::BEST, &mut Seed::new(1));
    let places = places.unwrap_or_default();
    places.iter().map(|place| layout.seat_id(*place)).collect()
}

#[test]
fn accessible_and_companion_places_are_kept_while_anything_else_serves() {
    assert_eq!(best(&house(&["ac", ".."]), &wish(2)), ["A-2-1", "A-2-2"]);
    assert_eq!(best(&house(&["c.", ".."]), &wish(2)), ["A-2-1", "A-2-2"]);
    // Halves elsewhere come before a window with an accessible place in it.
    let halves = best(&house(&["a.", ".#."]), &wish(2));
    assert_eq!(halves, ["A-1-2", "A-2-1"]);
    let required = Wish {
        together: Together::Required,
        ..wish(2)
    };
    assert_eq!(best(&house(&["a.", ".#."]), &required), ["A-1-1", "A-1-2"]);
    assert_eq!(best(&house(&["ac", "##"]), &wish(2)), ["A-1-1", "A-1-2"]);
    assert_eq!(best(&house(&["a.", "##"]), &wish(1)), ["A-1-2"]);
}

#[test]
fn standing_room_comes_before_accessible_places() {
    let floor = SectionSpec {
        name: "F".into(),
        kind: SectionSpecKind::General(2),
        ..SectionSpec::default()
    };
    let seated = SectionSpec {
        name: "A".into(),
        kind: SectionSpecKind::Seated(vec![("1".into(), vec![1, 2])]),
        accessible: vec!["A-1-1".into()],
        ..SectionSpec::default()
    };
    let layout = Layout::build(vec![seated, floor], None).unwrap();
    let map = SeatMap::build(&layout, std::iter::empty(), Millis(0));
    let both = (layout, map);
    assert_eq!(best(&both, &wish(2)), ["F-GA-1", "F-GA-2"]);
    assert_eq!(best(&both, &asking(2)), ["A-1-1", "A-1-2"]);
    assert_eq!(best(&both, &asking(3)), Vec::<String>::new());
}

#[test]
fn a_group_that_asks_has_an_accessible_place_and_companions_beside_it() {
    let rows = ["..........", "...a.a....", "aacc......"];
    assert_eq!(best(&house(&rows), &asking(1)), ["A-2-6"], "the nearest");
    assert_eq!(best(&house(&rows), &asking(2)), ["A-3-2", "A-3-3"]);
    assert_eq!(best(&house(&rows), &asking(3)), ["A-3-2", "A-3-3", "A-3-4"]);
    // Where there are no companions it is other neighbours, and no second accessible place.
    let pair = best(&house(&["..........", "..aa......"]), &asking(2));
    assert_eq!(pair, ["A-2-4", "A-2-5"]);
}

#[test]
fn a_group_that_asks_splits_rather_than_go_without_an_accessible_place() {
    let rows = ["....", "#a#."];
    assert_eq!(best(&house(&rows), &asking(2)), ["A-1-1", "A-2-2"]);
    let required = Wish {
        together: Together::Required,
        ..asking(2)
    };
    assert!(best(&house(&rows), &required).is_empty());
    let fewer = Wish {
        allow_fewer: true,
        ..required
    };
    assert_eq!(best(&house(&rows), &fewer), ["A-2-2"]);
    assert!(best(&house(&["....", "...."]), &asking(1)).is_empty());
    let any_number = Wish {
        allow_fewer: true,
        ..asking(9)
    };
    assert_eq!(best(&house(&rows), &any_number).len(), 6);
    assert!(best(&house(&["...."]), &any_number).is_empty());
}

#[test]
fn a_restricted_view_comes_after_every_other_seat_but_before_a_single() {
    assert_eq!(
        best(&house(&[".rr.", "...."]), &wish(2)),
        ["A-2-1", "A-2-2"]
    );
    assert_eq!(best(&house(&["rrr."]), &wish(1)), ["A-1-4"]);
    assert_eq!(best(&house(&["rr", "##"]), &wish(2)), ["A-1-1", "A-1-2"]);
    assert_eq!(best(&house(&["..r", "rr"]), &wish(2)), ["A-2-1", "A-2-2"]);
}

#[test]
fn an_accessible_place_that_is_left_alone_is_no_single_seat() {
    // The pair beside the wall leaves `a` alone; the one in the middle leaves two seats.
    assert_eq!(best(&house(&["a..#"]), &wish(2)), ["A-1-2", "A-1-3"]);
    assert_eq!(best(&house(&["a....#"]), &wish(2)), ["A-1-2", "A-1-3"]);
}

fn at(x: f64, y: f64) -> Option<RowsMetres> {
    Some(RowsMetres {
        x,
        y,
        turn: 0.0,
        curve: 0.0,
        row_pitch: 1.0,
        seat_pitch: 0.5,
        aisles: vec![],
    })
}

const STAGE: StageMetres = StageMetres {
    x: -5.0,
    y: -4.0,
    width: 10.0,
    height: 4.0,
};

#[test]
fn on_a_plan_the_nearest_seats_are_nearest_in_metres() {
    // B is the second section and stands in front of the stage; A is off to its side.
    let (a, b) = (["......"], ["......"]);
    let far: Drawn<'_> = ("A", &a, at(40.0, 3.0));
    let near: Drawn<'_> = ("B", &b, at(0.0, 3.0));
    let drawn = drawn_house(&[far.clone(), near], Some(STAGE));
    assert_eq!(best(&drawn, &wish(2)), ["B-1-3", "B-1-4"]);
    // While one section is not on the plan, sections count in their order.
    let half = drawn_house(&[far, ("B", &b, None)], Some(STAGE));
    assert_eq!(best(&half, &wish(2)), ["A-1-3", "A-1-4"]);
}

#[test]
fn on_a_plan_a_turned_block_is_nearest_with_its_near_end() {
    // A block at the side of the stage: its first seat is at the front.
    let side = RowsMetres {
        turn: 90.0,
        ..at(8.0, 4.0).unwrap()
    };
    let drawn = drawn_house(&[("A", &["........"], Some(side))], Some(STAGE));
    assert_eq!(best(&drawn, &wish(2)), ["A-1-1", "A-1-2"]);
}

#[test]
fn nobody_sits_together_across_an_aisle() {
    let parted = RowsMetres {
        aisles: vec![3],
        ..at(0.0, 3.0).unwrap()
    };
    let drawn = drawn_house(&[("A", &["......"], Some(parted.clone()))], None);
    assert_eq!(best(&drawn, &wish(2)), ["A-1-2", "A-1-3"]);
    let four = Wish {
        together: Together::Required,
        ..wish(4)
    };
    assert!(best(&drawn, &four).is_empty());
    assert_eq!(best(&drawn, &wish(4)).len(), 4);
    let three = best(&drawn, &wish(3));
    assert!(three == ["A-1-1", "A-1-2", "A-1-3"] || three == ["A-1-4", "A-1-5", "A-1-6"]);
}
