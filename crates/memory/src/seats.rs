//! Blocks, buyers and maps.

use async_trait::async_trait;
use onsale_app::ports::{
    Blocks, Buyers, Catalogue, CellsWrite, HoldRead, Maps, Replaced, Session, Sessions, Stored,
};
use onsale_domain::block::{BlockIndex, BlockState, Cell, Slot};
use onsale_domain::buyer::Buyer;
use onsale_domain::claim::BlockSlots;
use onsale_domain::ids::{AccountId, SessionId, ShowId};
use onsale_domain::map::SeatMap;
use onsale_domain::room::opaque::PassId;
use onsale_domain::time::Millis;

use crate::{MemoryStore, Step};

impl MemoryStore {
    /// Writes `cell` to every wanted slot if every block agrees, else returns the
    /// blocks that refused.
    fn write_cells(
        &self,
        show: ShowId,
        wanted: &[BlockSlots],
        cell: Option<Cell>,
        agrees: impl Fn(&BlockState, Slot) -> bool,
        closed_refuses: bool,
    ) -> CellsWrite {
        let mut items = self.items();
        let refused: Vec<_> = wanted
            .iter()
            .filter_map(|group| {
                let block = items
                    .blocks
                    .get(&(show, group.block))
                    .cloned()
                    .unwrap_or_default();
                let open = !(closed_refuses && block.closed);
                let ok = open && group.slots.iter().all(|slot| agrees(&block, *slot));
                (!ok).then_some((group.block, block))
            })
            .collect();
        if !refused.is_empty() {
            return CellsWrite::Refused(refused);
        }
        for group in wanted {
            let block = items.blocks.entry((show, group.block)).or_default();
            group.slots.iter().for_each(|slot| block.set(*slot, cell));
        }
        CellsWrite::Done
    }
}

#[async_trait]
impl Blocks for MemoryStore {
    async fn claim(
        &self,
        show: ShowId,
        wanted: &[BlockSlots],
        cell: Cell,
        now: Millis,
    ) -> Stored<CellsWrite> {
        self.reach(Step::Claim).await;
        let free = |block: &BlockState, slot| block.is_claimable(slot, now);
        self.pass("claim", async {
            Ok(self.write_cells(show, wanted, Some(cell), free, true))
        })
        .await
    }

    async fn shift(
        &self,
        show: ShowId,
        wanted: &[BlockSlots],
        old: Cell,
        new: Cell,
    ) -> Stored<CellsWrite> {
        self.reach(Step::Shift).await;
        let exact = |block: &BlockState, slot| block.cell(slot) == Some(old);
        self.pass("shift", async {
            Ok(self.write_cells(show, wanted, Some(new), exact, true))
        })
        .await
    }

    async fn release(&self, show: ShowId, wanted: &BlockSlots, old: Cell) -> Stored<CellsWrite> {
        self.reach(Step::Release).await;
        let exact = |block: &BlockState, slot| block.cell(slot) == Some(old);
        let wanted = std::slice::from_ref(wanted);
        self.pass("release", async {
            Ok(self.write_cells(show, wanted, None, exact, false))
        })
        .await
    }

    async fn leave(
        &self,
        show: ShowId,
        wanted: &BlockSlots,
        old: Cell,
        new: Cell,
    ) -> Stored<CellsWrite> {
        self.reach(Step::Release).await;
        let exact = |block: &BlockState, slot| block.cell(slot) == Some(old);
        let wanted = std::slice::from_ref(wanted);
        self.pass("leave", async {
            Ok(self.write_cells(show, wanted, Some(new), exact, false))
        })
        .await
    }

    async fn read(
        &self,
        show: ShowId,
        blocks: &[BlockIndex],
        _consistent: bool,
    ) -> Stored<Vec<(BlockIndex, BlockState)>> {
        self.pass("read_blocks", async {
            let items = self.items();
            let known = |index: &BlockIndex| {
                let block = items.blocks.get(&(show, *index))?;
                Some((*index, block.clone()))
            };
            Ok(blocks.iter().filter_map(known).collect())
        })
        .await
    }
}

#[async_trait]
impl Buyers for MemoryStore {
    async fn buyer(&self, show: ShowId, account: AccountId) -> Stored<Buyer> {
        self.pass("buyer", async {
            let known = self.items().buyers.get(&(show, account)).cloned();
            Ok(known.unwrap_or_default())
        })
        .await
    }

    async fn buyers(&self, account: AccountId, shows: &[ShowId]) -> Stored<Vec<(ShowId, Buyer)>> {
        let items = self.items();
        let known = |show: &ShowId| Some((*show, items.buyers.get(&(*show, account))?.clone()));
        Ok(shows.iter().filter_map(known).collect())
    }

    async fn session_and_buyer(
        &self,
        session: SessionId,
        show: ShowId,
        account: AccountId,
    ) -> Stored<(Option<Session>, Buyer)> {
        self.reach(Step::ReadBuyer).await;
        Ok((
            self.session(session, account).await?,
            self.buyer(show, account).await?,
        ))
    }

    async fn read_for_hold(
        &self,
        session: SessionId,
        show: ShowId,
        account: AccountId,
        pass: Option<PassId>,
        with_show: bool,
    ) -> Stored<HoldRead> {
        let (session, buyer) = self.session_and_buyer(session, show, account).await?;
        let stored = match with_show {
            true => self.show(show).await?,
            false => None,
        };
        Ok(HoldRead {
            session,
            buyer,
            pass: pass.and_then(|pass| self.pass_use(pass)),
            show: stored.map(|stored| stored.value),
        })
    }

    async fn replace(&self, show: ShowId, account: AccountId, next: &Buyer) -> Stored<Replaced> {
        self.reach(Step::Replace).await;
        self.pass("replace_buyer", async {
            let mut items = self.items();
            let stored = items.buyers.entry((show, account)).or_default();
            if stored.version + 1 != next.version {
                return Ok(Replaced::Lost(stored.clone()));
            }
            *stored = next.clone();
            Ok(Replaced::Done)
        })
        .await
    }
}

#[async_trait]
impl Maps for MemoryStore {
    async fn map(&self, show: ShowId) -> Stored<Option<SeatMap>> {
        self.pass("map", async { Ok(self.items().maps.get(&show).cloned()) })
            .await
    }

    async fn put_map(&self, show: ShowId, map: &SeatMap, _forget_at: Millis) -> Stored<()> {
        let mut items = self.items();
        if items
            .maps
            .get(&show)
            .is_none_or(|known| known.version <= map.version)
        {
            items.maps.insert(show, map.clone());
        }
        Ok(())
    }

    async fn lease_map(&self, show: ShowId, now: Millis, until: Millis) -> Stored<bool> {
        let mut items = self.items();
        let free = items.leases.get(&show).is_none_or(|held| *held <= now);
        if free {
            items.leases.insert(show, until);
        }
        Ok(free)
    }
}
