//! The Lambda of `checkout`: builds its clients and runs.

use std::sync::Arc;

use lambda_http::{Error, run};
use onsale_app::App;
use onsale_app::unplugged::Unplugged;
use onsale_aws::{AwsConfig, Wires};
use onsale_machine::SystemClock;
use onsale_payments::Provider;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let observed = onsale_observe::lambda(env!("CARGO_PKG_NAME"));
    let (config, wires) = (AwsConfig::from_env()?, Wires::from_env()?);
    let store = config.store(&wires);
    let provider = Provider::from_env(store, Arc::new(SystemClock))?;
    let ports = config.ports(&wires, provider.payments, Arc::new(Unplugged));
    let work = onsale_http::WorkGate::from_env()?;
    let api = onsale_http::api_from_env(App::new(ports))?.with_work(work);
    let router = checkout::router(provider.webhooks, provider.settings);
    let (router, _) = onsale_http::openapi::finish(router, "checkout");
    run(onsale_http::trace::observed(
        router.with_state(api),
        observed,
    ))
    .await
}
