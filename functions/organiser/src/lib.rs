//! `organiser`: what organisers read about their shows. It changes nothing.

mod audit;

use onsale_http::Api;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::default().routes(routes!(audit::list))
}
