//! Which blocks have to be read before somebody is told that nothing is left.

use std::ops::Range;

use super::{Together, Wish, wanted_sections};
use crate::block::{BlockIndex, PlaceState};
use crate::layout::{Layout, Mark, PlaceIndex, Section};
use crate::map::SeatMap;
use crate::money::Cents;

/// One request to hold reads at most this many, in four requests to the store: all of a
/// hall with 10,000 places. What is beyond them counts as the map shows it.
const MOST_BLOCKS: usize = 320;

/// The blocks where the wish would fit if all that is held on this map had come back.
/// What is sold stays so but for refunds, and those are on the next map.
pub fn blocks_in_question(
    layout: &Layout,
    map: &SeatMap,
    prices: &[Cents],
    wish: &Wish<'_>,
) -> Vec<BlockIndex> {
    // Any seat is of use to a group that may split or come in part.
    let shortest = match (wish.together, wish.allow_fewer) {
        (Together::Required, false) => wish.quantity,
        _ => 1,
    };
    let has_accessible =
        |run: &Range<u32>| layout.marked(run.clone(), Mark::Accessible).count() > 0;
    // A group that stays together sits where one of them needs to; the rest of a group that
    // splits may sit anywhere.
    let only_accessible = wish.accessible && wish.together == Together::Required;
    let mut blocks = Vec::new();
    for index in wanted_sections(layout, prices, wish) {
        let section = &layout.sections()[index];
        if wish.accessible && section.is_general() {
            continue;
        }
        for run in unsold_runs(map, section) {
            let serves = run.len() >= shortest && (!only_accessible || has_accessible(&run));
            if section.is_general() || serves {
                let (first, last) = (block_of(layout, run.start), block_of(layout, run.end - 1));
                blocks.extend((first..=last).map(BlockIndex));
            }
        }
    }
    // Two runs of a row may share a block.
    blocks.dedup();
    if wish.accessible {
        let places = |block: &BlockIndex| {
            let span = layout.blocks()[block.0 as usize];
            span.first..span.end()
        };
        blocks.sort_by_key(|block| !has_accessible(&places(block)));
    }
    blocks.truncate(MOST_BLOCKS);
    blocks
}

fn block_of(layout: &Layout, place: u32) -> u32 {
    layout.locate(PlaceIndex(place)).0.0
}

/// The longest runs of places in a row, or on a floor, that are free or held.
fn unsold_runs(map: &SeatMap, section: &Section) -> Vec<Range<u32>> {
    let lines: Vec<Range<u32>> = match section.is_general() {
        true => vec![section.range()],
        false => {
            let rows = section.rows().iter();
            rows.flat_map(|row| {
                row.parts()
                    .map(|part| row.place(part.start).0..row.place(part.end).0)
            })
            .collect()
        }
    };
    let mut runs: Vec<Range<u32>> = Vec::new();
    for line in lines {
        let begins = line.start;
        for place in line {
            let state = map.state(PlaceIndex(place));
            if !matches!(state, PlaceState::Free | PlaceState::Held) {
                continue;
            }
            match runs.last_mut() {
                Some(run) if run.end == place && run.start >= begins => run.end += 1,
                _ => runs.push(place..place + 1),
            }
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{BlockState, Cell, Slot};
    use crate::ids::HoldId;
    use crate::layout::{SectionSpec, SectionSpecKind};
    use crate::time::Millis;

    const NOW: Millis = Millis(1_000_000);

    fn wish(quantity: usize, together: Together, allow_fewer: bool) -> Wish<'static> {
        Wish {
            quantity,
            section: None,
            max_price: None,
            together,
            allow_fewer,
            accessible: false,
        }
    }

    /// Rows of four seats, one block each; `#` is sold, `h` held, `.` free.
    fn hall(rows: &[&str]) -> (Layout, SeatMap) {
        let numbered = |(i, row): (usize, &&str)| {
            let seats: Vec<u16> = (1..=row.len() as u16).collect();
            ((i + 1).to_string(), seats)
        };
        let section = SectionSpec {
            name: "A".into(),
            kind: SectionSpecKind::Seated(rows.iter().enumerate().map(numbered).collect()),
            ..SectionSpec::default()
        };
        let layout = Layout::build(vec![section], None).unwrap();
        let hold = HoldId::from_bytes([1; 16]);
        let expiry = NOW + 600_000;
        let mut blocks = vec![BlockState::default(); layout.blocks().len()];
        for (i, seat) in rows.iter().flat_map(|row| row.chars()).enumerate() {
            let (block, slot): (BlockIndex, Slot) = layout.locate(PlaceIndex(i as u32));
            let cell = match seat {
                '#' => Some(Cell::sold(hold)),
                'h' => Some(Cell { expiry, hold }),
                _ => None,
            };
            blocks[block.0 as usize].set(slot, cell);
        }
        let read = (0..).map(BlockIndex).zip(&blocks);
        let map = SeatMap::build(&layout, read, NOW);
        (layout, map)
    }

    fn in_question(rows: &[&str], wish: &Wish<'_>) -> Vec<u32> {
        let (layout, map) = hall(rows);
        let blocks = blocks_in_question(&layout, &map, &[Cents(100)], wish);
        blocks.iter().map(|block| block.0).collect()
    }

    #[test]
    fn what_is_held_may_come_back_and_what_is_sold_does_not() {
        let rows = ["####", "#hh#", "#.##", "hhhh", "...."];
        let pair = wish(2, Together::Required, false);
        assert_eq!(in_question(&rows, &pair), vec![1, 3, 4]);
        let split = wish(2, Together::Preferred, false);
        assert_eq!(in_question(&rows, &split), vec![1, 2, 3, 4]);
        let fewer = wish(2, Together::Required, true);
        assert_eq!(in_question(&rows, &fewer), vec![1, 2, 3, 4]);
        let many = wish(5, Together::Required, false);
        assert_eq!(in_question(&rows, &many), Vec::<u32>::new(), "rows end");
    }

    #[test]
    fn a_group_with_a_wheelchair_reads_where_it_could_sit_and_accessible_places_first() {
        let (layout, map) = hall(&["....", "hhhh", "....", "#..."]);
        let mut marked = layout.clone();
        marked.mark(Mark::Accessible, [4, 12]);
        let read = |layout: &Layout, together| {
            let wish = Wish {
                accessible: true,
                ..wish(2, together, false)
            };
            let blocks = blocks_in_question(layout, &map, &[Cents(100)], &wish);
            blocks.iter().map(|block| block.0).collect::<Vec<_>>()
        };
        assert_eq!(read(&layout, Together::Required), Vec::<u32>::new());
        assert_eq!(read(&marked, Together::Required), vec![1], "12 is sold");
        assert_eq!(read(&marked, Together::Preferred), vec![1, 3, 0, 2]);
    }

    #[test]
    fn a_block_with_two_runs_is_read_once_and_a_vast_hall_in_part() {
        let split = wish(2, Together::Preferred, false);
        assert_eq!(in_question(&["h##.", "...."], &split), vec![0, 1]);
        assert_eq!(in_question(&["...."; 500], &split).len(), MOST_BLOCKS);
    }

    #[test]
    fn only_sections_that_are_wished_for_are_in_question() {
        let (layout, map) = hall(&["...."]);
        let cheap = Wish {
            max_price: Some(Cents(99)),
            ..wish(2, Together::Required, false)
        };
        let blocks = blocks_in_question(&layout, &map, &[Cents(100)], &cheap);
        assert!(blocks.is_empty());
    }
}
