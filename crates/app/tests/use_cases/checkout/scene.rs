//! A show in memory with a buyer who pays, and the rules that must hold at the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt;
use onsale_app::holds::{HoldView, Wish};
use onsale_app::ports::{Drive, Reads, Versioned};
use onsale_app::sales::SalesView;
use onsale_app::{App, Caller, Result};
use onsale_domain::block::{BlockIndex, Cell, MAX_BLOCK_PLACES, Slot};
use onsale_domain::buyer::{Entry, EntryState};
use onsale_domain::ids::{HoldId, OrderId};
use onsale_domain::order::{Order, OrderStatus, Stage};
use onsale_domain::payment::{Payment, PaymentMethod, PaymentState};
use onsale_domain::request_hash::IdempotencyKey;
use onsale_domain::ticket::Ticket;
use onsale_domain::time::Millis;
use onsale_test_support::MemoryWorld;
use onsale_test_support::stage::{Plan, Stage as Show};

pub(crate) const NOW: Millis = Millis(1_800_000_000_000);
pub(crate) const HOUR: u64 = 3_600_000;

#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) world: MemoryWorld,
    pub(crate) app: App,
    pub(crate) show: Show,
    pub(crate) ana: Caller,
}

pub(crate) fn key(text: &str) -> IdempotencyKey {
    IdempotencyKey::parse(text).unwrap()
}

pub(crate) fn method(text: &str) -> PaymentMethod {
    PaymentMethod::parse(text).unwrap()
}

pub(crate) fn seats(ids: &[&str]) -> Wish {
    Wish::Seats(ids.iter().map(|s| (*s).to_owned()).collect())
}

impl Scene {
    /// The sales as the organiser sees them now.
    pub(crate) async fn sales(&self) -> Arc<SalesView> {
        // What is a second old is looked at again.
        self.world.clock.advance(1_001);
        let organiser = self.show.organiser().await.unwrap();
        let sales = self.app.sales(&organiser, self.show.show.id).await;
        sales.unwrap()
    }

    pub(crate) async fn new() -> Self {
        Self::with(Plan::default()).await
    }

    pub(crate) async fn with(plan: Plan) -> Self {
        let world = MemoryWorld::new(NOW);
        let show = Show::set(&world.app, &plan).await.unwrap();
        let ana = show.buyer(1).await.unwrap();
        Self {
            app: world.app.clone(),
            world,
            show,
            ana,
        }
    }

    pub(crate) async fn hold(&self, caller: &Caller, k: &str, ids: &[&str]) -> HoldView {
        let (show, pass) = (self.show.show.id, self.show.pass(1));
        self.app
            .place_hold(caller, show, &key(k), &seats(ids), Some(&pass))
            .await
            .unwrap()
    }

    pub(crate) async fn check_out(&self, hold: HoldId, k: &str, with: &str) -> Result<OrderId> {
        self.check_out_as(&self.ana, hold, k, with).await
    }

    pub(crate) async fn check_out_as(
        &self,
        caller: &Caller,
        hold: HoldId,
        k: &str,
        with: &str,
    ) -> Result<OrderId> {
        let show = self.show.show.id;
        self.app
            .check_out(caller, show, hold, &key(k), method(with))
            .await
    }

    /// An order of two blocks that nobody drives yet.
    pub(crate) async fn started(&self, with: &str) -> OrderId {
        let hold = self.hold(&self.ana, "h", &["A-1-1", "A-2-1"]).await;
        self.check_out(hold.hold_id, "pay", with).await.unwrap()
    }

    /// An order that went through.
    pub(crate) async fn paid(&self, k: &str, ids: &[&str]) -> OrderId {
        let hold = self.hold(&self.ana, k, ids).await.hold_id;
        let id = self.check_out(hold, k, "pm_card_visa").await.unwrap();
        self.settle().await;
        id
    }

    /// An order whose saga came as far as this call of a port, which failed once.
    pub(crate) async fn stopped_at(&self, call: &'static str) -> OrderId {
        let id = self.started("pm_card_visa").await;
        self.world.faults.fail_always(call, true);
        self.drive(id).await;
        self.world.faults.fail_always(call, false);
        id
    }

    /// One message about the order is delivered, once.
    pub(crate) async fn drive(&self, order_id: OrderId) {
        let message = Drive::Order { order_id, tries: 0 };
        self.app.drive(&message).await.unwrap();
    }

    /// Lets time pass until so many hours before the show.
    pub(crate) fn wait_until_hours_before(&self, hours: u64) {
        let wait = self.app.now().until(self.show.show.starts_at) - hours * HOUR;
        self.world.clock.advance(wait);
    }

    /// Lets `action` happen before such a step, after so many others of its kind. The
    /// flag tells whether it ever came to that: otherwise nothing was tried.
    pub(crate) fn before_nth(
        &self,
        step: &str,
        nth: usize,
        action: impl Future<Output = ()> + Send + 'static,
    ) -> Arc<AtomicBool> {
        for _ in 0..nth {
            self.world.faults.before_next(step, async {});
        }
        let reached = Arc::new(AtomicBool::new(false));
        let reach = reached.clone();
        self.world.faults.before_next(step, async move {
            reach.store(true, Ordering::SeqCst);
            action.await;
        });
        reached
    }

    /// Delivers what is due until nothing is left; messages that fail come again, as a
    /// queue does it. Time passes while messages wait.
    pub(crate) async fn settle(&self) {
        for _ in 0..400 {
            for message in self.world.saga_queue.take_due() {
                self.deliver(&message).await;
            }
            let Some(next) = self
                .world
                .saga_queue
                .waiting()
                .iter()
                .map(|(at, _)| *at)
                .min()
            else {
                return;
            };
            let wait = self.app.now().until(next);
            self.world.clock.advance(wait);
        }
        unreachable!("the queue does not come to rest");
    }

    /// Delivers one message until it is consumed.
    pub(crate) async fn deliver(&self, message: &Drive) {
        for _ in 0..5 {
            if self.app.drive(message).await.is_ok() {
                return;
            }
        }
        unreachable!("a message goes to the dead letters: {message:?}");
    }

    /// Runs a piece of work that may die on its way. `None`: it died.
    pub(crate) fn until_death<T>(work: impl Future<Output = T>) -> Option<T> {
        work.now_or_never()
    }

    /// Lets time pass and reconciles, until no order is open.
    pub(crate) async fn reconcile_until_quiet(&self) {
        for _ in 0..12 {
            self.settle().await;
            let open = self.world.store.open_orders(None, 100).await.unwrap();
            if open.items.is_empty() {
                return;
            }
            self.world.clock.advance(125_000);
            self.app.reconcile_open().await.unwrap();
        }
        self.settle().await;
    }

    pub(crate) async fn order(&self, id: OrderId) -> Order {
        self.stored(id).await.value
    }

    pub(crate) async fn stored(&self, id: OrderId) -> Versioned<Order> {
        self.world.store.read::<Order>(id).await.unwrap().unwrap()
    }

    pub(crate) async fn entry(&self, caller: &Caller, hold: HoldId) -> Entry {
        let buyer = self.world.store.buyer(self.show.show.id, caller.account);
        buyer.await.unwrap().entry(hold).unwrap().clone()
    }

    /// Every cell of the show.
    pub(crate) async fn cells(&self) -> Vec<(String, Cell)> {
        let layout = &self.show.layout;
        let all: Vec<_> = (0..layout.blocks().len() as u32).map(BlockIndex).collect();
        let blocks = self
            .world
            .store
            .read_blocks(self.show.show.id, &all, Reads::Consistent)
            .await;
        let mut cells = Vec::new();
        for (index, block) in blocks.unwrap() {
            for slot in (0..MAX_BLOCK_PLACES as u8).map(Slot) {
                if let Some(cell) = block.cell(slot) {
                    cells.push((layout.seat_id(layout.place_of(index, slot)), cell));
                }
            }
        }
        cells
    }

    pub(crate) async fn cells_of(&self, hold: HoldId) -> Vec<Cell> {
        let cells = self.cells().await.into_iter().map(|(_, cell)| cell);
        cells.filter(|cell| cell.hold == hold).collect()
    }

    /// Whether any place is sold.
    pub(crate) async fn sold(&self) -> bool {
        self.cells().await.iter().any(|(_, cell)| cell.is_sold())
    }

    pub(crate) async fn tickets(&self, order: &Order) -> Vec<Ticket> {
        let found = self
            .world
            .store
            .read_many::<Ticket>(&order.ticket_ids())
            .await;
        found.unwrap().into_iter().map(|t| t.value).collect()
    }

    pub(crate) async fn payments(&self) -> Vec<Payment> {
        self.app.payments.list(Millis(0), None).await.unwrap().items
    }

    /// Money, places, tickets and order tell the same story, and the story is over.
    pub(crate) async fn assert_consistent(&self, id: OrderId, note: &str) {
        let order = self.order(id).await;
        let entry = self.entry(&self.ana, id.hold()).await;
        let cells = self.cells_of(id.hold()).await;
        let tickets = self.tickets(&order).await;
        let payments = self.payments().await;
        assert!(payments.len() <= 1, "{note}: one payment, not {payments:?}");
        let money = payments.first().map(|p| p.state.clone());
        assert!(!order.is_open(), "{note}: {:?} is open", order.stage);
        match order.status() {
            OrderStatus::Confirmed => {
                assert_eq!(cells.len(), order.seats.len(), "{note}");
                assert!(cells.iter().all(Cell::is_sold), "{note}: {cells:?}");
                assert_eq!(entry.state, EntryState::Sold, "{note}");
                assert!(tickets.iter().all(Ticket::is_valid), "{note}");
                assert_eq!(tickets.len(), order.seats.len(), "{note}");
                let refunded = onsale_domain::money::Cents(0);
                assert_eq!(money, Some(PaymentState::Captured { refunded }), "{note}");
            }
            OrderStatus::Declined => {
                assert!(
                    entry.state != EntryState::Paying,
                    "{note}: {:?}",
                    entry.state
                );
                assert!(!cells.iter().any(Cell::is_sold), "{note}");
                assert_eq!(money, Some(PaymentState::Open), "{note}");
                assert!(tickets.is_empty(), "{note}");
            }
            OrderStatus::Failed | OrderStatus::Cancelled | OrderStatus::Refunded => {
                assert_eq!(order.stage, Stage::Ended, "{note}");
                assert_eq!(cells, [], "{note}: the places are free");
                assert!(entry.state.is_ended(), "{note}: {:?}", entry.state);
                assert!(!tickets.iter().any(Ticket::is_valid), "{note}");
                match money {
                    None | Some(PaymentState::Voided) => {
                        assert!(!order.captured, "{note}");
                    }
                    Some(PaymentState::Captured { refunded }) => {
                        assert!(order.captured, "{note}: taken, and the order does not know");
                        assert_eq!(refunded, order.refund_due(), "{note}");
                    }
                    // Opened by a worker that lost its order before it could charge it.
                    Some(PaymentState::Open) if order.payment.is_none() => {}
                    Some(other) => unreachable!("{note}: money is left at {other:?}"),
                }
            }
            other => unreachable!("{note}: an order ends as {other:?}"),
        }
        let books = self.sales().await.sales.total();
        let (gross, refunds) = match payments.first() {
            Some(payment) => match payment.state {
                PaymentState::Captured { refunded } => (payment.total.amount, refunded),
                _ => Default::default(),
            },
            None => Default::default(),
        };
        assert_eq!((books.gross, books.refunds), (gross, refunds), "{note}");
    }
}
