//! A bank takes money back while the order is on its way, in either direction. What is
//! disputed no provider refunds, so here every refund is refused.

use onsale_app::Error;
use onsale_domain::ids::OrderId;
use onsale_domain::money::Cents;
use onsale_domain::order::{OrderStatus, Stage, Why};
use onsale_domain::payment::{ChargeBack, PaymentState};

use crate::checkout::scene::Scene;

const KEPT: PaymentState = PaymentState::Captured { refunded: Cents(0) };

async fn charge_back(scene: &Scene, id: OrderId) -> onsale_app::Result<()> {
    let payment = scene.order(id).await.payment.unwrap();
    scene.app.charge_back(id, &payment).await
}

async fn assert_charged_back(scene: &Scene, id: OrderId, note: &str) {
    scene.reconcile_until_quiet().await;
    let order = scene.order(id).await;
    assert_eq!(order.status(), OrderStatus::Cancelled, "{note}");
    assert_eq!(order.undo.unwrap().why, Why::ChargedBack, "{note}");
    assert_eq!(scene.payments().await[0].state, KEPT, "{note}");
    scene.assert_consistent(id, note).await;
}

#[tokio::test]
async fn an_order_that_is_stuck_at_its_refund_ends_once_it_is_charged_back() {
    let scene = Scene::new().await;
    let id = scene.paid("pay", &["A-1-1"]).await;
    scene.world.faults.fail_always("refund", true);
    scene.app.cancel_order(&scene.ana, id).await.unwrap();
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Stuck);
    for _ in 0..2 {
        charge_back(&scene, id).await.unwrap();
    }
    assert_charged_back(&scene, id, "stuck").await;
}

#[tokio::test]
async fn a_cancelled_show_ends_although_a_buyer_disputes_the_charge() {
    let scene = Scene::new().await;
    let id = scene.paid("pay", &["A-1-1"]).await;
    scene.world.faults.fail_always("refund", true);
    let organiser = scene.show.organiser().await.unwrap();
    let show = scene.show.show.id;
    scene.app.cancel_show(&organiser, show).await.unwrap();
    charge_back(&scene, id).await.unwrap();
    scene.settle().await;
    assert_charged_back(&scene, id, "the show is cancelled").await;
    let progress = scene.app.cancellation_progress(&organiser, show).await;
    let progress = progress.unwrap();
    assert_eq!((progress.refunds_due, progress.refunds_done), (1, 1));
}

#[tokio::test]
async fn an_order_that_is_called_off_and_not_yet_undone_is_charged_back() {
    for step in [Stage::Revoking, Stage::Refunding] {
        let scene = Scene::new().await;
        let id = scene.paid("pay", &["A-1-1"]).await;
        scene.world.faults.fail_always("refund", true);
        scene.app.cancel_order(&scene.ana, id).await.unwrap();
        if step == Stage::Refunding {
            scene.drive(id).await;
        }
        assert_eq!(scene.order(id).await.stage, step);
        charge_back(&scene, id).await.unwrap();
        assert_charged_back(&scene, id, &format!("{step:?}")).await;
    }
}

/// The money was taken, the reply was lost, and the bank was faster than the next try.
#[tokio::test]
async fn an_order_that_does_not_know_yet_that_it_is_paid_is_charged_back() {
    for called_off in [false, true] {
        let scene = Scene::new().await;
        let id = scene.stopped_at("capture").await;
        assert_eq!(charge_back(&scene, id).await, Err(Error::Unavailable));
        let payment = scene.order(id).await.payment.unwrap();
        scene.app.payments.capture(&payment, id).await.unwrap();
        scene.world.faults.fail_always("refund", true);
        if called_off {
            scene.app.cancel_order(&scene.ana, id).await.unwrap();
            assert_eq!(scene.order(id).await.stage, Stage::Voiding);
        }
        charge_back(&scene, id).await.unwrap();
        assert_charged_back(&scene, id, &format!("called off: {called_off}")).await;
    }
}

/// The refund is done, and the worker that asked for it died before it was stored.
#[tokio::test]
async fn a_refund_that_was_given_before_the_charge_back_stays_one() {
    let scene = Scene::new().await;
    let id = scene.paid("pay", &["A-1-1"]).await;
    scene.app.cancel_order(&scene.ana, id).await.unwrap();
    scene.world.faults.fail_always("refund", true);
    scene.drive(id).await;
    scene.world.faults.fail_always("refund", false);
    let order = scene.order(id).await;
    assert_eq!(order.stage, Stage::Refunding);
    let payment = order.payment.unwrap();
    let (already, amount) = (Cents(0), Cents(4_500));
    let refund = scene.app.payments.refund(&payment, id, already, amount);
    refund.await.unwrap();
    charge_back(&scene, id).await.unwrap();
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Refunded);
    scene.assert_consistent(id, "refunded, then disputed").await;
    charge_back(&scene, id).await.unwrap();
    assert_eq!(scene.order(id).await.status(), OrderStatus::Refunded);
}

/// The webhook was lost, or never set up. A payment may be disputed more than once.
#[tokio::test]
async fn money_that_a_bank_took_back_unheard_is_found_by_reconciling() {
    let scene = Scene::new().await;
    let id = scene.paid("pay", &["A-1-1"]).await;
    let payment = scene.order(id).await.payment.unwrap();
    let taken = ChargeBack { payment, order: id };
    for _ in 0..2 {
        scene.world.payments.take_back(taken.clone());
    }
    let report = scene.app.reconcile_all().await.unwrap();
    assert_eq!(
        (report.repairs.len(), report.alarms.len()),
        (1, 0),
        "{report}"
    );
    assert_charged_back(&scene, id, "found").await;
    let again = scene.app.reconcile_all().await.unwrap();
    assert_eq!((again.repairs.len(), again.alarms.len()), (0, 0), "{again}");
}

#[tokio::test]
async fn a_charge_back_of_an_order_that_ended_or_of_another_payment_is_not_told() {
    let scene = Scene::new().await;
    let kept = scene.paid("one", &["A-1-1"]).await;
    let ended = scene.paid("two", &["A-1-2"]).await;
    scene.app.cancel_order(&scene.ana, ended).await.unwrap();
    scene.settle().await;
    let payment = scene.order(ended).await.payment.unwrap();
    for order in [ended, kept, OrderId::from_bytes([9; 16])] {
        let payment = payment.clone();
        let taken = ChargeBack { payment, order };
        scene.world.payments.take_back(taken);
    }
    let report = scene.app.reconcile_all().await.unwrap();
    assert_eq!(
        (report.repairs.len(), report.alarms.len()),
        (0, 0),
        "{report}"
    );
    scene.settle().await;
    assert_eq!(scene.order(kept).await.status(), OrderStatus::Confirmed);
    assert_eq!(scene.order(ended).await.status(), OrderStatus::Refunded);
}

#[tokio::test]
async fn a_provider_that_does_not_tell_of_charge_backs_is_an_alarm() {
    let scene = Scene::new().await;
    scene.paid("pay", &["A-1-1"]).await;
    scene.world.faults.fail_always("charge_backs", true);
    let report = scene.app.reconcile_all().await.unwrap();
    assert_eq!((report.payments, report.alarms.len()), (1, 1), "{report}");
    assert!(report.alarms[0].starts_with("charge-backs cannot be listed"));
}
