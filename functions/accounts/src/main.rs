//! The Lambda `accounts`.

use std::sync::Arc;

use onsale_http::{SessionSigner, api_from_env, openapi, trace};

#[tokio::main]
async fn main() -> Result<(), lambda_http::Error> {
    let observed = onsale_observe::lambda(env!("CARGO_PKG_NAME"));
    let api = api_from_env(onsale_aws::app_from_env()?)?;
    let signer = Arc::new(SessionSigner::from_env()?);
    let router = accounts::router(signer, accounts::reset_keys_from_env()?);
    let (router, _) = openapi::finish(router, "accounts");
    lambda_http::run(trace::observed(router.with_state(api), observed)).await
}
