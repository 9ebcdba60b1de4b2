//! The map of a show: two bits a place, and counts by section.

use serde::{Deserialize, Serialize};

use crate::block::{BlockIndex, BlockState, PlaceState, Slot};
use crate::layout::{Layout, PlaceIndex};
use crate::time::Millis;

/// A map younger than this is served as it is.
pub const FRESH_MS: u64 = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Counts {
    pub free: u32,
    pub held: u32,
    pub sold: u32,
}

impl Counts {
    pub fn total(&self) -> u32 {
        self.free + self.held + self.sold
    }

    /// Sold out means sold: held places may come back.
    pub fn all_sold(&self) -> bool {
        self.total() > 0 && self.sold == self.total()
    }

    fn add(&mut self, state: PlaceState) {
        match state {
            PlaceState::Free => self.free += 1,
            PlaceState::Held => self.held += 1,
            PlaceState::Sold => self.sold += 1,
            PlaceState::NotForSale => {}
        }
    }
}

/// The states of all places at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeatMap {
    /// When the blocks were read.
    pub version: Millis,
    /// Place i is bits 2·(i mod 4) and up of byte ⌊i/4⌋.
    pub bits: Vec<u8>,
    /// In the order of the layout's sections.
    pub sections: Vec<Counts>,
}

impl PlaceState {
    fn code(self) -> u8 {
        match self {
            Self::Free => 0,
            Self::Held => 1,
            Self::Sold => 2,
            Self::NotForSale => 3,
        }
    }

    fn of_code(code: u8) -> Self {
        match code & 3 {
            0 => Self::Free,
            1 => Self::Held,
            2 => Self::Sold,
            _ => Self::NotForSale,
        }
    }
}

impl SeatMap {
    /// Builds the map from the blocks, as read at `now`. A block that was never
    /// written is missing here and free.
    pub fn build<'a>(
        layout: &Layout,
        blocks: impl Iterator<Item = (BlockIndex, &'a BlockState)>,
        now: Millis,
    ) -> Self {
        let mut states = vec![PlaceState::Free; layout.places() as usize];
        for (index, block) in blocks {
            let Some(span) = layout.blocks().get(index.0 as usize) else {
                continue;
            };
            for slot in 0..span.len {
                states[span.first as usize + usize::from(slot)] = block.state(Slot(slot), now);
            }
        }
        let mut bits = vec![0u8; states.len().div_ceil(4)];
        let mut sections = vec![Counts::default(); layout.sections().len()];
        for (section, counts) in layout.sections().iter().zip(&mut sections) {
            for place in section.range() {
                let i = place as usize;
                let state = match layout.is_for_sale(PlaceIndex(place)) {
                    true => states[i],
                    false => PlaceState::NotForSale,
                };
                bits[i / 4] |= state.code() << (2 * (i % 4));
                counts.add(state);
            }
        }
        Self {
            version: now,
            bits,
            sections,
        }
    }

    pub fn state(&self, place: PlaceIndex) -> PlaceState {
        let i = place.at();
        let byte = self.bits.get(i / 4).copied().unwrap_or(0xff);
        PlaceState::of_code(byte >> (2 * (i % 4)))
    }

    /// Corrects one block by a newer reading; the counts stay those of the reading.
    pub fn learn(&mut self, layout: &Layout, index: BlockIndex, block: &BlockState, now: Millis) {
        let Some(span) = layout.blocks().get(index.0 as usize) else {
            return;
        };
        for slot in (0..span.len).map(Slot) {
            let place = layout.place_of(index, slot);
            if layout.is_for_sale(place) {
                self.put(place, block.state(slot, now));
            }
        }
    }

    /// Corrects one place by a newer reading, where it is for sale at all.
    pub(crate) fn take(&mut self, place: PlaceIndex, state: PlaceState) {
        if self.state(place) != PlaceState::NotForSale {
            self.put(place, state);
        }
    }

    fn put(&mut self, place: PlaceIndex, state: PlaceState) {
        let shift = 2 * (place.at() % 4);
        if let Some(byte) = self.bits.get_mut(place.at() / 4) {
            *byte = *byte & !(3 << shift) | state.code() << shift;
        }
    }

    pub fn counts(&self) -> Counts {
        self.sections
            .iter()
            .fold(Counts::default(), |sum, c| Counts {
                free: sum.free + c.free,
                held: sum.held + c.held,
                sold: sum.sold + c.sold,
            })
    }

    pub fn encode(&self) -> Vec<u8> {
        // Writing plain values to a growing vector cannot fail.
        postcard::to_allocvec(self).unwrap_or_default()
    }

    pub fn decode(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block::Cell;
    use crate::ids::HoldId;
    use crate::layout::{SectionSpec, SectionSpecKind};

    #[test]
    fn two_bits_a_place_and_counts_that_add_up() {
        let section = SectionSpec {
            name: "A".into(),
            kind: SectionSpecKind::Seated(vec![("1".into(), (1..=6).collect())]),
            not_for_sale: vec!["A-1-6".into()],
            ..SectionSpec::default()
        };
        let layout = Layout::build(vec![section], None).unwrap();
        let hold = HoldId::from_bytes([1; 16]);
        let now = Millis(1_000_000);
        let mut block = BlockState::default();
        block.set(
            Slot(1),
            Some(Cell {
                expiry: now + 1,
                hold,
            }),
        );
        block.set(Slot(2), Some(Cell::sold(hold)));
        block.set(
            Slot(3),
            Some(Cell {
                expiry: now.saturating_sub(5_001),
                hold,
            }),
        );
        let mut map = SeatMap::build(&layout, [(BlockIndex(0), &block)].into_iter(), now);
        assert_eq!(map.bits, vec![0b0010_0100, 0b0000_1100]);
        assert_eq!(
            map.counts(),
            Counts {
                free: 3,
                held: 1,
                sold: 1
            }
        );
        assert_eq!(SeatMap::decode(&map.encode()), Some(map.clone()));
        map.learn(&layout, BlockIndex(0), &BlockState::default(), now);
        assert_eq!(map.bits, vec![0, 0b0000_1100]);
        assert_eq!(map.state(PlaceIndex(77)), PlaceState::NotForSale);
    }
}
