//! What a conditional write on cells means when it was refused.
//!
//! A write may have happened though its reply was lost, so the caller repeats it and
//! asks here what the returned blocks prove. "The id is mine" alone proves nothing:
//! only cells equal to those meant, or a whole live claim of the same hold, do.

use crate::block::{BlockIndex, BlockState, Cell, Slot};
use crate::layout::{Layout, PlaceIndex};
use crate::time::Millis;

/// The slots of one block that a step touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockSlots {
    pub block: BlockIndex,
    pub slots: Vec<Slot>,
}

/// Groups places by block, in order.
pub fn by_block(layout: &Layout, places: &[PlaceIndex]) -> Vec<BlockSlots> {
    let mut sorted = places.to_vec();
    sorted.sort_unstable();
    let mut groups: Vec<BlockSlots> = Vec::new();
    for place in sorted {
        let (block, slot) = layout.locate(place);
        match groups.last_mut() {
            Some(group) if group.block == block => group.slots.push(slot),
            _ => groups.push(BlockSlots {
                block,
                slots: vec![slot],
            }),
        }
    }
    groups
}

/// The blocks that a refused write returned. A block whose own condition held is
/// not among them.
pub type Found = Vec<(BlockIndex, BlockState)>;

fn found_in(found: &Found, block: BlockIndex) -> Option<&BlockState> {
    found
        .iter()
        .find(|(index, _)| *index == block)
        .map(|(_, state)| state)
}

/// What a refused claim means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ClaimVerdict {
    /// It was done before: every wanted cell is this hold's, live until this expiry.
    Mine(Millis),
    /// The show is cancelled.
    Closed,
    /// These places belong to others.
    Taken(Vec<(BlockIndex, Slot)>),
    /// Nothing stands in the way any more: repeat.
    Repeat,
}

/// `claimed_at` is the clock that the claim was made by, which may lie behind `now`
/// (`Show::claim_clock`).
pub fn judge_claim(
    wanted: &[BlockSlots],
    found: &Found,
    meant: Cell,
    now: Millis,
    claimed_at: Millis,
) -> ClaimVerdict {
    if let Some(expiry) = own_live_expiry(wanted, found, meant, now) {
        return ClaimVerdict::Mine(expiry);
    }
    if found.iter().any(|(_, state)| state.closed) {
        return ClaimVerdict::Closed;
    }
    let taken: Vec<_> = slots_of(wanted)
        .filter(|(block, slot)| {
            found_in(found, *block).is_some_and(|state| !state.is_claimable(*slot, claimed_at))
        })
        .collect();
    if taken.is_empty() {
        ClaimVerdict::Repeat
    } else {
        ClaimVerdict::Taken(taken)
    }
}

/// The one expiry under which every wanted cell is live for this hold.
fn own_live_expiry(
    wanted: &[BlockSlots],
    found: &Found,
    meant: Cell,
    now: Millis,
) -> Option<Millis> {
    let mut expiry = None;
    for (block, slot) in slots_of(wanted) {
        let cell = found_in(found, block)?.cell(slot)?;
        let own = cell.hold == meant.hold && cell.is_live(now) && !cell.is_sold();
        if !own || *expiry.get_or_insert(cell.expiry) != cell.expiry {
            return None;
        }
    }
    expiry
}

/// What a refused move from one exact cell to another means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MoveVerdict {
    /// Every cell already is what it should become.
    Done,
    /// The show is cancelled.
    Closed,
    /// At least one cell moved on under another owner or another expiry.
    Lost,
    /// Every returned cell is as expected: repeat.
    Repeat,
}

/// Judges a refused extend or sell from `old` to `new`.
pub fn judge_move(wanted: &[BlockSlots], found: &Found, old: Cell, new: Cell) -> MoveVerdict {
    let cells = || slots_of(wanted).map(|(b, s)| found_in(found, b).map(|state| state.cell(s)));
    if cells().all(|cell| cell == Some(Some(new))) {
        return MoveVerdict::Done;
    }
    // A block that was not returned met its own condition: it is as expected.
    if cells().any(|cell| cell.is_some_and(|cell| cell != Some(old))) {
        return MoveVerdict::Lost;
    }
    if found.iter().any(|(_, state)| state.closed) {
        return MoveVerdict::Closed;
    }
    MoveVerdict::Repeat
}

/// The slots of a refused release that still hold exactly `cell`. The rest moved on,
/// and is no longer this hold's to free.
pub fn still_to_release(wanted: &BlockSlots, found: &BlockState, cell: Cell) -> Vec<Slot> {
    wanted
        .slots
        .iter()
        .copied()
        .filter(|slot| found.cell(*slot) == Some(cell))
        .collect()
}

fn slots_of(wanted: &[BlockSlots]) -> impl Iterator<Item = (BlockIndex, Slot)> {
    wanted
        .iter()
        .flat_map(|group| group.slots.iter().map(move |slot| (group.block, *slot)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::HoldId;

    const ME: HoldId = HoldId::from_bytes([1; 16]);
    const OTHER: HoldId = HoldId::from_bytes([2; 16]);
    const NOW: Millis = Millis(100_000);

    fn cell(expiry: u64, hold: HoldId) -> Cell {
        Cell {
            expiry: Millis(expiry),
            hold,
        }
    }

    fn wanted(slots: &[u8]) -> Vec<BlockSlots> {
        vec![BlockSlots {
            block: BlockIndex(0),
            slots: slots.iter().map(|s| Slot(*s)).collect(),
        }]
    }

    fn found(cells: &[(u8, Cell)]) -> Found {
        let mut state = BlockState::default();
        for (slot, cell) in cells {
            state.set(Slot(*slot), Some(*cell));
        }
        vec![(BlockIndex(0), state)]
    }

    #[test]
    fn a_claim_that_was_applied_is_recognised_by_its_cells() {
        let meant = cell(200_000, ME);
        let applied = found(&[(0, meant), (1, meant)]);
        assert_eq!(
            judge_claim(&wanted(&[0, 1]), &applied, meant, NOW, NOW),
            ClaimVerdict::Mine(Millis(200_000))
        );
    }

    #[test]
    fn a_claim_adopts_the_expiry_of_its_own_earlier_claim() {
        let earlier = cell(150_000, ME);
        let state = found(&[(0, earlier), (1, earlier)]);
        assert_eq!(
            judge_claim(&wanted(&[0, 1]), &state, cell(200_000, ME), NOW, NOW),
            ClaimVerdict::Mine(Millis(150_000))
        );
    }

    #[test]
    fn an_own_id_in_some_cells_only_proves_nothing() {
        let mine = cell(150_000, ME);
        let state = found(&[(0, mine), (1, cell(150_000, OTHER))]);
        assert_eq!(
            judge_claim(&wanted(&[0, 1]), &state, cell(200_000, ME), NOW, NOW),
            ClaimVerdict::Taken(vec![(BlockIndex(0), Slot(0)), (BlockIndex(0), Slot(1))])
        );
        let mixed = found(&[(0, mine), (1, cell(150_001, ME))]);
        assert!(matches!(
            judge_claim(&wanted(&[0, 1]), &mixed, cell(200_000, ME), NOW, NOW),
            ClaimVerdict::Taken(_)
        ));
    }

    #[test]
    fn an_own_cell_that_has_lapsed_or_is_sold_is_not_adopted() {
        for state in [
            found(&[(0, cell(99_999, ME))]),
            found(&[(0, Cell::sold(ME))]),
        ] {
            assert!(matches!(
                judge_claim(&wanted(&[0]), &state, cell(200_000, ME), NOW, NOW),
                ClaimVerdict::Taken(_)
            ));
        }
    }

    #[test]
    fn a_lapsed_cell_of_another_is_no_obstacle() {
        let state = found(&[(0, cell(94_999, OTHER))]);
        assert_eq!(
            judge_claim(&wanted(&[0]), &state, cell(200_000, ME), NOW, NOW),
            ClaimVerdict::Repeat
        );
    }

    #[test]
    fn a_move_is_done_only_when_every_cell_is_the_new_one() {
        let (old, new) = (cell(150_000, ME), Cell::sold(ME));
        assert_eq!(
            judge_move(&wanted(&[0, 1]), &found(&[(0, new), (1, new)]), old, new),
            MoveVerdict::Done
        );
        assert_eq!(
            judge_move(&wanted(&[0, 1]), &found(&[(0, new), (1, old)]), old, new),
            MoveVerdict::Lost
        );
        assert_eq!(
            judge_move(&wanted(&[0]), &found(&[]), old, new),
            MoveVerdict::Lost
        );
        assert_eq!(
            judge_move(&wanted(&[0]), &found(&[(0, cell(150_001, ME))]), old, new),
            MoveVerdict::Lost
        );
        assert_eq!(
            judge_move(&wanted(&[0]), &found(&[(0, old)]), old, new),
            MoveVerdict::Repeat
        );
    }

    #[test]
    fn a_release_touches_only_cells_that_are_exactly_its_own() {
        let mine = cell(150_000, ME);
        let state = &found(&[(0, mine), (1, cell(150_000, OTHER)), (2, Cell::sold(ME))])[0].1;
        assert_eq!(
            still_to_release(&wanted(&[0, 1, 2, 3])[0], state, mine),
            vec![Slot(0)]
        );
    }

    #[test]
    fn a_claim_over_two_blocks_is_mine_only_when_both_answered_with_my_cells() {
        let meant = cell(200_000, ME);
        let slots = |block: u32| BlockSlots {
            block: BlockIndex(block),
            slots: vec![Slot(0)],
        };
        let wanted = [slots(0), slots(1)];
        let mut mine = BlockState::default();
        mine.set(Slot(0), Some(meant));
        let both = vec![(BlockIndex(0), mine.clone()), (BlockIndex(1), mine.clone())];
        assert_eq!(
            judge_claim(&wanted, &both, meant, NOW, NOW),
            ClaimVerdict::Mine(meant.expiry)
        );
        // The other block did not refuse, or has no cell there: it is not mine.
        let one = vec![(BlockIndex(0), mine.clone())];
        assert!(matches!(
            judge_claim(&wanted, &one, meant, NOW, NOW),
            ClaimVerdict::Taken(_)
        ));
        let bare = vec![
            (BlockIndex(0), mine),
            (BlockIndex(1), BlockState::default()),
        ];
        assert!(matches!(
            judge_claim(&wanted, &bare, meant, NOW, NOW),
            ClaimVerdict::Taken(_)
        ));
    }

    #[test]
    fn a_closed_block_refuses_claims_and_moves() {
        let (old, new) = (cell(150_000, ME), Cell::sold(ME));
        let mut state = found(&[(0, old)]);
        state[0].1.closed = true;
        assert_eq!(
            judge_move(&wanted(&[0]), &state, old, new),
            MoveVerdict::Closed
        );
        assert_eq!(
            judge_claim(&wanted(&[1]), &state, cell(200_000, OTHER), NOW, NOW),
            ClaimVerdict::Closed
        );
        // A block that did not refuse is as expected; only the closed one decides.
        let two = [
            wanted(&[0])[0].clone(),
            BlockSlots {
                block: BlockIndex(7),
                slots: vec![Slot(0)],
            },
        ];
        assert_eq!(judge_move(&two, &state, old, new), MoveVerdict::Closed);
    }

    #[test]
    fn places_are_grouped_by_block_whatever_their_order() {
        use crate::layout::{SectionSpec, SectionSpecKind};
        let section = SectionSpec {
            name: "A".into(),
            kind: SectionSpecKind::Seated(vec![("1".into(), (1..=40).collect())]),
            ..SectionSpec::default()
        };
        let layout = Layout::build(vec![section], None).unwrap();
        let places = [30, 2, 31, 1].map(PlaceIndex);
        let groups = by_block(&layout, &places);
        assert_eq!(groups.len(), 2, "one write for each block");
        assert_eq!(groups[0].slots, vec![Slot(1), Slot(2)]);
        assert_eq!(groups[1].slots, vec![Slot(10), Slot(11)]);
    }
}
