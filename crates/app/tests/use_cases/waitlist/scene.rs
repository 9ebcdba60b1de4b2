//! A sold-out show in memory, people who wait for it, and the messages of all queues.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt;
use onsale_app::holds::Wish;
use onsale_app::ports::{OfferPlaces, Reads};
use onsale_app::waitlist::{Joined, WaitFor, WaitlistStatus, WaitlistView};
use onsale_app::{App, Caller, Ports, Result};
use onsale_domain::announcement::{Announcement, News};
use onsale_domain::block::{BlockIndex, BlockState, Cell};
use onsale_domain::buyer::EntryState;
use onsale_domain::ids::{HoldId, OrderId, ShowId, WaitlistId};
use onsale_domain::layout::PlaceIndex;
use onsale_domain::payment::PaymentMethod;
use onsale_domain::request_hash::IdempotencyKey;
use onsale_domain::time::Millis;
use onsale_domain::waitlist::WaitlistEntry;
use onsale_test_support::MemoryWorld;
use onsale_test_support::stage::{Plan, Stage};

pub(crate) const NOW: Millis = Millis(1_800_000_000_000);

#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) world: MemoryWorld,
    pub(crate) app: App,
    pub(crate) stage: Stage,
    /// Announcements that the rule of the bus has passed on.
    passed_on: Arc<AtomicUsize>,
}

pub(crate) fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).unwrap()
}

pub(crate) fn wait_for(quantity: u32) -> WaitFor {
    WaitFor {
        quantity,
        sections: vec![],
        together: true,
    }
}

impl Scene {
    pub(crate) async fn with(plan: Plan) -> Self {
        let world = MemoryWorld::new(NOW);
        let stage = Stage::set(&world.app, &plan).await.unwrap();
        Self {
            app: world.app.clone(),
            world,
            stage,
            passed_on: Arc::default(),
        }
    }

    /// A second process over the same store: what it remembers of shows is its own.
    pub(crate) fn another_process(&self) -> Self {
        Self {
            app: App::new(Ports::clone(&self.app)),
            ..self.clone()
        }
    }

    /// One row of so many seats.
    pub(crate) async fn row(seats: u16) -> Self {
        Self::with(Plan {
            rows: vec![seats],
            floor: 0,
            ..Plan::default()
        })
        .await
    }

    pub(crate) fn show(&self) -> ShowId {
        self.stage.show.id
    }

    pub(crate) async fn buyer(&self) -> Caller {
        self.stage.buyer(1).await.unwrap()
    }

    pub(crate) async fn try_hold(&self, caller: &Caller, k: &str, ids: &[&str]) -> Result<HoldId> {
        let wish = Wish::Seats(ids.iter().map(|s| (*s).to_owned()).collect());
        let k = key(k);
        let held = self.app.place_hold(caller, self.show(), &k, &wish, None);
        held.await.map(|hold| hold.hold_id)
    }

    /// A buyer with seats that are paid.
    pub(crate) async fn sold(&self, ids: &[&str]) -> (Caller, OrderId) {
        let caller = self.buyer().await;
        let hold = self.try_hold(&caller, "h", ids).await.unwrap();
        let order = self.pay(&caller, hold).await;
        (caller, order)
    }

    pub(crate) async fn pay(&self, caller: &Caller, hold: HoldId) -> OrderId {
        let card = PaymentMethod::parse("pm_card_visa").unwrap();
        let order = self
            .app
            .check_out(caller, self.show(), hold, &key("pay"), card)
            .await
            .unwrap();
        self.deliver().await;
        order
    }

    pub(crate) async fn cancel(&self, caller: &Caller, order: OrderId) {
        self.app.cancel_order(caller, order).await.unwrap();
        self.drive().await;
    }

    pub(crate) async fn join(&self, caller: &Caller, wanted: &WaitFor) -> Joined {
        let joined = self.app.join_waitlist(caller, self.show(), None, wanted);
        joined.await.unwrap()
    }

    pub(crate) async fn view(&self, caller: &Caller, id: WaitlistId) -> Result<WaitlistView> {
        self.app.waitlist_entry(caller, self.show(), id).await
    }

    pub(crate) async fn status(&self, caller: &Caller, id: WaitlistId) -> WaitlistStatus {
        self.view(caller, id).await.unwrap().status
    }

    pub(crate) async fn entry(&self, caller: &Caller) -> WaitlistEntry {
        let stored = self
            .app
            .store
            .read::<WaitlistEntry>((self.show(), caller.account));
        stored.await.unwrap().unwrap().value
    }

    /// The hold that is on offer to somebody.
    pub(crate) async fn offer(&self, caller: &Caller, id: WaitlistId) -> HoldId {
        let view = self.view(caller, id).await.unwrap();
        view.offer.unwrap().hold_id
    }

    /// Drives every saga whose message is due.
    pub(crate) async fn drive(&self) {
        loop {
            let due = self.world.saga_queue.take_due();
            if due.is_empty() {
                return;
            }
            for message in due {
                self.app.drive(&message).await.unwrap();
            }
        }
    }

    /// What the rule of the bus sends to the waitlist.
    pub(crate) fn returned(&self) -> Vec<OfferPlaces> {
        let told = self.world.bus.told();
        let seen = self.passed_on.swap(told.len(), Ordering::SeqCst);
        let show_of = |told: &Announcement| match &told.news {
            News::SeatsReturned { show_id, .. } | News::ShowCancelled { show_id, .. } => {
                Some(*show_id)
            }
            _ => None,
        };
        let shows = told[seen..].iter().filter_map(show_of);
        let since = self.app.now();
        shows
            .map(|show_id| OfferPlaces { show_id, since })
            .collect()
    }

    /// Delivers everything that is due, in every queue, until nothing is.
    pub(crate) async fn deliver(&self) {
        for _ in 0..100 {
            self.drive().await;
            let lapsed = self.world.queue.take_due();
            let mut look = self.world.waitlist_queue.take_due();
            look.extend(self.returned());
            if lapsed.is_empty() && look.is_empty() {
                return;
            }
            for message in lapsed {
                self.app.expire_hold(&message).await.unwrap();
            }
            for message in look {
                self.app.offer_places(&message).await.unwrap();
            }
        }
        panic!("the queues never come to rest");
    }

    /// Time passes, and whatever is due by then is delivered.
    pub(crate) async fn wait(&self, ms: u64) {
        self.world.clock.advance(ms);
        self.deliver().await;
    }

    /// What follows a crash: minutes pass, and the sweep looks at what is open.
    pub(crate) async fn recover(&self) {
        for _ in 0..4 {
            self.world.clock.advance(61_000);
            self.app.reconcile_open().await.unwrap();
            self.deliver().await;
        }
    }

    /// Lets a worker run until it is done or dies at the gate. `false`: it died.
    pub(crate) fn until_death(worker: impl Future<Output = ()>) -> bool {
        worker.now_or_never().is_some()
    }

    pub(crate) async fn blocks(&self) -> Vec<(BlockIndex, BlockState)> {
        let all: Vec<_> = (0..self.stage.layout.blocks().len() as u32)
            .map(BlockIndex)
            .collect();
        let read = self
            .app
            .store
            .read_blocks(self.show(), &all, Reads::Consistent);
        read.await.unwrap()
    }

    pub(crate) async fn cell(&self, place: PlaceIndex) -> Option<Cell> {
        let (block, slot) = self.stage.layout.locate(place);
        let blocks = self.blocks().await;
        let found = blocks.iter().find(|(index, _)| *index == block);
        found.and_then(|(_, state)| state.cell(slot))
    }

    /// The kinds of announcements about an entry, each with its repetitions as one.
    pub(crate) fn told_of(&self, id: WaitlistId) -> Vec<String> {
        let mut seen = HashSet::new();
        let told = self.world.bus.told();
        let ids = told.into_iter().map(|told| told.id);
        ids.filter(|told| told.contains(&id.to_string()))
            .filter(|told| seen.insert(told.clone()))
            .collect()
    }

    /// The offers of somebody that are live: recorded, and exactly in their cells.
    pub(crate) async fn live_offers(&self, caller: &Caller) -> Vec<Vec<PlaceIndex>> {
        let entry = self.entry(caller).await;
        let buyer = self.app.store.buyer(self.show(), caller.account);
        let buyer = buyer.await.unwrap();
        let mut live = Vec::new();
        for attempt in 1..=entry.attempt {
            let hold = HoldId::for_offer(entry.id, attempt);
            let Some(held) = buyer.entry(hold) else {
                continue;
            };
            if held.state_at(self.app.now()) == EntryState::Held {
                for place in &held.places {
                    let expiry = held.expiry;
                    assert_eq!(self.cell(*place).await, Some(Cell { expiry, hold }));
                }
                live.push(held.places.clone());
            }
        }
        live
    }
}
