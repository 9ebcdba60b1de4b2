//! Tickets at the gate: a ticket admits once, and only at its own show.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures_util::future::join_all;
use onsale_app::tickets::{Invalid, ScanAnswer};
use onsale_app::{Caller, Error, Result};
use onsale_domain::account::Role;
use onsale_domain::ids::{OrderId, ShowId};
use onsale_domain::money::Cents;
use onsale_domain::order::OrderStatus;
use onsale_domain::payment::PaymentState;
use onsale_domain::ticket::TicketState;
use onsale_domain::ticket_code::{TicketKey, TicketKeys};
use onsale_test_support::stage::{Plan, Stage};
use tokio::sync::Barrier;

use crate::checkout::scene::{Scene, key};

/// Ana's ticket, and who may scan it.
#[derive(Clone)]
struct Gate {
    scene: Scene,
    organiser: Caller,
    order: OrderId,
    code: String,
}

impl Gate {
    async fn new() -> Self {
        let scene = Scene::new().await;
        let order = scene.paid("pay", &["A-1-1"]).await;
        let tickets = scene.app.tickets_of(&scene.ana, order).await.unwrap();
        Self {
            organiser: scene.show.organiser().await.unwrap(),
            code: tickets[0].code.clone(),
            order,
            scene,
        }
    }

    async fn scan(&self, k: Option<&str>) -> ScanAnswer {
        let (show, k) = (self.scene.show.show.id, k.map(key));
        let app = &self.scene.app;
        app.scan(
            &self.organiser,
            show,
            &keys(),
            &self.code,
            "north",
            k.as_ref(),
        )
        .await
        .unwrap()
    }

    async fn scan_code(&self, k: &str, code: &str, gate: &str) -> Result<ScanAnswer> {
        let (show, k) = (self.scene.show.show.id, key(k));
        let app = &self.scene.app;
        let keys = keys();
        app.scan(&self.organiser, show, &keys, code, gate, Some(&k))
            .await
    }

    async fn scan_as(&self, caller: &Caller, show: ShowId) -> Result<ScanAnswer> {
        let app = &self.scene.app;
        app.scan(caller, show, &keys(), &self.code, "north", None)
            .await
    }
}

fn keys() -> TicketKeys {
    TicketKeys::new(vec![TicketKey::from_bytes(&[7; 32]).public()]).unwrap()
}

fn admits(answer: &ScanAnswer) -> bool {
    matches!(answer, ScanAnswer::Admitted(_))
}

fn is_used(answer: &ScanAnswer) -> bool {
    matches!(answer, ScanAnswer::AlreadyUsed { .. })
}

#[tokio::test]
async fn of_two_scans_at_once_the_one_that_is_stored_admits() {
    let gate = Gate::new().await;
    let other = gate.clone();
    gate.scene
        .world
        .faults
        .before_next("write TKT", async move {
            assert!(admits(&other.scan(None).await));
        });
    let late = gate.scan(None).await;
    assert!(is_used(&late), "{late:?}");
}

#[tokio::test]
async fn of_fifty_scans_at_once_one_admits() {
    const SCANS: usize = 50;
    let gate = Gate::new().await;
    // Every one of them has read the ticket as valid before any of them writes.
    let all_have_read = Arc::new(Barrier::new(SCANS));
    for _ in 0..SCANS {
        let barrier = all_have_read.clone();
        let faults = &gate.scene.world.faults;
        faults.before_next("write TKT", async move {
            barrier.wait().await;
        });
    }
    let answers = join_all((0..SCANS).map(|_| gate.scan(None))).await;
    assert_eq!(answers.iter().filter(|answer| admits(answer)).count(), 1);
    assert_eq!(
        answers.iter().filter(|answer| is_used(answer)).count(),
        SCANS - 1
    );
}

/// The tickets were looked at, and the cancellation is not written yet.
#[tokio::test]
async fn an_order_is_not_cancelled_when_somebody_enters_in_the_same_moment() {
    let gate = Gate::new().await;
    let (scene, other) = (&gate.scene, gate.clone());
    let entered = scene.before_nth("write ORD", 0, async move {
        assert!(admits(&other.scan(None).await));
    });
    let refused = scene.app.cancel_order(&scene.ana, gate.order).await;
    assert!(entered.load(Ordering::SeqCst));
    assert!(matches!(refused, Err(Error::Conflict(_))), "{refused:?}");
    scene.settle().await;
    let order = scene.order(gate.order).await;
    assert_eq!(order.status(), OrderStatus::Confirmed);
    let kept = PaymentState::Captured { refunded: Cents(0) };
    assert_eq!(scene.payments().await[0].state, kept);
}

#[tokio::test]
async fn nobody_enters_once_the_order_is_cancelled_and_not_refunded_yet() {
    let gate = Gate::new().await;
    let scene = &gate.scene;
    let cancelled = scene.app.cancel_order(&scene.ana, gate.order).await;
    assert_eq!(cancelled.unwrap().percent, 100);
    let late = gate.scan(None).await;
    assert!(matches!(late, ScanAnswer::Revoked(_)), "{late:?}");
    scene.settle().await;
    scene.assert_consistent(gate.order, "cancelled").await;
}

/// A gate that never saw the answer asks again with its key.
#[tokio::test]
async fn a_scan_that_is_repeated_with_its_key_admits_again_and_another_does_not() {
    let gate = Gate::new().await;
    let first = gate.scan(Some("one")).await;
    assert!(admits(&first));
    gate.scene.world.clock.advance(5_000);
    assert_eq!(gate.scan(Some("one")).await, first);
    assert!(is_used(&gate.scan(Some("two")).await));
    assert!(is_used(&gate.scan(None).await));
}

#[tokio::test]
async fn a_key_names_one_scan_for_a_day() {
    let gate = Gate::new().await;
    let order = gate.scene.paid("two", &["A-1-2"]).await;
    let tickets = gate.scene.app.tickets_of(&gate.scene.ana, order).await;
    let other = tickets.unwrap()[0].code.clone();
    assert!(admits(&gate.scan(Some("one")).await));
    for (code, at) in [(&other, "north"), (&gate.code, "south")] {
        let refused = gate.scan_code("one", code, at).await;
        assert_eq!(refused, Err(Error::IdempotencyMismatch));
    }
    let refused = gate.scan_code("one", "no code at all", "north").await;
    assert_eq!(refused, Err(Error::IdempotencyMismatch));
    assert!(admits(&gate.scan(Some("one")).await));
    gate.scene.world.clock.advance(24 * 3_600_000);
    let later = gate.scan_code("one", &other, "north").await.unwrap();
    assert!(admits(&later), "{later:?}");
}

/// Both were sent before either was stored.
#[tokio::test]
async fn of_two_scans_under_one_key_the_one_that_is_stored_counts() {
    let gate = Gate::new().await;
    let order = gate.scene.paid("two", &["A-1-2"]).await;
    let tickets = gate.scene.app.tickets_of(&gate.scene.ana, order).await;
    let second = tickets.unwrap()[0].code.clone();
    let other = gate.clone();
    let faults = &gate.scene.world.faults;
    faults.before_next("write TKT", async move {
        assert!(admits(&other.scan(Some("one")).await));
    });
    let late = gate.scan_code("one", &second, "north").await;
    assert_eq!(late, Err(Error::IdempotencyMismatch));
    let free = gate.scan_code("two", &second, "north").await.unwrap();
    assert!(admits(&free), "nothing was used up");
}

#[tokio::test]
async fn a_scan_whose_reply_is_lost_admits_when_it_is_repeated() {
    let gate = Gate::new().await;
    let other = gate.clone();
    gate.scene
        .world
        .faults
        .before_next("write TKT", async move {
            assert!(admits(&other.scan(Some("one")).await));
        });
    let repeated = gate.scan(Some("one")).await;
    assert!(admits(&repeated), "{repeated:?}");
}

#[tokio::test]
async fn another_organiser_and_the_buyer_scan_nothing() {
    let gate = Gate::new().await;
    let stranger = Caller {
        role: Role::Organiser,
        ..gate.scene.show.buyer(2).await.unwrap()
    };
    for caller in [stranger, gate.scene.ana] {
        let refused = gate.scan_as(&caller, gate.scene.show.show.id).await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    }
    assert!(admits(&gate.scan(None).await), "nothing was used up");
}

#[tokio::test]
async fn the_code_of_another_show_admits_nobody() {
    let gate = Gate::new().await;
    let app = &gate.scene.app;
    let elsewhere = Stage::set(app, &Plan::default()).await.unwrap();
    let organiser = elsewhere.organiser().await.unwrap();
    assert_eq!(
        gate.scan_as(&organiser, elsewhere.show.id).await,
        Ok(ScanAnswer::Invalid(Invalid::WrongShow))
    );
    assert!(admits(&gate.scan(None).await), "nothing was used up");
}

#[tokio::test]
async fn a_ticket_is_its_buyers_alone() {
    let gate = Gate::new().await;
    let Gate { scene, order, .. } = &gate;
    let id = scene.order(*order).await.ticket_ids()[0];
    assert_eq!(scene.app.ticket(&scene.ana, id).await.unwrap().id, id);
    let ben = scene.show.buyer(2).await.unwrap();
    for caller in [ben, gate.organiser] {
        let refused = scene.app.ticket(&caller, id).await;
        assert_eq!(refused, Err(Error::NotFound("ticket")));
    }
}

#[tokio::test]
async fn a_charge_back_revokes_a_ticket_that_was_used() {
    let gate = Gate::new().await;
    let Gate { scene, order, .. } = &gate;
    assert!(admits(&gate.scan(None).await));
    let payment = scene.order(*order).await.payment.unwrap();
    scene.app.charge_back(*order, &payment).await.unwrap();
    scene.settle().await;
    let order = scene.order(*order).await;
    assert_eq!(order.status(), OrderStatus::Cancelled);
    let tickets = scene.tickets(&order).await;
    assert!(matches!(tickets[0].state, TicketState::Revoked { .. }));
    let scanned = gate.scan(None).await;
    assert!(matches!(scanned, ScanAnswer::Revoked(_)), "{scanned:?}");
    scene.assert_consistent(order.id, "charged back").await;
}
