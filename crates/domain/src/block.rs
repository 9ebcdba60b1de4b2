//! Blocks and cells: the unit of a conditional write.
//!
//! A block is at most 32 neighbouring places of one row and one stored item. The cell
//! of a place says who owns it until when; a place without a cell is free. An item
//! that was never written is a block of free places.

use crate::ids::HoldId;
use crate::time::{CLOCK_SKEW_MS, Millis};

/// 32 × (3-byte name + 24-byte cell) + keys ≈ 940 bytes, under the 1 KB of one
/// write unit.
pub const MAX_BLOCK_PLACES: u32 = 32;
pub const CELL_BYTES: usize = 24;

/// The number of a block in its show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockIndex(pub u32);

/// The position of a place in its block, below `MAX_BLOCK_PLACES`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slot(pub u8);

/// The run of places that a block covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockSpan {
    pub first: u32,
    pub len: u8,
}

impl BlockSpan {
    /// The place after its last.
    pub fn end(&self) -> u32 {
        self.first + u32::from(self.len)
    }
}

/// Who owns a place until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cell {
    pub expiry: Millis,
    pub hold: HoldId,
}

/// Stands in the cell of a place that was given back while a waitlist was open.
const NOBODY: HoldId = HoldId::from_bytes([0; 16]);

/// The expiry of a sold place: later than any clock.
pub const SOLD: Millis = Millis(u64::MAX);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlaceState {
    Free,
    Held,
    Sold,
    NotForSale,
}

impl Cell {
    pub fn sold(hold: HoldId) -> Self {
        Self { expiry: SOLD, hold }
    }

    pub fn is_sold(&self) -> bool {
        self.expiry == SOLD
    }

    /// What is left in a place that is given back while a waitlist is open: nobody's, and
    /// lapsed so recently that only the waitlist may claim it (`HEAD_START_MS`).
    pub fn returned(now: Millis) -> Self {
        Self {
            expiry: claim_horizon(now).saturating_sub(1),
            hold: NOBODY,
        }
    }

    pub fn is_returned(&self) -> bool {
        self.hold == NOBODY
    }

    /// Since when others may take it.
    pub fn free_since(&self) -> Millis {
        self.expiry + CLOCK_SKEW_MS + 1
    }

    /// Whether its owner may still act on it.
    pub fn is_live(&self, now: Millis) -> bool {
        now < self.expiry
    }

    /// Whether somebody else may take it: lapsed by more than clocks can disagree.
    pub fn is_claimable(&self, now: Millis) -> bool {
        self.expiry < claim_horizon(now)
    }

    /// Big-endian expiry first, so that comparing bytes compares expiries.
    pub fn to_bytes(self) -> [u8; CELL_BYTES] {
        let mut bytes = [0u8; CELL_BYTES];
        bytes[..8].copy_from_slice(&self.expiry.0.to_be_bytes());
        bytes[8..].copy_from_slice(self.hold.as_bytes());
        bytes
    }

    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; CELL_BYTES] = bytes.try_into().ok()?;
        let (mut expiry, mut hold) = ([0u8; 8], [0u8; 16]);
        expiry.copy_from_slice(&bytes[..8]);
        hold.copy_from_slice(&bytes[8..]);
        Some(Self {
            expiry: Millis(u64::from_be_bytes(expiry)),
            hold: HoldId::from_bytes(hold),
        })
    }
}

/// A cell whose expiry lies before this is free for everyone.
pub fn claim_horizon(now: Millis) -> Millis {
    now.saturating_sub(CLOCK_SKEW_MS)
}

/// What a block was when it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockState {
    pub cells: [Option<Cell>; MAX_BLOCK_PLACES as usize],
    /// The show was cancelled: nothing here can be claimed, extended or sold.
    pub closed: bool,
}

impl Default for BlockState {
    fn default() -> Self {
        Self {
            cells: [None; MAX_BLOCK_PLACES as usize],
            closed: false,
        }
    }
}

impl BlockState {
    pub fn cell(&self, slot: Slot) -> Option<Cell> {
        self.cells.get(usize::from(slot.0)).copied().flatten()
    }

    pub fn set(&mut self, slot: Slot, cell: Option<Cell>) {
        if let Some(at) = self.cells.get_mut(usize::from(slot.0)) {
            *at = cell;
        }
    }

    pub fn is_claimable(&self, slot: Slot, now: Millis) -> bool {
        self.cell(slot).is_none_or(|cell| cell.is_claimable(now))
    }

    /// Free, held or sold; a block does not know what is not for sale.
    pub fn state(&self, slot: Slot, now: Millis) -> PlaceState {
        match self.cell(slot) {
            Some(cell) if cell.is_sold() => PlaceState::Sold,
            Some(cell) if !cell.is_claimable(now) => PlaceState::Held,
            _ => PlaceState::Free,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_compare_as_expiries_do() {
        let hold = HoldId::from_bytes([0xff; 16]);
        let cell = |ms| {
            Cell {
                expiry: Millis(ms),
                hold,
            }
            .to_bytes()
        };
        assert!(cell(255) < cell(256));
        // The condition compares 24 bytes with the 8 of the horizon: a cell that
        // expires exactly at the horizon is longer, hence greater, hence not free.
        let horizon = 1_000u64.to_be_bytes();
        assert!(cell(999).as_slice() < horizon.as_slice());
        assert!(cell(1_000).as_slice() > horizon.as_slice());
        assert!(Cell::sold(hold).to_bytes().as_slice() > u64::MAX.to_be_bytes().as_slice());
    }

    #[test]
    fn a_lapsed_cell_is_held_for_the_skew_and_then_free() {
        let hold = HoldId::from_bytes([1; 16]);
        let mut block = BlockState::default();
        block.set(
            Slot(3),
            Some(Cell {
                expiry: Millis(10_000),
                hold,
            }),
        );
        assert_eq!(block.state(Slot(3), Millis(9_999)), PlaceState::Held);
        assert_eq!(block.state(Slot(3), Millis(15_000)), PlaceState::Held);
        assert_eq!(block.state(Slot(3), Millis(15_001)), PlaceState::Free);
        block.set(Slot(3), Some(Cell::sold(hold)));
        assert_eq!(block.state(Slot(3), Millis(u64::MAX)), PlaceState::Sold);
    }
}
