//! `organiser`: what organisers see of their shows, and take away; and the posters of their
//! events, which alone are for everybody.

mod audit;
mod exports;
mod posters;
mod sales;

use axum::Extension;
use onsale_http::Api;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub fn router() -> OpenApiRouter<Api> {
    OpenApiRouter::new()
        .routes(routes!(audit::list))
        .routes(routes!(sales::read))
        .routes(routes!(exports::begin))
        .routes(routes!(exports::read))
        .routes(routes!(posters::upload, posters::remove))
        .routes(routes!(posters::read))
        .layer(Extension(posters::Uploads::default()))
}
