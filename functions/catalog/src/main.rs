//! The Lambda function `catalog`.

use std::sync::Arc;

use lambda_http::Error;
use onsale_app::App;
use onsale_http::{api_from_env, openapi, trace};
use onsale_search::SnapshotSearch;

#[tokio::main]
async fn main() -> Result<(), Error> {
    lambda_http::tracing::init_default_subscriber();
    let mut ports = onsale_aws::ports_from_env()?;
    let folder = std::env::temp_dir().join("search");
    ports.search = Arc::new(SnapshotSearch::new(ports.objects.clone(), folder)?);
    let api = api_from_env(App::new(ports))?;
    let (router, _) = openapi::finish(catalog::router(), "catalog");
    lambda_http::run(trace::layer(router.with_state(api))).await
}
