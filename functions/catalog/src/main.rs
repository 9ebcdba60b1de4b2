//! The Lambda function `catalog`.

use std::sync::Arc;

use lambda_http::Error;
use onsale_app::App;
use onsale_http::{api_from_env, openapi, trace};
use onsale_search::SnapshotSearch;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let observed = onsale_observe::lambda(env!("CARGO_PKG_NAME"));
    let mut ports = onsale_aws::ports_from_env()?;
    let folder = std::env::temp_dir().join("search");
    ports.search = Arc::new(SnapshotSearch::new(ports.objects.clone(), folder)?);
    let api = api_from_env(App::new(ports))?;
    let (router, _) = openapi::finish(catalog::router(), "catalog");
    lambda_http::run(trace::observed(router.with_state(api), observed)).await
}
