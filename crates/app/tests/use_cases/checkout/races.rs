//! Workers that are at the same order, or come back when it has moved on.

use std::sync::atomic::Ordering;

use onsale_app::ports::{Drive, Reads};
use onsale_domain::announcement::News;
use onsale_domain::block::Cell;
use onsale_domain::buyer::EntryState;
use onsale_domain::cancellation::Cancellation;
use onsale_domain::claim::by_block;
use onsale_domain::ids::OrderId;
use onsale_domain::order::{Order, OrderStatus, Stage, Why};
use onsale_domain::payment::PaymentState;

use crate::checkout::scene::Scene;

fn message(order_id: OrderId) -> Drive {
    Drive::Order { order_id, tries: 0 }
}

/// An order that was started and not driven yet.
async fn started(method: &str) -> (Scene, OrderId) {
    let scene = Scene::new().await;
    let id = scene.started(method).await;
    (scene, id)
}

/// Before the nth write of an order by one worker, another does its whole share.
#[tokio::test]
async fn two_workers_at_one_order_end_as_one() {
    for (method, writes) in [
        ("pm_card_visa", 6),
        ("pm_sandbox_capture_fails", 7),
        ("pm_card_chargeDeclined", 3),
    ] {
        let mut overtaken = 0;
        for nth in 0..writes + 2 {
            let (scene, id) = started(method).await;
            let other = scene.clone();
            let reached = scene.before_nth("write ORD", nth, async move {
                other.app.drive(&message(id)).await.unwrap();
            });
            scene.app.drive(&message(id)).await.unwrap();
            overtaken += usize::from(reached.load(Ordering::SeqCst));
            scene.reconcile_until_quiet().await;
            scene
                .assert_consistent(id, &format!("{method}, overtaken at write {nth}"))
                .await;
        }
        assert_eq!(overtaken, writes, "{method}: a write for every step");
    }
}

/// One worker goes forward while the buyer calls the order off and another undoes it,
/// at every write of the order and of the cells.
#[tokio::test]
async fn one_worker_undoes_what_another_is_doing() {
    let steps = [
        ("write ORD", 6),
        ("write BLK", 1),
        ("write BUY", 1),
        ("write TKT", 2),
    ];
    for (step, writes) in steps {
        let mut cancelled = 0;
        for nth in 0..writes + 2 {
            let (scene, id) = started("pm_card_visa").await;
            let other = scene.clone();
            let reached = scene.before_nth(step, nth, async move {
                let _ = other.app.cancel_order(&other.ana, id).await;
                other.app.drive(&message(id)).await.unwrap();
            });
            let _ = scene.app.drive(&message(id)).await;
            let reached = reached.load(Ordering::SeqCst);
            cancelled += usize::from(reached);
            scene.reconcile_until_quiet().await;
            let note = format!("cancelled before {step:?} number {nth}");
            scene.assert_consistent(id, &note).await;
            let confirmed = scene.order(id).await.status() == OrderStatus::Confirmed;
            assert_eq!(confirmed, !reached, "{note}");
            assert_eq!(
                scene.payments().await.len(),
                1,
                "{note}: opened once, or never"
            );
        }
        assert_eq!(cancelled, writes, "{step:?}: the writes of one order");
    }
}

#[tokio::test]
async fn a_ticket_that_is_issued_after_the_refund_is_dead() {
    let (scene, id) = started("pm_card_visa").await;
    let other = scene.clone();
    scene.world.faults.before_next("write TKT", async move {
        let order = other.order(id).await;
        assert_eq!(order.stage, Stage::Issuing);
        other.app.cancel_order(&other.ana, id).await.unwrap();
        other.app.drive(&message(id)).await.unwrap();
    });
    scene.app.drive(&message(id)).await.unwrap();
    scene.reconcile_until_quiet().await;
    let order = scene.order(id).await;
    assert_eq!(order.status(), OrderStatus::Refunded);
    let tickets = scene.tickets(&order).await;
    assert!(tickets.iter().all(|t| !t.is_valid()), "{tickets:?}");
    scene.assert_consistent(id, "issued late").await;
}

/// A worker of the first attempt stalls before it locks; the attempt is declined
/// without it, and its lock comes late.
#[tokio::test]
async fn a_worker_of_an_old_attempt_comes_back_and_locks_nothing() {
    let scene = Scene::new().await;
    let hold = scene.hold(&scene.ana, "h", &["A-1-1"]).await.hold_id;
    let other = scene.clone();
    scene.world.faults.before_next("write BUY", async move {
        other
            .check_out(hold, "pay", "pm_card_chargeDeclined")
            .await
            .unwrap();
        other.settle().await;
        assert_eq!(
            other.order(OrderId::of(hold)).await.status(),
            OrderStatus::Declined
        );
    });
    let _ = scene.check_out(hold, "pay", "pm_card_chargeDeclined").await;
    let entry = scene.entry(&scene.ana, hold).await;
    assert_eq!(
        entry.state,
        EntryState::Held,
        "the declined hold is its buyer's"
    );
    scene
        .check_out(hold, "again", "pm_card_visa")
        .await
        .unwrap();
    scene.reconcile_until_quiet().await;
    scene
        .assert_consistent(OrderId::of(hold), "an old worker came back")
        .await;
    assert_eq!(
        scene.order(OrderId::of(hold)).await.status(),
        OrderStatus::Confirmed
    );
}

/// The provider is asked again about attempt one while attempt two is authorised.
#[tokio::test]
async fn a_charge_of_an_old_attempt_gets_its_old_answer() {
    let (scene, id) = started("pm_card_chargeDeclined").await;
    scene.settle().await;
    let hold = id.hold();
    scene.check_out(hold, "two", "pm_card_visa").await.unwrap();
    scene.settle().await;
    let order = scene.order(id).await;
    let payment = order.payment.clone().unwrap();
    let old = order.attempts[0].method.clone();
    let answer = scene
        .app
        .payments
        .authorise(&payment, id, 1, &old)
        .await
        .unwrap();
    assert!(matches!(
        answer,
        onsale_app::ports::Authorisation::Refused(_)
    ));
    scene
        .assert_consistent(id, "asked about the first attempt again")
        .await;
}

#[tokio::test]
async fn a_hold_that_lapses_while_the_provider_is_slow_is_voided_and_never_charged() {
    let (scene, id) = started("pm_card_visa").await;
    let hold = id.hold();
    // Authorised; then so slow that the extended hold lapses and somebody takes a seat.
    scene.world.faults.fail_always("write BLK", true);
    scene.app.drive(&message(id)).await.unwrap();
    assert_eq!(scene.order(id).await.stage, Stage::Selling);
    scene.world.faults.fail_always("write BLK", false);
    scene.world.clock.advance(600_000 + 300_000 + 6_000);
    let ben = scene.show.buyer(2).await.unwrap();
    let taken = scene.hold(&ben, "h", &["A-1-1"]).await;
    scene.settle().await;
    let order = scene.order(id).await;
    assert_eq!(order.status(), OrderStatus::Failed);
    assert_eq!(order.undo.unwrap().why, Why::SeatsLost);
    assert_eq!(scene.payments().await[0].state, PaymentState::Voided);
    assert_eq!(scene.cells_of(hold).await, []);
    assert_eq!(
        scene.cells_of(taken.hold_id).await.len(),
        1,
        "the other keeps the seat"
    );
    scene.assert_consistent(id, "lapsed while slow").await;
}

#[tokio::test]
async fn nobody_is_charged_once_the_hold_has_lapsed() {
    let (scene, id) = started("pm_card_visa").await;
    scene.world.clock.advance(600_000 + 300_000);
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Failed);
    assert!(scene.payments().await.is_empty());
    scene.assert_consistent(id, "driven too late").await;
}

#[tokio::test]
async fn a_show_that_is_cancelled_under_a_checkout_pays_back_or_charges_nothing() {
    let steps = [("write ORD", 6), ("write BLK", 1), ("write TKT", 2)];
    for (step, writes) in steps {
        for nth in 0..writes {
            let (scene, id) = started("pm_card_visa").await;
            let organiser = scene.show.organiser().await.unwrap();
            let other = scene.clone();
            let show = scene.show.show.id;
            let reached = scene.before_nth(step, nth, async move {
                other.app.cancel_show(&organiser, show).await.unwrap();
            });
            let _ = scene.app.drive(&message(id)).await;
            let note = format!("the show is cancelled before {step:?} number {nth}");
            assert!(reached.load(Ordering::SeqCst), "{note}: never");
            scene.reconcile_until_quiet().await;
            let cancellation = scene.app.store.read::<Cancellation>(show).await.unwrap();
            let order = scene.order(id).await;
            assert!(
                matches!(
                    order.status(),
                    OrderStatus::Refunded | OrderStatus::Cancelled
                ),
                "{note}: {:?}",
                order.status()
            );
            scene.assert_consistent(id, &note).await;
            assert!(!cancellation.unwrap().value.is_open(), "{note}");
            assert!(!scene.sold().await, "{note}");
        }
    }
}

#[tokio::test]
async fn cells_that_moved_to_another_owner_are_left_alone_by_an_undo() {
    let (scene, id) = started("pm_card_visa").await;
    scene.world.clock.advance(600_000 + 300_000 + 6_000);
    let ben = scene.show.buyer(2).await.unwrap();
    let taken = scene.hold(&ben, "h", &["A-1-1", "A-2-1"]).await;
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Failed);
    assert_eq!(scene.cells_of(taken.hold_id).await.len(), 2);
    let places = scene.order(id).await.places();
    let blocks: Vec<_> = by_block(&scene.show.layout, &places)
        .iter()
        .map(|group| group.block)
        .collect();
    let read = scene
        .world
        .store
        .read_blocks(scene.show.show.id, &blocks, Reads::Consistent)
        .await;
    assert_eq!(read.unwrap().len(), 2);
    assert!(scene.world.store.read::<Order>(id).await.unwrap().is_some());
}

#[tokio::test]
async fn seats_that_somebody_has_are_not_announced_as_returned() {
    let (scene, id) = started("pm_card_visa").await;
    scene.world.clock.advance(600_000 + 300_000 + 6_000);
    let ben = scene.show.buyer(2).await.unwrap();
    scene.hold(&ben, "h", &["A-1-1"]).await;
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Failed);
    let told = scene.world.bus.told().into_iter().map(|told| told.news);
    let returned: Vec<_> = told
        .filter_map(|news| match news {
            News::SeatsReturned { seats, .. } => Some(seats),
            _ => None,
        })
        .collect();
    assert_eq!(returned, [["A-2-1"]], "the other seat is Ben's");
}

/// A worker that is about to sell the places stalls, and sells them while they are freed.
#[tokio::test]
async fn places_that_are_sold_while_they_are_freed_are_freed_again() {
    let scene = Scene::new().await;
    let id = scene.stopped_at("write BLK").await;
    let order = scene.order(id).await;
    assert_eq!(order.stage, Stage::Selling);
    let paying = Cell {
        expiry: order.pay_until,
        hold: id.hold(),
    };
    let other = scene.clone();
    let reached = scene.before_nth("write BLK", 0, async move {
        let show = other.show.show.id;
        let wanted = by_block(&other.show.layout, &order.places());
        let sold = Cell::sold(id.hold());
        let moved = other.world.store.shift(show, &wanted, paying, sold).await;
        assert_eq!(moved, Ok(onsale_app::ports::CellsWrite::Done));
    });
    scene.app.cancel_order(&scene.ana, id).await.unwrap();
    scene.settle().await;
    assert!(reached.load(Ordering::SeqCst));
    scene.assert_consistent(id, "sold while it was freed").await;
}
