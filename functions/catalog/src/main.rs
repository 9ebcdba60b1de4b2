//! The Lambda function `catalog`.

use lambda_http::Error;
use onsale_http::{api_from_env, openapi, trace};

#[tokio::main]
async fn main() -> Result<(), Error> {
    lambda_http::tracing::init_default_subscriber();
    let api = api_from_env(onsale_aws::app_from_env().await?)?;
    let (router, _) = openapi::finish(catalog::router(), "catalog");
    lambda_http::run(trace::layer(router.with_state(api))).await
}
