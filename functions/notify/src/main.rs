//! The Lambda of `notify`: builds its clients and runs.

use std::sync::Arc;

use aws_lambda_events::event::sqs::SqsEvent;
use lambda_runtime::{Error, LambdaEvent, run, service_fn};
use onsale_aws::{AwsConfig, app_from_env};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let observed = onsale_observe::lambda(env!("CARGO_PKG_NAME"));
    let app = app_from_env().await?;
    let settings = notify::settings(|name| std::env::var(name).ok())?;
    let sender = settings.sender.address.as_str().to_owned();
    let reports = std::env::var("MAIL_CONFIGURATION_SET").ok();
    let reports = reports.filter(|name| !name.is_empty());
    let mailer = AwsConfig::from_env()?.mailer(sender).reporting_to(reports);
    let (app, post) = (&app, &notify::post(Arc::new(mailer), settings));
    run(service_fn(|event: LambdaEvent<SqsEvent>| async {
        let handled = notify::handle(app, post, event.payload);
        Ok::<_, Error>(observed.around(handled).await)
    }))
    .await
}
