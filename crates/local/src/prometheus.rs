//! `GET /metrics`: the counters of this process as Prometheus text.

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::get;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

/// Installs the recorder; without it every counter is a no-op.
pub fn install() -> Result<PrometheusHandle, String> {
    let handle = PrometheusBuilder::new()
        .install_recorder()
        .map_err(|e| e.to_string())?;
    metrics::describe_counter!("onsale_holds_total", "Holds by result");
    metrics::describe_counter!("onsale_map_rebuilds_total", "Rebuilds of a show's seat map");
    metrics::describe_gauge!(
        "onsale_seats_available",
        "Free places by show, at the last rebuild"
    );
    Ok(handle)
}

pub fn router(handle: PrometheusHandle) -> Router {
    let render = move || {
        let handle = handle.clone();
        async move {
            handle.run_upkeep();
            (
                [(CONTENT_TYPE, "text/plain; version=0.0.4")],
                handle.render(),
            )
                .into_response()
        }
    };
    Router::new().route("/metrics", get(render))
}
