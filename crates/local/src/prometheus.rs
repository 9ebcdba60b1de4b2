//! `GET /metrics`: the counters of this process as Prometheus text.

use std::time::Duration;

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

const UPKEEP_EVERY: Duration = Duration::from_secs(5);

/// Installs the recorder; without it every counter is a no-op.
pub fn install() -> Result<PrometheusHandle, String> {
    let handle = PrometheusBuilder::new()
        .install_recorder()
        .map_err(|e| e.to_string())?;
    metrics::describe_counter!("onsale_holds_total", "Holds by result");
    metrics::describe_counter!("onsale_bookings_total", "Orders by how they ended");
    metrics::describe_histogram!(
        "onsale_ticket_wait_seconds",
        "From taking the money to tickets that can be read"
    );
    metrics::describe_counter!("onsale_scans_total", "Scans at gates by result");
    metrics::describe_counter!("onsale_sagas_stuck_total", "Orders that were parked");
    metrics::describe_counter!("onsale_chargebacks_total", "Orders that were charged back");
    metrics::describe_counter!("onsale_mails_total", "Mails by kind and result");
    metrics::describe_gauge!("onsale_open_orders", "Orders whose saga has not ended");
    metrics::describe_gauge!("onsale_stuck_orders", "Orders that wait for an operator");
    metrics::describe_gauge!(
        "onsale_orphan_payments",
        "Payments with money in them and no order, after repairs"
    );
    metrics::describe_gauge!(
        "onsale_reconcile_alarms",
        "What the last full reconciling could not mend"
    );
    metrics::gauge!("onsale_orphan_payments").set(0.0);
    metrics::gauge!("onsale_stuck_orders").set(0.0);
    metrics::describe_counter!("onsale_map_rebuilds_total", "Rebuilds of a show's seat map");
    metrics::describe_gauge!(
        "onsale_seats_available",
        "Free places by show, at the last rebuild"
    );
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
