//! What an operator is alarmed by: the counters of a piece of work.

use onsale_app::ports::Orders;
use onsale_domain::payment::PaymentId;

use crate::checkout::counters::count_of;
use crate::checkout::scene::Scene;

/// A revoked key, say: every order fails until its hold lapses, and no card is to blame.
#[tokio::test]
async fn a_provider_that_rejects_our_calls_is_counted_and_one_that_is_away_is_not() {
    let rejections = "onsale_provider_rejections_total";
    let scene = Scene::new().await;
    let id = scene.stopped_at("capture").await;
    scene.world.gate.fail_always("capture", true);
    assert_eq!(count_of(rejections, scene.drive(id)), 0);
    scene.world.gate.fail_always("capture", false);
    let mut order = scene.stored(id).await;
    order.value.payment = Some(PaymentId("pi_of_another_account".into()));
    scene.world.store.replace_order(&order).await.unwrap();
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
