//! `room`: the cloud's side of the waiting room. Organisers steer it here; the edge asks
//! here for settings, free places and passes that ended, and says which passes it closed.

mod control;
mod fans;
mod internal;
mod signed;

use std::str::FromStr;
use std::sync::Arc;

use onsale_domain::internal_call::InternalKeys;
use onsale_domain::room::fan_code::FanKeys;
use onsale_http::Api;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// What this function alone is told of the secrets of rooms.
#[derive(Debug, Clone, Default)]
pub struct RoomKeys {
    /// Without them, what the edge asks is answered to nobody.
    pub internal: Option<Arc<InternalKeys>>,
    /// Without them, the routes of fans say that they are not set up.
    pub fans: Option<FanKeys>,
}

impl RoomKeys {
    /// From `INTERNAL_KEYS` and `FAN_KEYS`. Unset or empty is none.
    pub fn from_env() -> Result<Self, String> {
        Ok(Self {
            internal: named("INTERNAL_KEYS")?.map(Arc::new),
            fans: named("FAN_KEYS")?,
        })
    }
}

fn named<K: FromStr<Err: std::fmt::Display>>(name: &str) -> Result<Option<K>, String> {
    let text = std::env::var(name).unwrap_or_default();
    match text.trim() {
        "" => Ok(None),
        text => match text.parse() {
            Ok(keys) => Ok(Some(keys)),
            Err(why) => Err(format!("{name}: {why}")),
        },
    }
}

/// What the edge asks is for the edge alone, and in no document.
pub fn router(keys: RoomKeys) -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(control::change))
        .merge(fans::router(keys.fans))
        .merge(OpenApiRouter::from(internal::router(keys.internal)))
}
