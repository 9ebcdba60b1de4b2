//! The Lambda of `organiser`: builds its clients and runs.

use lambda_http::{Error, run, tracing};

#[tokio::main]
async fn main() -> Result<(), Error> {
    tracing::init_default_subscriber();
    let api = onsale_http::api_from_env(onsale_aws::app_from_env().await?)?;
    let (router, _) = onsale_http::openapi::finish(organiser::router(), "organiser");
    run(onsale_http::trace::layer(router.with_state(api))).await
}
