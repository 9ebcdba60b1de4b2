//! General admission: any k free places of a section.
//!
//! A block with room is chosen at random, and places in it at random, so that a crowd
//! spreads over all partitions. Only when no block has k are they gathered across
//! blocks.

use crate::block::PlaceState;
use crate::layout::{Layout, PlaceIndex, Section};
use crate::map::SeatMap;
use crate::seed::Seed;

/// Places for a group, or `None` when the map shows fewer free than wanted.
pub fn choose(
    layout: &Layout,
    section: &Section,
    map: &SeatMap,
    quantity: usize,
    seed: &mut Seed,
) -> Option<Vec<PlaceIndex>> {
    let range = section.range();
    let first = layout.blocks().partition_point(|b| b.first < range.start);
    let mut free_by_block: Vec<Vec<PlaceIndex>> = layout.blocks()[first..]
        .iter()
        .take_while(|b| b.first < range.end)
        .map(|b| {
            (b.first..b.first + u32::from(b.len))
                .map(PlaceIndex)
                .filter(|p| map.state(*p) == PlaceState::Free)
                .collect::<Vec<_>>()
        })
        .filter(|free| !free.is_empty())
        .collect();
    seed.shuffle(&mut free_by_block);
    if let Some(free) = free_by_block.iter_mut().find(|free| free.len() >= quantity) {
        seed.shuffle(free);
        free.truncate(quantity);
        return Some(std::mem::take(free));
    }
    // Fullest blocks first: the fewer blocks in the transaction, the cheaper it is.
    free_by_block.sort_by_key(|free| std::cmp::Reverse(free.len()));
    let gathered: Vec<_> = free_by_block.into_iter().flatten().take(quantity).collect();
    (gathered.len() == quantity).then_some(gathered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{BlockState, Cell, Slot};
    use crate::ids::HoldId;
    use crate::layout::{SectionSpec, SectionSpecKind};
    use crate::time::Millis;
    use std::collections::HashSet;

    fn floor(capacity: u32) -> Layout {
        let section = SectionSpec {
            name: "F".into(),
            kind: SectionSpecKind::General(capacity),
            not_for_sale: vec![],
            accessible: vec![],
        };
        Layout::build(vec![section], None).unwrap()
    }

    #[test]
    fn a_group_comes_from_one_block_and_crowds_spread() {
        let layout = floor(320);
        let map = SeatMap::build(&layout, std::iter::empty(), Millis(0));
        let mut blocks = HashSet::new();
        for n in 0..200 {
            let places =
                choose(&layout, &layout.sections()[0], &map, 4, &mut Seed::new(n)).unwrap();
            let own: HashSet<_> = places.iter().map(|p| layout.locate(*p).0).collect();
            assert_eq!(own.len(), 1);
            assert_eq!(places.iter().collect::<HashSet<_>>().len(), 4);
            blocks.extend(own);
        }
        assert_eq!(blocks.len(), 10);
    }

    #[test]
    fn the_last_places_are_gathered_across_blocks_and_no_more_than_there_are() {
        let layout = floor(96);
        let mut full = BlockState::default();
        for slot in 1..32 {
            full.set(Slot(slot), Some(Cell::sold(HoldId::from_bytes([1; 16]))));
        }
        let blocks: Vec<_> = (0..3)
            .map(|i| (crate::block::BlockIndex(i), &full))
            .collect();
        let map = SeatMap::build(&layout, blocks.into_iter(), Millis(0));
        let section = &layout.sections()[0];
        assert_eq!(
            choose(&layout, section, &map, 3, &mut Seed::new(1))
                .unwrap()
                .len(),
            3
        );
        assert_eq!(choose(&layout, section, &map, 4, &mut Seed::new(1)), None);
    }
}
