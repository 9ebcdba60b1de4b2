//! `room`: the cloud's side of the waiting room. Organisers steer it here; the edge asks
//! here for settings, free places and passes that ended, and says which passes it closed.

mod control;
mod internal;
mod signed;

use std::sync::Arc;

use onsale_domain::internal_call::InternalKeys;
use onsale_http::Api;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// What the edge asks is for the edge alone, and in no document. Without keys it is for
/// nobody.
pub fn router(keys: Option<Arc<InternalKeys>>) -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(control::change))
        .merge(OpenApiRouter::from(internal::router(keys)))
}

/// The secrets of internal calls, from `INTERNAL_KEYS`. Unset or empty is none.
pub fn keys_from_env() -> Result<Option<Arc<InternalKeys>>, String> {
    let text = std::env::var("INTERNAL_KEYS").unwrap_or_default();
    match text.trim() {
        "" => Ok(None),
        text => match text.parse() {
            Ok(keys) => Ok(Some(Arc::new(keys))),
            Err(why) => Err(format!("INTERNAL_KEYS: {why}")),
        },
    }
}
