//! `room`: the cloud's side of the waiting room. Organisers steer it here; the edge asks
//! here for settings, free places and passes that ended, and says which passes it closed.

mod fans;

use onsale_domain::room::fan_code::FanKeys;
use onsale_http::Api;
use utoipa_axum::router::OpenApiRouter;

/// Without fan keys, the routes of fans say that they are not set up.
pub fn router(fan_keys: Option<FanKeys>) -> OpenApiRouter<Api> {
    OpenApiRouter::new().merge(fans::router(fan_keys))
}
