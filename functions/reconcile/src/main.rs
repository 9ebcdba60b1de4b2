//! The Lambda of `reconcile`: builds its clients and runs.

use std::sync::Arc;

use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use onsale_app::App;
use onsale_aws::{AwsConfig, SystemClock, Wires, ports_from_env};
use onsale_payments::Provider;
use reconcile::Request;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let observed = onsale_observe::lambda(env!("CARGO_PKG_NAME"));
    let store = AwsConfig::from_env()?.store(&Wires::from_env()?);
    let mut ports = ports_from_env()?;
    ports.payments = Provider::from_env(Arc::new(store), Arc::new(SystemClock))?.payments;
    let (app, observed) = (&App::new(ports), &observed);
    run(service_fn(|event: LambdaEvent<Request>| async move {
        let handled = reconcile::handle(app, event.payload);
        Ok::<_, Error>(observed.around(handled).await?.to_string())
    }))
    .await
}
