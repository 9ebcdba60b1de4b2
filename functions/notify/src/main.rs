//! The Lambda of `notify`: builds its clients and runs.

use std::sync::Arc;

use onsale_app::App;
use onsale_app::unplugged::Unplugged;
use onsale_aws::{AwsConfig, LambdaError, Wires};

#[tokio::main]
async fn main() -> Result<(), LambdaError> {
    let observed = onsale_observe::lambda(env!("CARGO_PKG_NAME"));
    let (config, wires) = (AwsConfig::from_env()?, Wires::from_env()?);
    let ports = config.ports(&wires, Arc::new(Unplugged), Arc::new(Unplugged));
    let settings = notify::settings(|name| std::env::var(name).ok())?;
    let sender = settings.sender.address.as_str().to_owned();
    let reports = std::env::var("MAIL_CONFIGURATION_SET").ok();
    let reports = reports.filter(|name| !name.is_empty());
    let mailer = config.mailer(sender).reporting_to(reports);
    let (app, post) = (&App::new(ports), &notify::post(Arc::new(mailer), settings));
    onsale_aws::run_consumer(observed, |batch| notify::handle(app, post, batch)).await
}
