//! `organiser`: what organisers see of their shows, and take away. Nobody else does.

mod audit;
mod exports;
mod sales;

use onsale_http::Api;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(audit::list))
        .routes(routes!(sales::read))
        .routes(routes!(exports::begin))
        .routes(routes!(exports::read))
}
