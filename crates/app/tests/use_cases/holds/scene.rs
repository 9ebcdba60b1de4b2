//! A show in memory with its handles.

use std::collections::BTreeMap;
use std::sync::Arc;

use onsale_app::holds::{HoldView, Wish};
use onsale_app::ports::{ExpireHold, Reads, Store};
use onsale_app::{App, Caller, Ports, Result};
use onsale_domain::best_available::Together;
use onsale_domain::block::{BlockIndex, Cell, Slot};
use onsale_domain::buyer::Buyer;
use onsale_domain::claim::by_block;
use onsale_domain::ids::HoldId;
use onsale_domain::layout::PlaceIndex;
use onsale_domain::request_hash::IdempotencyKey;
use onsale_domain::room::pass::PassClaims;
use onsale_domain::time::Millis;
use onsale_test_support::stage::{Plan, Stage};
use onsale_test_support::{Faults, ManualClock, MemoryQueue, MemoryWorld, Peek};

#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) app: App,
    pub(crate) store: Store,
    pub(crate) table: Peek,
    pub(crate) queue: Arc<MemoryQueue<ExpireHold>>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) faults: Arc<Faults>,
    pub(crate) stage: Stage,
}

pub(crate) fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).unwrap()
}

pub(crate) fn seats(ids: &[&str]) -> Wish {
    Wish::Seats(ids.iter().map(|s| (*s).to_owned()).collect())
}

pub(crate) fn best(quantity: usize) -> Wish {
    let together = Together::Preferred;
    Wish::Best {
        quantity,
        section: Some("A".into()),
        max_price: None,
        together,
        allow_fewer: false,
        accessible: false,
    }
}

/// As many of these as there are, or as the cap leaves.
pub(crate) fn best_or_fewer(quantity: usize) -> Wish {
    Wish::Best {
        quantity,
        section: Some("A".into()),
        max_price: None,
        together: Together::Preferred,
        allow_fewer: true,
        accessible: false,
    }
}

impl Scene {
    pub(crate) async fn new(plan: Plan) -> Self {
        let world = MemoryWorld::new(Millis(1_800_000_000_000));
        let stage = Stage::set(&world.app, &plan).await.unwrap();
        Self {
            app: world.app,
            store: world.store,
            table: world.table,
            queue: world.queue,
            clock: world.clock,
            faults: world.faults,
            stage,
        }
    }

    /// A second process over the same store: what it knows of maps is its own.
    pub(crate) fn another_process(&self) -> Self {
        Self {
            app: App::new(Ports::clone(&self.app)),
            ..self.clone()
        }
    }

    pub(crate) async fn buyer(&self, n: u8) -> Caller {
        self.stage.buyer(n).await.unwrap()
    }

    pub(crate) async fn hold(&self, caller: &Caller, k: &str, wish: &Wish) -> Result<HoldView> {
        self.app
            .place_hold(caller, self.stage.show.id, &key(k), wish, None)
            .await
    }

    pub(crate) async fn hold_with(
        &self,
        caller: &Caller,
        k: &str,
        wish: &Wish,
        pass: &PassClaims,
    ) -> Result<HoldView> {
        let show = self.stage.show.id;
        self.app
            .place_hold(caller, show, &key(k), wish, Some(pass))
            .await
    }

    /// Every cell of the show by seat id.
    pub(crate) async fn cells(&self) -> BTreeMap<String, Cell> {
        let layout = &self.stage.layout;
        let all: Vec<_> = (0..layout.blocks().len() as u32).map(BlockIndex).collect();
        let blocks = self
            .app
            .store
            .read_blocks(self.stage.show.id, &all, Reads::Consistent)
            .await
            .unwrap();
        let mut cells = BTreeMap::new();
        for (index, block) in blocks {
            for slot in (0..32).map(Slot) {
                if let Some(cell) = block.cell(slot) {
                    cells.insert(layout.seat_id(layout.place_of(index, slot)), cell);
                }
            }
        }
        cells
    }

    pub(crate) async fn buyer_item(&self, caller: &Caller) -> Buyer {
        self.app
            .store
            .buyer(self.stage.show.id, caller.account)
            .await
            .unwrap()
    }

    /// The seats that are this hold's exactly as it was answered.
    pub(crate) async fn owns(&self, hold: &HoldView) -> bool {
        let cells = self.cells().await;
        let cell = Cell {
            expiry: hold.expires_at,
            hold: hold.hold_id,
        };
        hold.seats
            .iter()
            .all(|(seat, _)| cells.get(seat) == Some(&cell))
    }

    pub(crate) async fn put_buyer(&self, caller: &Caller, next: &Buyer) {
        let stored = self
            .app
            .store
            .replace_buyer(self.stage.show.id, caller.account, next)
            .await;
        assert_eq!(stored.unwrap(), onsale_app::ports::Replaced::Done);
    }

    /// Checkout begins, entry only: the cells follow in the next step.
    pub(crate) async fn lock_entry(&self, caller: &Caller, hold: HoldId) -> bool {
        let buyer = self.buyer_item(caller).await;
        match buyer.lock(hold, 1, self.app.now()) {
            Ok(next) => {
                self.put_buyer(caller, &next).await;
                true
            }
            Err(_) => false,
        }
    }

    /// Checkout begins: the entry, then the cells.
    pub(crate) async fn lock(&self, caller: &Caller, hold: HoldId) -> bool {
        let Some(entry) = self.buyer_item(caller).await.entry(hold).cloned() else {
            return false;
        };
        if !self.lock_entry(caller, hold).await {
            return false;
        }
        let held = Cell {
            expiry: entry.expiry,
            hold,
        };
        let paying = Cell {
            expiry: entry.expiry + 300_000,
            hold,
        };
        self.shift(&entry.places, held, paying).await;
        true
    }

    async fn shift(&self, places: &[PlaceIndex], old: Cell, new: Cell) {
        let wanted = by_block(&self.stage.layout, places);
        let shifted = self
            .app
            .store
            .shift(self.stage.show.id, &wanted, old, new)
            .await
            .unwrap();
        assert_eq!(
            shifted,
            onsale_app::ports::CellsWrite::Done,
            "a live hold can be paid"
        );
    }

    /// The whole way from held to sold. `false` when the hold cannot be paid any more.
    pub(crate) async fn sell(&self, caller: &Caller, hold: HoldId) -> bool {
        if !self.lock(caller, hold).await {
            return false;
        }
        let buyer = self.buyer_item(caller).await;
        let entry = buyer.entry(hold).unwrap();
        let paying = Cell {
            expiry: entry.expiry,
            hold,
        };
        self.shift(&entry.places, paying, Cell::sold(hold)).await;
        self.put_buyer(caller, &buyer.sell(hold, 1, self.app.now()).unwrap())
            .await;
        true
    }

    /// Takes a sale back: the entry first, then the cells.
    pub(crate) async fn refund(&self, caller: &Caller, hold: HoldId) {
        let buyer = self.buyer_item(caller).await;
        let places = buyer.entry(hold).unwrap().places.clone();
        self.put_buyer(caller, &buyer.undo(hold, self.app.now()).unwrap())
            .await;
        for group in by_block(&self.stage.layout, &places) {
            self.app
                .store
                .release(self.stage.show.id, &group, Cell::sold(hold))
                .await
                .unwrap();
        }
    }
}
