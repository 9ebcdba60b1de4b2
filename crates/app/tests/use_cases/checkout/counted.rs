//! What an operator is alarmed by: the counters of a piece of work.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use metrics::{
    Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    with_local_recorder,
};
use onsale_app::ports::Orders;
use onsale_domain::payment::PaymentId;

use crate::checkout::scene::Scene;

#[derive(Default)]
struct Counters(Mutex<BTreeMap<String, Arc<AtomicU64>>>);

impl Recorder for Counters {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        let mut counters = self.0.lock().unwrap();
        let counter = counters.entry(key.name().to_owned()).or_default();
        Counter::from_arc(counter.clone())
    }

    fn register_gauge(&self, _: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::noop()
    }

    fn register_histogram(&self, _: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::noop()
    }
}

/// How far this counter came during work that waits for nothing outside.
fn count_of(name: &str, work: impl Future) -> u64 {
    let counters = Counters::default();
    let done = with_local_recorder(&counters, || Scene::until_death(work));
    assert!(done.is_some(), "the work waits");
    let counters = counters.0.lock().unwrap();
    let counter = counters.get(name);
    counter.map_or(0, |counter| counter.load(Ordering::SeqCst))
}

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
