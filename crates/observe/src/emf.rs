//! Metrics of a Lambda function, as CloudWatch reads them out of the log.
//!
//! What is counted during an invocation is written at its end, one JSON document for each
//! set of labels, in the embedded metric format. A metric has the dimension `Stack`, and a
//! second time the labels with few values as well; labels with many, such as a show, are
//! properties that queries find, since every value of a dimension costs by the month.

use std::collections::{BTreeMap, HashMap};
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key, KeyName, Metadata, Recorder,
    SharedString, Unit,
};
use serde_json::{Map, Value, json};

const NAMESPACE: &str = "Onsale";
/// Labels that become dimensions.
const DIMENSIONS: [&str; 4] = ["kind", "outcome", "result", "status"];
/// More than any invocation has; what comes beyond is counted and not kept.
const MAX_SERIES: usize = 500;
const MAX_SAMPLES: usize = 2_000;
/// CloudWatch takes this many values of a metric in one document.
const VALUES_A_DOCUMENT: usize = 100;
const LEFT_OUT: &str = "onsale_metrics_left_out_total";

/// What was counted, by the name of its metric.
type Values = BTreeMap<String, Vec<f64>>;

/// Counts until it is told to write.
#[derive(Debug)]
pub struct Emf {
    stack: String,
    function: String,
    series: Mutex<HashMap<Key, Series>>,
    left_out: AtomicU64,
}

#[derive(Debug, Clone)]
enum Series {
    Counter(Arc<Count>),
    Gauge(Arc<Level>),
    Histogram(Arc<Samples>),
}

#[derive(Debug, Default)]
struct Count(AtomicU64);

/// The last value, if there was one since the last writing.
#[derive(Debug, Default)]
struct Level(Mutex<Option<f64>>);

#[derive(Debug, Default)]
struct Samples(Mutex<Vec<f64>>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl CounterFn for Count {
    fn increment(&self, value: u64) {
        self.0.fetch_add(value, Ordering::Relaxed);
    }

    fn absolute(&self, value: u64) {
        self.0.fetch_max(value, Ordering::Relaxed);
    }
}

impl GaugeFn for Level {
    fn increment(&self, value: f64) {
        *lock(&self.0).get_or_insert_default() += value;
    }

    fn decrement(&self, value: f64) {
        *lock(&self.0).get_or_insert_default() -= value;
    }

    fn set(&self, value: f64) {
        *lock(&self.0) = Some(value);
    }
}

impl HistogramFn for Samples {
    fn record(&self, value: f64) {
        let mut samples = lock(&self.0);
        if samples.len() < MAX_SAMPLES {
            samples.push(value);
        }
    }
}

impl Series {
    /// Whether somebody may still count in it.
    fn is_held(&self) -> bool {
        let holders = match self {
            Self::Counter(cell) => Arc::strong_count(cell),
            Self::Gauge(cell) => Arc::strong_count(cell),
            Self::Histogram(cell) => Arc::strong_count(cell),
        };
        holders > 1
    }

    /// What was counted since the last time. CloudWatch would refuse what is no number.
    fn take(&self) -> Vec<f64> {
        let mut values = match self {
            Self::Counter(cell) => match cell.0.swap(0, Ordering::Relaxed) {
                0 => Vec::new(),
                count => vec![count as f64],
            },
            Self::Gauge(cell) => lock(&cell.0).take().into_iter().collect(),
            Self::Histogram(cell) => std::mem::take(&mut *lock(&cell.0)),
        };
        values.retain(|value| value.is_finite());
        values
    }
}

impl Emf {
    pub fn new(stack: String, function: String) -> Self {
        Self {
            stack,
            function,
            series: Mutex::default(),
            left_out: AtomicU64::new(0),
        }
    }

    fn series(&self, key: &Key, new: impl FnOnce() -> Series) -> Option<Series> {
        let mut series = lock(&self.series);
        if let Some(known) = series.get(key) {
            return Some(known.clone());
        }
        if series.len() >= MAX_SERIES {
            self.left_out.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let new = new();
        series.insert(key.to_retained(), new.clone());
        Some(new)
    }

    /// Writes what was counted, and forgets it. Metrics that cannot be written are lost:
    /// the log itself is gone then.
    pub fn flush(&self, at_ms: u64, to: &mut impl Write) {
        let mut text = String::new();
        for document in self.documents(at_ms) {
            text += &document.to_string();
            text.push('\n');
        }
        if !text.is_empty() {
            let _ = to.write_all(text.as_bytes());
            let _ = to.flush();
        }
    }

    fn documents(&self, at_ms: u64) -> Vec<Value> {
        // Metrics with the same labels share their documents.
        let mut told: BTreeMap<Vec<(String, String)>, Values> = BTreeMap::new();
        let mut series = lock(&self.series);
        for (key, cell) in series.iter() {
            let values = cell.take();
            if !values.is_empty() {
                let labels = key.labels();
                let mut labels: Vec<_> = labels
                    .map(|label| (label.key().to_owned(), label.value().to_owned()))
                    .collect();
                labels.sort();
                let metrics = told.entry(labels).or_default();
                metrics.insert(key.name().to_owned(), values);
            }
        }
        series.retain(|_, cell| cell.is_held());
        drop(series);
        let left_out = self.left_out.swap(0, Ordering::Relaxed);
        if left_out > 0 {
            let plain = told.entry(Vec::new()).or_default();
            plain.insert(LEFT_OUT.to_owned(), vec![left_out as f64]);
        }
        told.into_iter()
            .flat_map(|(labels, metrics)| in_pieces(metrics).map(move |m| (labels.clone(), m)))
            .map(|(labels, metrics)| self.document(at_ms, &labels, metrics))
            .collect()
    }

    fn document(&self, at_ms: u64, labels: &[(String, String)], metrics: Values) -> Value {
        let mut names = vec!["Stack"];
        // An empty value is refused as a dimension.
        let few = labels.iter().filter(|(_, value)| !value.is_empty());
        let few = few.map(|(name, _)| name.as_str());
        names.extend(few.filter(|name| DIMENSIONS.contains(name)));
        let dimensions = match names.len() {
            1 => json!([["Stack"]]),
            _ => json!([["Stack"], names]),
        };
        let units: Vec<_> = metrics
            .keys()
            .map(|name| json!({ "Name": name, "Unit": unit(name) }))
            .collect();
        let mut document = Map::new();
        document.insert(
            "_aws".to_owned(),
            json!({
                "Timestamp": at_ms,
                "CloudWatchMetrics": [{
                    "Namespace": NAMESPACE,
                    "Dimensions": dimensions,
                    "Metrics": units,
                }],
            }),
        );
        document.insert("Stack".to_owned(), self.stack.as_str().into());
        document.insert("function".to_owned(), self.function.as_str().into());
        for (name, value) in labels {
            document.insert(name.clone(), value.as_str().into());
        }
        for (name, values) in metrics {
            let value = match values.as_slice() {
                [one] => json!(one),
                many => json!(many),
            };
            document.insert(name, value);
        }
        document.into()
    }
}

fn unit(name: &str) -> &'static str {
    match name.ends_with("_seconds") {
        true => "Seconds",
        false => "Count",
    }
}

/// The same in as many parts as it takes to have no more values of a metric than a document
/// may have.
fn in_pieces(metrics: Values) -> impl Iterator<Item = Values> {
    let most = metrics.values().map(Vec::len).max().unwrap_or(0);
    (0..most.div_ceil(VALUES_A_DOCUMENT)).map(move |piece| {
        let part = |(name, values): (&String, &Vec<f64>)| {
            let part = values.chunks(VALUES_A_DOCUMENT).nth(piece)?;
            Some((name.clone(), part.to_vec()))
        };
        metrics.iter().filter_map(part).collect()
    })
}

impl Recorder for Emf {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {}

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        match self.series(key, || Series::Counter(Arc::default())) {
            Some(Series::Counter(cell)) => Counter::from_arc(cell),
            _ => Counter::noop(),
        }
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        match self.series(key, || Series::Gauge(Arc::default())) {
            Some(Series::Gauge(cell)) => Gauge::from_arc(cell),
            _ => Gauge::noop(),
        }
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> Histogram {
        match self.series(key, || Series::Histogram(Arc::default())) {
            Some(Series::Histogram(cell)) => Histogram::from_arc(cell),
            _ => Histogram::noop(),
        }
    }
}

#[cfg(test)]
#[path = "emf_tests.rs"]
mod tests;
