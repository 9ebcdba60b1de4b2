//! The function `accounts`: register, log in and out, one's own account, new passwords, and
//! the staff of organisers.
//!
//! It alone holds the key that signs sessions.

mod account;
mod export;
mod link_keys;
mod links;
mod me;
mod password;
mod register;
mod sessions;
mod staff;

use std::sync::Arc;

use axum::Extension;
use axum::middleware::from_extractor;
use onsale_domain::password_reset::ResetKeys;
use onsale_http::{Api, FromHere, SessionSigner};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The keys of `RESET_KEYS`. Unset or empty is none.
pub fn reset_keys_from_env() -> Result<Option<Arc<ResetKeys>>, String> {
    let text = std::env::var("RESET_KEYS").unwrap_or_default();
    match text.trim() {
        "" => Ok(None),
        text => match text.parse() {
            Ok(keys) => Ok(Some(Arc::new(keys))),
            Err(why) => Err(format!("RESET_KEYS: {why}")),
        },
    }
}

/// Without reset keys the routes are there and say that nothing is set up.
pub fn router(
    signer: Arc<SessionSigner>,
    reset_keys: Option<Arc<ResetKeys>>,
) -> OpenApiRouter<Api> {
    let opening_sessions = OpenApiRouter::default()
        .routes(routes!(register::register))
        .routes(routes!(sessions::log_in))
        .routes(routes!(password::set))
        .routes(routes!(links::log_in))
        .route_layer(from_extractor::<FromHere>());
    OpenApiRouter::default()
        .merge(opening_sessions)
        .routes(routes!(sessions::log_out))
        .routes(routes!(me::me, me::rename, me::delete))
        .routes(routes!(export::export))
        .routes(routes!(password::change))
        .routes(routes!(password::ask))
        .routes(routes!(links::ask))
        .routes(routes!(links::ask_proof))
        .routes(routes!(links::prove))
        .routes(routes!(staff::add, staff::list))
        .routes(routes!(staff::remove))
        .layer(Extension(signer))
        .layer(Extension(link_keys::Keys(reset_keys)))
}
