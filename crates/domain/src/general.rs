//! General admission: any k free places of a section.
//!
//! A block with room is chosen at random, and places in it at random, so that a crowd
//! spreads over all partitions. Only when no block has k are they gathered across
//! blocks.

use crate::block::{BlockSpan, PlaceState};
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
    let end = layout.blocks().partition_point(|b| b.first < range.end);
    let mut blocks = layout.blocks()[first..end].to_vec();
    seed.shuffle(&mut blocks);
    // A floor has thousands of blocks, and one of the first has room unless it is nearly full.
    if let Some(block) = blocks
        .iter()
        .find(|block| free_in(map, block).count() >= quantity)
    {
        let mut free: Vec<_> = free_in(map, block).collect();
        seed.shuffle(&mut free);
        free.truncate(quantity);
        return Some(free);
    }
    // Fullest blocks first: the fewer blocks in the transaction, the cheaper it is.
    blocks.sort_by_cached_key(|block| std::cmp::Reverse(free_in(map, block).count()));
    let gathered: Vec<_> = blocks
        .iter()
        .flat_map(|block| free_in(map, block))
        .take(quantity)
        .collect();
    (gathered.len() == quantity).then_some(gathered)
}

fn free_in(map: &SeatMap, block: &BlockSpan) -> impl Iterator<Item = PlaceIndex> {
    (block.first..block.end())
        .map(PlaceIndex)
        .filter(move |place| map.state(*place) == PlaceState::Free)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::{BlockIndex, BlockState, Cell, Slot};
    use crate::ids::HoldId;
    use crate::layout::{SectionSpec, SectionSpecKind};
    use crate::time::Millis;
    use std::collections::HashSet;

    fn floor(capacity: u32) -> Layout {
        let section = SectionSpec {
            name: "F".into(),
            kind: SectionSpecKind::General(capacity),
            ..SectionSpec::default()
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
        let blocks = (0..3).map(|i| (BlockIndex(i), &full));
        let map = SeatMap::build(&layout, blocks, Millis(0));
        let section = &layout.sections()[0];
        assert_eq!(
            choose(&layout, section, &map, 3, &mut Seed::new(1))
                .unwrap()
                .len(),
            3
        );
        assert_eq!(choose(&layout, section, &map, 4, &mut Seed::new(1)), None);
    }

    #[test]
    fn a_block_with_too_little_room_is_passed_over() {
        let layout = floor(320);
        let mut nearly_full = BlockState::default();
        for slot in 3..32 {
            nearly_full.set(Slot(slot), Some(Cell::sold(HoldId::from_bytes([1; 16]))));
        }
        let roomy = BlockIndex(6);
        let blocks = (0..10).map(BlockIndex).filter(|block| *block != roomy);
        let blocks = blocks.map(|block| (block, &nearly_full));
        let map = SeatMap::build(&layout, blocks, Millis(0));
        let chosen = |seed| {
            let section = &layout.sections()[0];
            choose(&layout, section, &map, 4, &mut Seed::new(seed)).unwrap()
        };
        for seed in 0..50 {
            let places = chosen(seed);
            assert!(places.iter().all(|place| layout.locate(*place).0 == roomy));
            assert_eq!(places, chosen(seed), "one seed, one answer");
        }
    }
}
