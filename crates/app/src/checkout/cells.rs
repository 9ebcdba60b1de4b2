//! Moving the cells of an order.

use onsale_domain::block::Cell;
use onsale_domain::buyer::{Buyer, MoveRefusal};
use onsale_domain::checkout_saga::Moved;
use onsale_domain::claim::{MoveVerdict, by_block, judge_move};
use onsale_domain::ids::HoldId;
use onsale_domain::order::{Order, OrderedSeat};

use crate::app::App;
use crate::error::{Error, Result};
use crate::holds::ROUNDS;
use crate::ports::{CellsWrite, Reads, Replaced};

impl App {
    /// Moves every cell of the order that it buys from nobody from one exact value to
    /// another: all or none.
    pub(super) async fn move_cells(&self, order: &Order, old: Cell, new: Cell) -> Result<Moved> {
        let show = self.recent_show(order.show_id).await?;
        let layout = self.layout_of(&show).await?;
        let wanted = by_block(&layout, &order.unsold_places());
        for _ in 0..ROUNDS {
            let found = match self.store.shift(order.show_id, &wanted, old, new).await? {
                CellsWrite::Done => return Ok(Moved::Done),
                CellsWrite::Refused(found) => found,
            };
            match judge_move(&wanted, &found, old, new) {
                MoveVerdict::Done => return Ok(Moved::Done),
                MoveVerdict::Closed => return Ok(Moved::Closed),
                MoveVerdict::Lost => return Ok(Moved::SeatsLost),
                MoveVerdict::Repeat => {}
            }
        }
        Err(Error::Unavailable)
    }

    /// Frees every cell of the order that carries its hold, whatever its expiry. The hold
    /// has ended, so its id claims nothing any more; a worker that comes back late can
    /// only move a cell from one value of this hold to another, and is met again in the
    /// next round. Done is when a consistent read finds none. `false`: there was none.
    pub(crate) async fn free_order_cells(&self, order: &Order) -> Result<bool> {
        let show = self.recent_show(order.show_id).await?;
        let layout = self.layout_of(&show).await?;
        let wanted = by_block(&layout, &order.places());
        let blocks: Vec<_> = wanted.iter().map(|group| group.block).collect();
        let hold = order.id.hold();
        for round in 0..ROUNDS {
            let found = self
                .store
                .read_blocks(order.show_id, &blocks, Reads::Consistent)
                .await?;
            let mut cells: Vec<Cell> = Vec::new();
            for group in &wanted {
                let state = found.iter().find(|(block, _)| *block == group.block);
                let Some((_, state)) = state else { continue };
                let own = group.slots.iter().filter_map(|slot| state.cell(*slot));
                cells.extend(own.filter(|cell| cell.hold == hold));
            }
            cells.sort_by_key(|cell| cell.expiry);
            cells.dedup();
            if cells.is_empty() {
                return Ok(round > 0);
            }
            for cell in cells {
                self.free_cells(order.show_id, &layout, &order.places(), cell)
                    .await?;
            }
        }
        Err(Error::Unavailable)
    }

    /// Those of the order's seats that anybody can claim now.
    pub(super) async fn free_seats_of(&self, order: &Order) -> Result<Vec<String>> {
        let show = self.recent_show(order.show_id).await?;
        let layout = self.layout_of(&show).await?;
        let wanted = by_block(&layout, &order.places());
        let blocks: Vec<_> = wanted.iter().map(|group| group.block).collect();
        let found = self
            .store
            .read_blocks(order.show_id, &blocks, Reads::Consistent)
            .await?;
        let now = self.now();
        let is_free = |seat: &&OrderedSeat| {
            let (block, slot) = layout.locate(seat.place);
            let state = found.iter().find(|(index, _)| *index == block);
            state.is_none_or(|(_, state)| !state.closed && state.is_claimable(slot, now))
        };
        let free = order.seats.iter().filter(is_free);
        Ok(free.map(|seat| seat.seat.clone()).collect())
    }

    /// Moves the order's entry on the buyer item; the refusal, if the entry may not move.
    pub(super) async fn move_entry(
        &self,
        order: &Order,
        step: impl Fn(&Buyer, HoldId) -> std::result::Result<Buyer, MoveRefusal>,
    ) -> Result<std::result::Result<(), MoveRefusal>> {
        let (show, account) = (order.show_id, order.account);
        let mut buyer = self.store.buyer(show, account).await?;
        for _ in 0..ROUNDS {
            let next = match step(&buyer, order.id.hold()) {
                Ok(next) => next,
                Err(refusal) => return Ok(Err(refusal)),
            };
            match self.store.replace_buyer(show, account, &next).await? {
                Replaced::Done => return Ok(Ok(())),
                Replaced::Lost(current) => buyer = current,
            }
        }
        Err(Error::Unavailable)
    }
}

/// The cells of an order in the three states of its life.
pub(super) fn held(order: &Order) -> Cell {
    Cell {
        expiry: order.held_until,
        hold: order.id.hold(),
    }
}

pub(super) fn paying(order: &Order) -> Cell {
    Cell {
        expiry: order.pay_until,
        hold: order.id.hold(),
    }
}

pub(super) fn sold(order: &Order) -> Cell {
    Cell::sold(order.id.hold())
}
