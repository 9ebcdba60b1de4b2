//! `GET /metrics`: the counters of this process as Prometheus text.
//!
//! The names are those that the functions write for CloudWatch. Metrics of one show exist
//! for so many shows at a time only, and are forgotten with the show: anybody may make
//! shows, and a process runs for months.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use metrics::{
    Counter, Gauge, Histogram, Key, KeyName, Metadata, Recorder, SharedString, Unit,
    describe_counter, describe_gauge, describe_histogram,
};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};
use metrics_util::MetricKindMask;

const UPKEEP_EVERY: Duration = Duration::from_secs(5);
/// Shows that have metrics of their own at a time.
const MAX_SHOWS: usize = 200;
/// A gauge that nobody set for so long is forgotten. The rarest is set every hour.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(3 * 3_600);
const SHOW: &str = "show";

/// Installs the recorder; without it every counter is a no-op.
pub fn install() -> Result<PrometheusHandle, String> {
    let recorder = PrometheusBuilder::new()
        .idle_timeout(MetricKindMask::GAUGE, Some(FORGOTTEN_AFTER))
        .build_recorder();
    let handle = recorder.handle();
    metrics::set_global_recorder(FewShows::around(recorder)).map_err(|e| e.to_string())?;
    describe();
    metrics::gauge!("onsale_orphan_payments").set(0.0);
    metrics::gauge!("onsale_stuck_orders").set(0.0);
    // Samples of histograms pile up until somebody folds them, scraped or not.
    let upkeep = handle.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(UPKEEP_EVERY).await;
            upkeep.run_upkeep();
        }
    });
    Ok(handle)
}

fn describe() {
    describe_counter!("onsale_http_requests_total", "Requests by route and status");
    describe_histogram!("onsale_http_request_seconds", "How long requests took");
    describe_counter!("onsale_holds_total", "Holds by result");
    describe_histogram!(
        "onsale_hold_duration_seconds",
        "From a hold to its end, by outcome"
    );
    describe_counter!("onsale_bookings_total", "Orders by how they ended");
    describe_histogram!(
        "onsale_ticket_wait_seconds",
        "From taking the money to tickets that can be read"
    );
    describe_counter!("onsale_scans_total", "Scans at gates by result");
    describe_counter!("onsale_scans_undone_total", "Scans that were taken back");
    describe_counter!(
        "onsale_gate_conflicts_total",
        "Tickets on which more came in than should have"
    );
    describe_counter!("onsale_sagas_stuck_total", "Orders that were parked");
    describe_counter!("onsale_chargebacks_total", "Orders that were charged back");
    describe_counter!(
        "onsale_reconcile_runs_total",
        "Full reconcilings that came to their end"
    );
    describe_counter!(
        "onsale_provider_rejections_total",
        "Calls that the payment provider rejected for a reason of ours"
    );
    describe_counter!(
        "onsale_refunds_returned_total",
        "Refunds that a bank sent back"
    );
    describe_counter!("onsale_mails_total", "Mails by kind and result");
    describe_counter!("onsale_mails_parked_total", "Mails that were given up");
    describe_counter!(
        "onsale_mail_feedback_total",
        "Mails that came back or were complained about"
    );
    describe_counter!(
        "onsale_returns_total",
        "Tickets put back, taken back and resold"
    );
    describe_counter!(
        "onsale_transfers_accepted_total",
        "Tickets that changed hands"
    );
    describe_counter!("onsale_waitlist_joins_total", "Entries on waitlists");
    describe_counter!("onsale_waitlist_offers_total", "Offers to those who waited");
    describe_gauge!("onsale_open_orders", "Orders whose saga has not ended");
    describe_gauge!("onsale_stuck_orders", "Orders that wait for an operator");
    describe_gauge!(
        "onsale_orphan_payments",
        "Payments with money in them and no order, after repairs"
    );
    describe_gauge!(
        "onsale_reconcile_alarms",
        "What the last full reconciling could not mend"
    );
    describe_counter!("onsale_map_rebuilds_total", "Rebuilds of a show's seat map");
    describe_gauge!(
        "onsale_seats_available",
        "Free places by show, at the last rebuild"
    );
    describe_gauge!("onsale_queue_size", "People in the waiting room, by show");
}

pub fn router(handle: PrometheusHandle) -> Router {
    let render = move || {
        let handle = handle.clone();
        async move {
            (
                [(CONTENT_TYPE, "text/plain; version=0.0.4")],
                handle.render(),
            )
                .into_response()
        }
    };
    Router::new().route("/metrics", get(render))
}

/// Leaves out the metrics of shows beyond the first so many that are alive.
struct FewShows {
    inner: PrometheusRecorder,
    /// When each was set last.
    shows: Mutex<HashMap<String, Instant>>,
}

impl FewShows {
    fn around(inner: PrometheusRecorder) -> Self {
        Self {
            inner,
            shows: Mutex::default(),
        }
    }

    fn takes(&self, key: &Key, now: Instant) -> bool {
        let Some(show) = key.labels().find(|label| label.key() == SHOW) else {
            return true;
        };
        let mut shows = self.shows.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = shows.get_mut(show.value()) {
            *last = now;
            return true;
        }
        if shows.len() >= MAX_SHOWS {
            shows.retain(|_, last| now.duration_since(*last) < FORGOTTEN_AFTER);
        }
        let takes = shows.len() < MAX_SHOWS;
        if takes {
            shows.insert(show.value().to_owned(), now);
        }
        takes
    }
}

impl Recorder for FewShows {
    fn describe_counter(&self, key: KeyName, unit: Option<Unit>, text: SharedString) {
        self.inner.describe_counter(key, unit, text);
    }

    fn describe_gauge(&self, key: KeyName, unit: Option<Unit>, text: SharedString) {
        self.inner.describe_gauge(key, unit, text);
    }

    fn describe_histogram(&self, key: KeyName, unit: Option<Unit>, text: SharedString) {
        self.inner.describe_histogram(key, unit, text);
    }

    fn register_counter(&self, key: &Key, metadata: &Metadata<'_>) -> Counter {
        self.inner.register_counter(key, metadata)
    }

    fn register_gauge(&self, key: &Key, metadata: &Metadata<'_>) -> Gauge {
        match self.takes(key, Instant::now()) {
            true => self.inner.register_gauge(key, metadata),
            false => Gauge::noop(),
        }
    }

    fn register_histogram(&self, key: &Key, metadata: &Metadata<'_>) -> Histogram {
        self.inner.register_histogram(key, metadata)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_shows_have_metrics_and_a_forgotten_one_makes_room() {
        let recorder = FewShows::around(PrometheusBuilder::new().build_recorder());
        let handle = recorder.inner.handle();
        metrics::with_local_recorder(&recorder, || {
            for show in 0..MAX_SHOWS + 50 {
                metrics::gauge!("onsale_seats_available", "show" => show.to_string()).set(1.0);
                metrics::gauge!("onsale_queue_size", "show" => show.to_string()).set(2.0);
            }
            metrics::gauge!("onsale_open_orders").set(3.0);
        });
        let text = handle.render();
        let of = |name: &str| text.lines().filter(|l| l.starts_with(name)).count();
        assert_eq!(of("onsale_seats_available{"), MAX_SHOWS);
        assert_eq!(of("onsale_queue_size{"), MAX_SHOWS);
        assert!(text.contains("onsale_open_orders 3"));

        let key = Key::from_parts("onsale_queue_size", vec![metrics::Label::new(SHOW, "late")]);
        assert!(!recorder.takes(&key, Instant::now()));
        assert!(recorder.takes(&key, Instant::now() + FORGOTTEN_AFTER));
    }
}
