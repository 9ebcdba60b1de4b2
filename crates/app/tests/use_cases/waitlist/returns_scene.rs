//! Ana, who puts a ticket back, Bo, who waits for it, and what must be true of them.

use std::collections::BTreeMap;

use onsale_app::Caller;
use onsale_app::ports::{Credentials, PasswordHash};
use onsale_app::waitlist::WaitlistStatus;
use onsale_domain::account::{Account, Email, Role};
use onsale_domain::buyer::EntryState;
use onsale_domain::ids::{HoldId, OrderId, TicketId, WaitlistId};
use onsale_domain::layout::PlaceIndex;
use onsale_domain::order::Order;
use onsale_domain::payment::PaymentState;
use onsale_domain::ticket::{Ticket, TicketState};
use onsale_domain::time::Millis;

use crate::waitlist::scene::{Scene, wait_for};

/// A row of two seats that Ana bought, and Bo who waits for one of them.
#[derive(Clone)]
pub(crate) struct Return {
    pub(crate) scene: Scene,
    pub(crate) ana: Caller,
    pub(crate) order: OrderId,
    pub(crate) bo: Caller,
    pub(crate) entry: WaitlistId,
}

impl Return {
    pub(crate) async fn begin() -> Self {
        let scene = Scene::row(2).await;
        let (ana, order) = scene.sold(&["A-1-1", "A-1-2"]).await;
        let bo = scene.buyer().await;
        let entry = scene.join(&bo, &wait_for(1)).await.id;
        scene.wait(2_000).await;
        Self {
            scene,
            ana,
            order,
            bo,
            entry,
        }
    }

    /// Ana's first ticket is on offer to Bo.
    pub(crate) async fn offered() -> Self {
        let life = Self::begin().await;
        life.put_back().await;
        life.scene.deliver().await;
        life
    }

    pub(crate) async fn order_of(&self, id: OrderId) -> Order {
        self.scene
            .app
            .store
            .read::<Order>(id)
            .await
            .unwrap()
            .unwrap()
            .value
    }

    pub(crate) fn ticket_id(&self) -> TicketId {
        TicketId::of(self.order, PlaceIndex(0))
    }

    pub(crate) async fn ticket(&self) -> Ticket {
        let id = self.ticket_id();
        self.scene
            .app
            .store
            .read::<Ticket>(id)
            .await
            .unwrap()
            .unwrap()
            .value
    }

    pub(crate) async fn put_back(&self) {
        let id = self.ticket_id();
        let put_back = self.scene.app.return_ticket(&self.ana, id, None);
        assert!(put_back.await.unwrap().is_valid());
    }

    pub(crate) fn hold(&self) -> HoldId {
        HoldId::for_offer(self.entry, 1)
    }

    /// Whoever passes a ticket on needs an address of their own.
    pub(crate) async fn register(&self, caller: &Caller, name: &str) {
        let account = Account {
            id: caller.account,
            email: Email::parse(&format!("{name}@example.org")).unwrap(),
            name: name.to_owned(),
            role: Role::Buyer,
            created: self.scene.app.now(),
            language: None,
            proven: None,
        };
        let new = Credentials {
            account,
            password: PasswordHash("x".to_owned()),
            epoch: 0,
            request: None,
        };
        self.scene.app.store.register(&new, None).await.unwrap();
    }

    pub(crate) async fn status(&self) -> WaitlistStatus {
        self.scene.status(&self.bo, self.entry).await
    }

    pub(crate) async fn check(&self, note: &str) {
        check(&self.scene, &[&self.ana, &self.bo], note).await;
    }
}

/// Places, tickets, money, caps and books tell the same story. Everything that went back
/// here went back in full.
pub(crate) async fn check(scene: &Scene, people: &[&Caller], note: &str) {
    let store = &scene.app.store;
    let (mut worth, mut good) = (0, 0);
    let mut owners = BTreeMap::new();
    for person in people {
        let mut own = 0;
        let orders = store.orders_of(person.account, None, 100).await.unwrap();
        for order in orders.items {
            assert!(!order.is_open(), "{note}: {:?} is open", order.stage);
            for seat in &order.seats {
                let id = TicketId::of(order.id, seat.place);
                let Some(ticket) = store.read::<Ticket>(id).await.unwrap() else {
                    continue;
                };
                if matches!(ticket.value.state, TicketState::Revoked { .. }) {
                    continue;
                }
                worth += seat.price.0;
                good += 1;
                own += 1;
                let before = owners.insert(seat.place, order.id);
                assert_eq!(before, None, "{note}: two good tickets for {}", seat.seat);
                let cell = scene.cell(seat.place).await.unwrap();
                assert!(cell.is_sold(), "{note}: {} is not sold", seat.seat);
                assert_eq!(cell.hold, order.id.hold(), "{note}: {}", seat.seat);
            }
        }
        let buyer = store.buyer(scene.show(), person.account).await.unwrap();
        let held = buyer.entries.iter();
        let held = held.filter(|e| e.state_at(scene.app.now()) == EntryState::Held);
        let held: usize = held.map(|e| e.places.len()).sum();
        let lapsing = buyer.live_places(scene.app.now());
        assert!(
            (own + held..=own + held + 1).contains(&lapsing),
            "{note}: {own} + {held} but {lapsing}"
        );
    }
    let payments = scene
        .app
        .payments
        .list(Millis(0), None)
        .await
        .unwrap()
        .items;
    let (mut taken, mut back) = (0, 0);
    for payment in payments {
        if let PaymentState::Captured { refunded } = payment.state {
            taken += payment.total.amount.0;
            back += refunded.0;
        }
    }
    assert_eq!(taken - back, worth, "{note}: money and tickets");
    scene.world.clock.advance(1_001);
    let organiser = scene.stage.organiser().await.unwrap();
    let sales = scene.app.sales(&organiser, scene.show()).await.unwrap();
    let books = sales.sales.total();
    assert_eq!(
        (books.gross.0, books.refunds.0),
        (taken, back),
        "{note}: books"
    );
    assert_eq!(books.tickets - books.returned, good, "{note}: books");
    let report = scene.app.reconcile_all().await.unwrap();
    assert_eq!(report.alarms, [] as [String; 0], "{note}");
    assert_eq!(report.repairs, [] as [String; 0], "{note}");
}
