//! Blocks: every step is one conditional write, or one transaction over just the blocks it
//! touches.

use futures_util::{StreamExt, TryStreamExt, stream};
use onsale_domain::block::{BlockIndex, BlockState, Cell, MAX_BLOCK_PLACES, Slot, claim_horizon};
use onsale_domain::claim::{BlockSlots, Found};
use onsale_domain::ids::ShowId;
use onsale_domain::time::Millis;
use onsale_table::{Condition, Item, Reads, Update, Write};

use crate::conditions::CLOSED;
use crate::documents::Together;
use crate::error::{Stored, corrupt};
use crate::keys;
use crate::store::Store;

/// Blocks that are closed at the same time.
const CLOSED_AT_ONCE: usize = 16;

/// The attribute of each cell of a block.
const CELLS: [&str; MAX_BLOCK_PLACES as usize] = [
    "c00", "c01", "c02", "c03", "c04", "c05", "c06", "c07", "c08", "c09", "c10", "c11", "c12",
    "c13", "c14", "c15", "c16", "c17", "c18", "c19", "c20", "c21", "c22", "c23", "c24", "c25",
    "c26", "c27", "c28", "c29", "c30", "c31",
];

/// What a conditional write on cells answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellsWrite {
    Done,
    /// Nothing was written. These blocks refused, as they were.
    Refused(Found),
}

/// Cells of one block, each with what it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockCells {
    pub block: BlockIndex,
    pub cells: Vec<(Slot, Cell)>,
}

fn name(slot: Slot) -> &'static str {
    CELLS[usize::from(slot.0) % CELLS.len()]
}

fn is_open() -> Condition {
    Condition::lacks(CLOSED)
}

/// Holds when every one of these cells is exactly the old one.
fn all_are(slots: &[Slot], old: Cell) -> Condition {
    let exactly = |slot: &Slot| Condition::equal(name(*slot), old.to_bytes());
    Condition::All(slots.iter().map(exactly).collect())
}

fn set_all(update: Update, slots: &[Slot], cell: Cell) -> Update {
    let set = |update: Update, slot: &Slot| update.set(name(*slot), cell.to_bytes());
    slots.iter().fold(update, set)
}

/// Claim: holds when the block is open and every wanted place has no cell, or one that lapsed
/// for every clock. Cells compare as bytes, expiry first.
fn claim(slots: &[Slot], cell: Cell, now: Millis) -> Update {
    let horizon = claim_horizon(now).0.to_be_bytes();
    let free =
        |slot: &Slot| Condition::lacks(name(*slot)).or(Condition::below(name(*slot), horizon));
    let condition = std::iter::once(is_open()).chain(slots.iter().map(free));
    set_all(
        Update::when(Condition::All(condition.collect())),
        slots,
        cell,
    )
}

/// Extend or sell: holds when the block is open and every wanted cell is exactly the old one.
fn shift(slots: &[Slot], old: Cell, new: Cell) -> Update {
    set_all(Update::when(all_are(slots, old).and(is_open())), slots, new)
}

/// Release: holds when every wanted cell is exactly the old one. A closed block may be freed.
fn release(slots: &[Slot], old: Cell) -> Update {
    let free = |update: Update, slot: &Slot| update.remove(name(*slot));
    slots.iter().fold(Update::when(all_are(slots, old)), free)
}

/// Leave: holds when every wanted cell is exactly the old one. A closed block is no obstacle.
fn leave(slots: &[Slot], old: Cell, new: Cell) -> Update {
    set_all(Update::when(all_are(slots, old)), slots, new)
}

/// Sell from others: holds when the block is open and each cell is exactly what it was.
fn sell_from(cells: &[(Slot, Cell)], sold: Cell) -> Update {
    let exactly = |(slot, old): &(Slot, Cell)| Condition::equal(name(*slot), old.to_bytes());
    let condition = std::iter::once(is_open()).chain(cells.iter().map(exactly));
    let slots: Vec<Slot> = cells.iter().map(|(slot, _)| *slot).collect();
    set_all(
        Update::when(Condition::All(condition.collect())),
        &slots,
        sold,
    )
}

/// Close: always takes place, so that closing twice is closing once. It creates the item of a
/// block that was never claimed, and leaves every cell as it is.
fn close() -> Update {
    Update::always().set(CLOSED, 1u64)
}

fn block_of(item: &Item) -> Stored<BlockState> {
    let mut block = BlockState {
        closed: item.has(CLOSED),
        ..BlockState::default()
    };
    for (slot, name) in CELLS.iter().enumerate() {
        if let Some(value) = item.get(name) {
            let cell = match value {
                onsale_table::Value::Bytes(bytes) => Cell::from_bytes(bytes),
                _ => None,
            };
            let cell = cell.ok_or_else(|| corrupt(format_args!("cell {slot}")))?;
            block.set(Slot(slot as u8), Some(cell));
        }
    }
    Ok(block)
}

impl Together {
    /// Sells places of others: every cell must be exactly what it was, and no block closed.
    pub fn sell_from(&mut self, show: ShowId, blocks: &[BlockCells], sold: Cell) -> &mut Self {
        for group in blocks {
            let key = keys::block(show, group.block);
            self.push(Write::Update(key, sell_from(&group.cells, sold)));
        }
        self
    }
}

impl Store {
    async fn write_cells(
        &self,
        show: ShowId,
        wanted: &[BlockSlots],
        update: impl Fn(&[Slot]) -> Update,
    ) -> Stored<CellsWrite> {
        let refused = match wanted {
            [] => return Ok(CellsWrite::Done),
            [one] => {
                let key = keys::block(show, one.block);
                match self.update(&key, &update(&one.slots)).await? {
                    Ok(()) => return Ok(CellsWrite::Done),
                    Err(found) => vec![Some(found)],
                }
            }
            several => {
                let part = |group: &BlockSlots| {
                    Write::Update(keys::block(show, group.block), update(&group.slots))
                };
                let parts: Vec<_> = several.iter().map(part).collect();
                match self.transact(&parts).await? {
                    Ok(()) => return Ok(CellsWrite::Done),
                    Err(refused) => refused,
                }
            }
        };
        let refusing = wanted
            .iter()
            .zip(refused)
            .filter_map(|(group, found)| Some((group.block, found?)));
        let found = refusing
            // A block that was never written refuses without an item.
            .map(|(block, item)| Ok((block, block_of(&item.unwrap_or_default())?)))
            .collect::<Stored<_>>()?;
        Ok(CellsWrite::Refused(found))
    }

    /// Writes `cell` to every wanted place, if each is free or lapsed at `now` and no block is
    /// closed: all or nothing.
    pub async fn claim(
        &self,
        show: ShowId,
        wanted: &[BlockSlots],
        cell: Cell,
        now: Millis,
    ) -> Stored<CellsWrite> {
        self.write_cells(show, wanted, |slots| claim(slots, cell, now))
            .await
    }

    /// Moves every wanted cell from exactly `old` to `new`, if no block is closed: all or
    /// nothing.
    pub async fn shift(
        &self,
        show: ShowId,
        wanted: &[BlockSlots],
        old: Cell,
        new: Cell,
    ) -> Stored<CellsWrite> {
        self.write_cells(show, wanted, |slots| shift(slots, old, new))
            .await
    }

    /// Frees every wanted place of one block, if each is exactly `old`.
    pub async fn release(
        &self,
        show: ShowId,
        wanted: &BlockSlots,
        old: Cell,
    ) -> Stored<CellsWrite> {
        let wanted = std::slice::from_ref(wanted);
        self.write_cells(show, wanted, |slots| release(slots, old))
            .await
    }

    /// Leaves `new` in every wanted place of one block, if each is exactly `old`. A closed block
    /// is no obstacle: nothing in it can be claimed.
    pub async fn leave(
        &self,
        show: ShowId,
        wanted: &BlockSlots,
        old: Cell,
        new: Cell,
    ) -> Stored<CellsWrite> {
        let wanted = std::slice::from_ref(wanted);
        self.write_cells(show, wanted, |slots| leave(slots, old, new))
            .await
    }

    /// The blocks among these that were ever written.
    pub async fn read_blocks(
        &self,
        show: ShowId,
        blocks: &[BlockIndex],
        reads: Reads,
    ) -> Stored<Vec<(BlockIndex, BlockState)>> {
        let keys: Vec<_> = blocks.iter().map(|b| keys::block(show, *b)).collect();
        let rows = self.get_many(&keys, reads).await?;
        rows.iter()
            .map(|row| {
                let index = keys::block_index(&row.key);
                let index = index.ok_or_else(|| corrupt("the key of a block"))?;
                Ok((index, block_of(&row.item)?))
            })
            .collect()
    }

    /// Closes blocks: from then on nothing in them can be claimed, extended or sold.
    pub async fn close_blocks(&self, show: ShowId, blocks: &[BlockIndex]) -> Stored<()> {
        let closing: Vec<_> = blocks
            .iter()
            .map(|block| async move {
                let closed = self.update(&keys::block(show, *block), &close()).await?;
                closed.map_err(|_| corrupt("an update without a condition was refused"))
            })
            .collect();
        stream::iter(closing)
            .buffer_unordered(CLOSED_AT_ONCE)
            .try_collect()
            .await
    }
}
