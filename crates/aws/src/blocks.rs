//! Blocks: every step is one conditional write, or one transaction over just the
//! blocks it touches.

use async_trait::async_trait;
use onsale_app::ports::{Blocks, CellsWrite, StoreError, Stored};
use onsale_domain::block::{BlockIndex, BlockState, Cell, MAX_BLOCK_PLACES, Slot};
use onsale_domain::claim::BlockSlots;
use onsale_domain::ids::ShowId;
use onsale_domain::time::Millis;

use crate::attributes::{Item, get_text};
use crate::conditions::{self, CLOSED, Change, cell_name};
use crate::errors::Failed;
use crate::keys::{Key, PK};
use crate::table::DynamoStore;

fn block_of(item: &Item) -> Stored<BlockState> {
    let mut block = BlockState {
        closed: item.contains_key(CLOSED),
        ..BlockState::default()
    };
    for slot in (0..MAX_BLOCK_PLACES as u8).map(Slot) {
        if let Some(value) = item.get(&cell_name(slot)) {
            let cell = value.as_b().ok().and_then(|b| Cell::from_bytes(b.as_ref()));
            let cell = cell.ok_or_else(|| StoreError::Corrupt(format!("cell {}", slot.0)))?;
            block.set(slot, Some(cell));
        }
    }
    Ok(block)
}

impl DynamoStore {
    async fn write_cells(
        &self,
        show: ShowId,
        wanted: &[BlockSlots],
        change: impl Fn(&[Slot]) -> Change,
    ) -> Stored<CellsWrite> {
        let refused = match wanted {
            [] => return Ok(CellsWrite::Done),
            [one] => {
                match self
                    .update(&Key::block(show, one.block), change(&one.slots))
                    .await
                {
                    Ok(()) => return Ok(CellsWrite::Done),
                    // A block that was never written refuses without an item.
                    Err(Failed::Condition(found)) => found
                        .into_iter()
                        .map(|item| Some(item.unwrap_or_default()))
                        .collect(),
                    Err(failed) => return Err(failed.into()),
                }
            }
            several => {
                let parts = several
                    .iter()
                    .map(|group| {
                        self.update_part(&Key::block(show, group.block), change(&group.slots))
                    })
                    .collect::<Stored<Vec<_>>>()?;
                match self.transact(parts).await? {
                    Ok(()) => return Ok(CellsWrite::Done),
                    Err(refused) => refused,
                }
            }
        };
        let found = wanted
            .iter()
            .zip(refused)
            .filter_map(|(group, item)| Some((group.block, item?)))
            .map(|(block, item)| Ok((block, block_of(&item)?)))
            .collect::<Stored<_>>()?;
        Ok(CellsWrite::Refused(found))
    }
}

#[async_trait]
impl Blocks for DynamoStore {
    async fn claim(
        &self,
        show: ShowId,
        wanted: &[BlockSlots],
        cell: Cell,
        now: Millis,
    ) -> Stored<CellsWrite> {
        self.write_cells(show, wanted, |slots| conditions::claim(slots, cell, now))
            .await
    }

    async fn shift(
        &self,
        show: ShowId,
        wanted: &[BlockSlots],
        old: Cell,
        new: Cell,
    ) -> Stored<CellsWrite> {
        self.write_cells(show, wanted, |slots| conditions::shift(slots, old, new))
            .await
    }

    async fn release(&self, show: ShowId, wanted: &BlockSlots, old: Cell) -> Stored<CellsWrite> {
        let wanted = std::slice::from_ref(wanted);
        self.write_cells(show, wanted, |slots| conditions::release(slots, old))
            .await
    }

    async fn leave(
        &self,
        show: ShowId,
        wanted: &BlockSlots,
        old: Cell,
        new: Cell,
    ) -> Stored<CellsWrite> {
        let wanted = std::slice::from_ref(wanted);
        self.write_cells(show, wanted, |slots| conditions::leave(slots, old, new))
            .await
    }

    async fn read(
        &self,
        show: ShowId,
        blocks: &[BlockIndex],
        consistent: bool,
    ) -> Stored<Vec<(BlockIndex, BlockState)>> {
        let keys: Vec<_> = blocks
            .iter()
            .map(|block| Key::block(show, *block))
            .collect();
        let items = self.get_many(&keys, consistent).await?;
        items
            .iter()
            .map(|item| {
                let index = Key::block_index(get_text(item, PK)?);
                let index =
                    index.ok_or_else(|| StoreError::Corrupt("the key of a block".into()))?;
                Ok((index, block_of(item)?))
            })
            .collect()
    }
}
