//! How far the counters of a piece of work come.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use metrics::{
    Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    with_local_recorder,
};

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
pub(crate) fn count_of(name: &str, work: impl Future) -> u64 {
    let counters = Counters::default();
    let done = with_local_recorder(&counters, || Scene::until_death(work));
    assert!(done.is_some(), "the work waits");
    let counters = counters.0.lock().unwrap();
    let counter = counters.get(name);
    counter.map_or(0, |counter| counter.load(Ordering::SeqCst))
}
