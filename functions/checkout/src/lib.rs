//! `checkout`: paying for a hold, what became of it, and calling it off.
//!
//! It writes the order and locks the hold; the steps are done by `drive-saga`.

mod cancel;
mod order;
mod pay;
mod settings;
mod shows;
mod webhook;

use axum::Extension;
use onsale_http::Api;
use onsale_payments::{PaymentSettings, WebhookSecrets};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub fn router(webhooks: WebhookSecrets, settings: PaymentSettings) -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(pay::check_out))
        .routes(routes!(order::list))
        .routes(routes!(order::read))
        .routes(routes!(pay::confirm_action))
        .routes(routes!(cancel::cancel))
        .routes(routes!(cancel::resume))
        .routes(routes!(shows::cancel))
        .routes(routes!(shows::progress))
        .routes(routes!(settings::read))
        .routes(routes!(webhook::receive))
        .layer(Extension(webhooks))
        .layer(Extension(settings))
}
