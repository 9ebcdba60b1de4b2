//! What claims tell of a map before the next one is read.
//!
//! A map is up to a second old, and a crowd that chooses on it meets what others of the
//! same crowd have just taken. News only ever takes places off a map: what has come back
//! is shown by the next map, or found by reading. So news that is late or comes twice
//! sends nobody to a place that is taken.

use std::collections::BTreeMap;

use crate::block::{BlockIndex, BlockState, PlaceState, Slot};
use crate::ids::HoldId;
use crate::layout::{Layout, PlaceIndex};
use crate::map::SeatMap;
use crate::time::Millis;

/// A place that is somebody's, as it was at this time or later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Taken {
    at: Millis,
    state: PlaceState,
    hold: HoldId,
}

#[derive(Debug, Clone, Default)]
pub struct MapNews {
    taken: BTreeMap<PlaceIndex, Taken>,
    /// When somebody last chose places that others had.
    conflict: Option<Millis>,
}

impl MapNews {
    pub fn is_empty(&self) -> bool {
        self.taken.is_empty()
    }

    /// Somebody chose places that others had.
    pub fn tell_conflict(&mut self, at: Millis) {
        self.conflict = self.conflict.max(Some(at));
    }

    pub fn last_conflict(&self) -> Option<Millis> {
        self.conflict
    }

    /// The places that this hold is known to have taken, in order: a request that is
    /// repeated begins with them.
    pub fn held_by(&self, hold: HoldId) -> Vec<PlaceIndex> {
        let own = self.taken.iter().filter(|(_, taken)| taken.hold == hold);
        own.map(|(place, _)| *place).collect()
    }

    /// These places became this hold's, and were so at this time.
    pub fn tell_held(&mut self, places: &[PlaceIndex], hold: HoldId, at: Millis) {
        for place in places {
            let state = PlaceState::Held;
            self.tell(*place, Some(Taken { at, state, hold }), at);
        }
    }

    /// This block was read at this time or later. `clock` is the one by which lapsed
    /// places are free.
    pub fn tell_block(
        &mut self,
        layout: &Layout,
        index: BlockIndex,
        block: &BlockState,
        at: Millis,
        clock: Millis,
    ) {
        let Some(span) = layout.blocks().get(index.0 as usize) else {
            return;
        };
        for slot in (0..span.len).map(Slot) {
            let state = block.state(slot, clock);
            let cell = block.cell(slot).filter(|_| state != PlaceState::Free);
            let taken = cell.map(|cell| Taken {
                at,
                state,
                hold: cell.hold,
            });
            self.tell(layout.place_of(index, slot), taken, at);
        }
    }

    /// Older news never replaces newer.
    fn tell(&mut self, place: PlaceIndex, taken: Option<Taken>, at: Millis) {
        if self.taken.get(&place).is_some_and(|known| known.at > at) {
            return;
        }
        match taken {
            Some(taken) => self.taken.insert(place, taken),
            None => self.taken.remove(&place),
        };
    }

    /// Takes off a map what was taken since it was read, but for what `mine` took: a
    /// request that is repeated chooses as it did before, and meets its own cells.
    pub fn correct(&self, map: &mut SeatMap, since: Millis, mine: HoldId) {
        for (place, taken) in &self.taken {
            if taken.at >= since && taken.hold != mine {
                map.take(*place, taken.state);
            }
        }
    }

    /// What a map of this version has seen itself.
    pub fn forget_before(&mut self, version: Millis) {
        self.taken.retain(|_, taken| taken.at >= version);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Cell;
    use crate::layout::{SectionSpec, SectionSpecKind};

    const READ: Millis = Millis(1_000_000);
    const ANA: HoldId = HoldId::from_bytes([1; 16]);
    const BO: HoldId = HoldId::from_bytes([2; 16]);

    fn layout() -> Layout {
        let section = SectionSpec {
            name: "A".into(),
            kind: SectionSpecKind::Seated(vec![("1".into(), (1..=6).collect())]),
            not_for_sale: vec!["A-1-6".into()],
            ..SectionSpec::default()
        };
        Layout::build(vec![section], None).unwrap()
    }

    fn empty_map() -> SeatMap {
        SeatMap::build(&layout(), std::iter::empty(), READ)
    }

    /// The places that somebody else would choose from.
    fn free(news: &MapNews, map: &SeatMap) -> Vec<u32> {
        let mut map = map.clone();
        let since = map.version;
        news.correct(&mut map, since, BO);
        let is_free = |place: &u32| map.state(PlaceIndex(*place)) == PlaceState::Free;
        (0..6).filter(is_free).collect()
    }

    #[test]
    fn what_was_claimed_is_off_the_map_for_everybody_else() {
        let mut news = MapNews::default();
        news.tell_held(&[PlaceIndex(1), PlaceIndex(2)], ANA, READ + 10);
        assert_eq!(free(&news, &empty_map()), vec![0, 3, 4]);
        let mut mine = empty_map();
        news.correct(&mut mine, READ, ANA);
        assert_eq!(mine, empty_map());
    }

    #[test]
    fn a_map_is_never_made_older_than_it_is() {
        let mut news = MapNews::default();
        news.tell_held(&[PlaceIndex(1)], ANA, READ.saturating_sub(1));
        assert_eq!(free(&news, &empty_map()), vec![0, 1, 2, 3, 4]);
        news.forget_before(READ);
        assert!(news.is_empty());
        // And what was told first and is older does not come back.
        news.tell_held(&[PlaceIndex(1)], ANA, READ + 20);
        let all_free = BlockState::default();
        news.tell_block(&layout(), BlockIndex(0), &all_free, READ + 10, READ + 10);
        assert_eq!(free(&news, &empty_map()), vec![0, 2, 3, 4]);
        news.tell_block(&layout(), BlockIndex(0), &all_free, READ + 20, READ + 20);
        assert!(news.is_empty());
    }

    #[test]
    fn a_block_that_refused_tells_of_all_its_places_and_frees_none_on_the_map() {
        let hold = ANA;
        let cell = |expiry| Some(Cell { expiry, hold });
        let mut block = BlockState::default();
        block.set(Slot(0), cell(READ + 600_000));
        block.set(Slot(1), Some(Cell::sold(hold)));
        block.set(Slot(2), cell(READ.saturating_sub(5_001)));
        block.set(Slot(5), cell(READ + 600_000));
        let mut news = MapNews::default();
        news.tell_block(&layout(), BlockIndex(0), &block, READ, READ);
        news.tell_block(&layout(), BlockIndex(7), &block, READ, READ);
        let mut map = empty_map();
        map.take(PlaceIndex(3), PlaceState::Held);
        assert_eq!(
            free(&news, &map),
            vec![2, 4],
            "one lapsed, one is held still"
        );
        news.correct(&mut map, READ, BO);
        assert_eq!(map.state(PlaceIndex(1)), PlaceState::Sold);
        assert_eq!(map.state(PlaceIndex(5)), PlaceState::NotForSale);
        assert_eq!(SeatMap::decode(&map.encode()), Some(map));
    }
}
