//! The function `accounts`: register, log in and out, and one's own account.
//!
//! It alone holds the key that signs sessions.

mod account;
mod me;
mod register;
mod sessions;

use std::sync::Arc;

use axum::Extension;
use onsale_http::{Api, SessionSigner};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub fn router(signer: Arc<SessionSigner>) -> OpenApiRouter<Api> {
    OpenApiRouter::default()
        .routes(routes!(register::register))
        .routes(routes!(sessions::log_in))
        .routes(routes!(sessions::log_out))
        .routes(routes!(me::me, me::rename))
        .layer(Extension(signer))
}
