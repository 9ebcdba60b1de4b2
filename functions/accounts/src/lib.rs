//! The function `accounts`: register, log in and out, one's own account, new passwords, and
//! the staff of organisers.
//!
//! It alone holds the key that signs sessions.

mod account;
mod export;
mod me;
mod password;
mod register;
mod sessions;
mod staff;

use std::sync::Arc;

use axum::Extension;
use onsale_domain::password_reset::ResetKeys;
use onsale_http::{Api, SessionSigner};
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
    OpenApiRouter::default()
        .routes(routes!(register::register))
        .routes(routes!(sessions::log_in))
        .routes(routes!(sessions::log_out))
        .routes(routes!(me::me, me::rename, me::delete))
        .routes(routes!(export::export))
        .routes(routes!(password::change))
        .routes(routes!(password::ask))
        .routes(routes!(password::set))
        .routes(routes!(staff::add, staff::list))
        .routes(routes!(staff::remove))
        .layer(Extension(signer))
        .layer(Extension(password::Keys(reset_keys)))
}
