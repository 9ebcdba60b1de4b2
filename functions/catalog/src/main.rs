//! The Lambda function `catalog`.

use std::sync::Arc;
use std::time::Duration;

use lambda_http::Error;
use onsale_app::App;
use onsale_http::{api_from_env, openapi, trace};
use onsale_search::SnapshotSearch;

/// How long the start waits for the search index. Lambda ends a start after 10 s; what is
/// late goes on arriving, while there are requests to keep the function awake.
const LOADING: Duration = Duration::from_secs(8);

#[tokio::main]
async fn main() -> Result<(), Error> {
    let observed = onsale_observe::lambda(env!("CARGO_PKG_NAME"));
    let mut ports = onsale_aws::ports_from_env()?;
    let folder = std::env::temp_dir().join("search");
    let search = SnapshotSearch::new(ports.objects.clone(), folder)?;
    search.load(LOADING).await;
    ports.search = Arc::new(search);
    let api = api_from_env(App::new(ports))?;
    let (router, _) = openapi::finish(catalog::router(), "catalog");
    lambda_http::run(trace::observed(router.with_state(api), observed)).await
}
