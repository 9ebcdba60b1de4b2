//! The Lambda of `reconcile`: builds its clients and runs.

use std::sync::Arc;

use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use onsale_app::App;
use onsale_app::unplugged::Unplugged;
use onsale_aws::{AwsConfig, Wires};
use onsale_machine::SystemClock;
use onsale_payments::Provider;
use reconcile::Request;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let observed = onsale_observe::lambda(env!("CARGO_PKG_NAME"));
    let (config, wires) = (AwsConfig::from_env()?, Wires::from_env()?);
    let store = config.store(&wires);
    let payments = Provider::from_env(store, Arc::new(SystemClock))?.payments;
    let ports = config.ports(&wires, payments, Arc::new(Unplugged));
    let (app, observed) = (&App::new(ports), &observed);
    run(service_fn(|event: LambdaEvent<Request>| async move {
        let handled = reconcile::handle(app, event.payload);
        observed.around(handled).await.map_err(Error::from)
    }))
    .await
}
