//! What the metrics of a piece of work come to.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use metrics::{
    Counter, Gauge, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    with_local_recorder,
};

use crate::checkout::scene::Scene;

/// What was written under each name.
type Named<T> = Mutex<BTreeMap<String, Arc<T>>>;

fn named<T: Default>(all: &Named<T>, key: &Key) -> Arc<T> {
    let mut all = all.lock().unwrap();
    all.entry(key.name().to_owned()).or_default().clone()
}

/// Every value that a histogram was given.
#[derive(Default)]
struct Values(Mutex<Vec<f64>>);

impl HistogramFn for Values {
    fn record(&self, value: f64) {
        self.0.lock().unwrap().push(value);
    }
}

#[derive(Default)]
struct Written {
    counters: Named<AtomicU64>,
    gauges: Named<AtomicU64>,
    histograms: Named<Values>,
}

impl Recorder for Written {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}
    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        Counter::from_arc(named(&self.counters, key))
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        Gauge::from_arc(named(&self.gauges, key))
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        Histogram::from_arc(named(&self.histograms, key))
    }
}

/// Does work that waits for nothing outside.
fn written_by(work: impl Future) -> Written {
    let written = Written::default();
    let done = with_local_recorder(&written, || Scene::until_death(work));
    assert!(done.is_some(), "the work waits");
    written
}

/// How far this counter came.
pub(crate) fn count_of(name: &str, work: impl Future) -> u64 {
    let written = written_by(work);
    let counters = written.counters.lock().unwrap();
    let counter = counters.get(name);
    counter.map_or(0, |counter| counter.load(Ordering::SeqCst))
}

/// What this gauge was set to, if it was.
pub(crate) fn gauge_of(name: &str, work: impl Future) -> Option<f64> {
    let written = written_by(work);
    let gauges = written.gauges.lock().unwrap();
    let gauge = gauges.get(name);
    gauge.map(|gauge| f64::from_bits(gauge.load(Ordering::SeqCst)))
}

/// What this histogram was given.
pub(crate) fn values_of(name: &str, work: impl Future) -> Vec<f64> {
    let written = written_by(work);
    let histograms = written.histograms.lock().unwrap();
    let values = histograms.get(name);
    values.map_or_else(Vec::new, |values| values.0.lock().unwrap().clone())
}
