//! What an operator is alarmed by: the metrics of a piece of work.

use onsale_domain::payment::PaymentId;

use crate::checkout::counters::{count_of, gauge_of, values_of};
use crate::checkout::scene::Scene;

/// A revoked key, say: every order fails until its hold lapses, and no card is to blame.
#[tokio::test]
async fn a_provider_that_rejects_our_calls_is_counted_and_one_that_is_away_is_not() {
    let rejections = "onsale_provider_rejections_total";
    let scene = Scene::new().await;
    let id = scene.stopped_at("capture").await;
    scene.world.faults.fail_always("capture", true);
    assert_eq!(count_of(rejections, scene.drive(id)), 0);
    scene.world.faults.fail_always("capture", false);
    let mut order = scene.stored(id).await;
    order.value.payment = Some(PaymentId("pi_of_another_account".into()));
    scene.world.store.replace(&order).await.unwrap();
    assert_eq!(count_of(rejections, scene.drive(id)), 1);
}

#[tokio::test]
async fn only_a_run_that_came_to_its_end_is_counted() {
    let runs = "onsale_reconcile_runs_total";
    let scene = Scene::new().await;
    scene.paid("one", &["A-1-1"]).await;
    assert_eq!(count_of(runs, scene.app.reconcile_open()), 0);
    assert_eq!(count_of(runs, scene.app.reconcile_all()), 1);
}

/// That there are none ends an alarm.
#[tokio::test]
async fn nobody_says_that_there_are_no_orphans_who_has_not_seen_every_payment() {
    let orphans = "onsale_orphan_payments";
    let scene = Scene::new().await;
    scene.paid("one", &["A-1-1"]).await;
    for call in ["list", "get_many ORD"] {
        scene.world.faults.fail_always(call, true);
        let told = gauge_of(orphans, scene.app.reconcile_all());
        assert_eq!(told, None, "{call}");
        scene.world.faults.fail_always(call, false);
        let told = gauge_of(orphans, scene.app.reconcile_all());
        assert_eq!(told, Some(0.0), "{call}");
    }
}

#[tokio::test]
async fn nobody_says_that_no_order_is_stuck_who_has_not_seen_every_order() {
    let stuck = "onsale_stuck_orders";
    let scene = Scene::new().await;
    scene.started("pm_card_visa").await;
    scene.world.faults.fail_always("get_many ORD", true);
    assert_eq!(gauge_of(stuck, scene.app.reconcile_open()), None);
    scene.world.faults.fail_always("get_many ORD", false);
    assert_eq!(gauge_of(stuck, scene.app.reconcile_open()), Some(0.0));
}

#[tokio::test]
async fn tickets_are_waited_for_since_the_money_was_taken_however_often_they_were_tried() {
    let scene = Scene::new().await;
    let id = scene.stopped_at("update TKT").await;
    scene.world.clock.advance(60_000);
    scene.world.faults.fail_always("update TKT", true);
    scene.drive(id).await;
    scene.world.faults.fail_always("update TKT", false);
    scene.world.clock.advance(30_000);
    let waits = values_of("onsale_ticket_wait_seconds", scene.drive(id));
    assert_eq!(waits, [90.0]);
}
