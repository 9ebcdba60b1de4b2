//! `tickets`: what buyers show, and what gates ask.
//!
//! It checks codes with the public keys of tickets. The key that signs them it uses for one
//! thing: the ticket of somebody who accepts a transfer, and waits for it.

mod batch;
mod calendar;
mod gate;
mod history;
mod keys;
mod paper;
mod receipt;
mod returns;
mod scan;
mod transfers;
mod view;

pub use receipt::Seller;

use std::sync::Arc;

use axum::Extension;
use onsale_domain::ticket_code::TicketKeys;
use onsale_http::Api;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub fn router(keys: Arc<TicketKeys>, seller: Seller) -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(view::mine))
        .routes(routes!(view::of_order))
        .routes(routes!(calendar::read))
        .routes(routes!(receipt::read))
        .routes(routes!(paper::pdf))
        .routes(routes!(paper::svg))
        .routes(routes!(scan::scan, history::conflicts))
        .routes(routes!(batch::sync))
        .routes(routes!(history::of_ticket, history::undo))
        .routes(routes!(gate::snapshot))
        .routes(routes!(gate::counts))
        .routes(routes!(returns::put_back, returns::take_back))
        .routes(routes!(transfers::offer))
        .routes(routes!(transfers::list))
        .routes(routes!(transfers::read, transfers::withdraw))
        .routes(routes!(transfers::accept))
        .routes(routes!(transfers::decline))
        .routes(routes!(keys::jwks))
        .layer(Extension(keys))
        .layer(Extension(seller))
}
