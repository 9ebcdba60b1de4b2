//! `tickets`: what buyers show, and what gates ask.
//!
//! It has the public keys of tickets only: it can check a code and never make one.

mod keys;
mod paper;
mod scan;
mod view;

use std::sync::Arc;

use axum::Extension;
use onsale_domain::ticket_code::TicketKeys;
use onsale_http::Api;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub fn router(keys: Arc<TicketKeys>) -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(view::of_order))
        .routes(routes!(paper::pdf))
        .routes(routes!(paper::svg))
        .routes(routes!(scan::scan))
        .routes(routes!(keys::jwks))
        .layer(Extension(keys))
}
