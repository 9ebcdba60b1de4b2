//! `room`: the cloud's side of the waiting room. Organisers steer it here; the edge asks
//! here for settings, free places and passes that ended, and says which passes it closed.

use onsale_http::Api;
use utoipa_axum::router::OpenApiRouter;

pub fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
}
