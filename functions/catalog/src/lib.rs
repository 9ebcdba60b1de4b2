//! `catalog`: venues, events, shows and what is free. The same router answers on
//! Lambda and in the embedded server.

mod availability;
mod event_list;
mod events;
mod layout;
mod pricing;
mod schemas;
mod sections;
mod shapes;
mod shows;
mod venues;

use axum::http::header;
use axum::response::IntoResponse;
use onsale_http::Api;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(venues::create))
        .routes(routes!(venues::read))
        .routes(routes!(event_list::list, events::create))
        .routes(routes!(events::read, events::change))
        .routes(routes!(shows::create))
        .routes(routes!(shows::read, shows::change))
        .routes(routes!(pricing::change))
        .routes(routes!(pricing::log))
        .routes(routes!(layout::read))
        .routes(routes!(availability::counts))
        .routes(routes!(availability::bits))
        .routes(routes!(document))
}

/// The OpenAPI document of the whole platform, as `onsale openapi` last wrote it.
const DOCUMENT: &str = include_str!("../../../docs/openapi.json");

/// This document
#[utoipa::path(
    get,
    path = "/api/v1/openapi.json",
    operation_id = "read_document",
    responses((status = 200, description = "OpenAPI 3.1", body = Object))
)]
async fn document() -> impl IntoResponse {
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::CACHE_CONTROL, "public, max-age=60"),
    ];
    (headers, DOCUMENT)
}
