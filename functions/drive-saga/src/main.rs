//! The Lambda of `drive-saga`: builds its clients and runs.

use std::sync::Arc;

use onsale_app::App;
use onsale_aws::{AwsConfig, LambdaError, Wires};
use onsale_domain::ticket_code::TicketKey;
use onsale_machine::SystemClock;
use onsale_payments::Provider;

#[tokio::main]
async fn main() -> Result<(), LambdaError> {
    let observed = onsale_observe::lambda(env!("CARGO_PKG_NAME"));
    let need = |name: &str| std::env::var(name).map_err(|_| format!("{name} is not set"));
    let (config, wires) = (AwsConfig::from_env()?, Wires::from_env()?);
    let store = config.store(&wires);
    let payments = Provider::from_env(store, Arc::new(SystemClock))?.payments;
    let signer = need("TICKET_SIGNING_KEY")?.parse::<TicketKey>()?;
    let ports = config.ports(&wires, payments, Arc::new(signer));
    let (app, dead_letters) = (App::new(ports), need("SAGA_DEAD_LETTERS_ARN")?);
    let dead_letters = onsale_aws::queue_name(&dead_letters);
    onsale_aws::run_consumer(observed, |batch| {
        drive_saga::handle(&app, dead_letters, batch)
    })
    .await
}
