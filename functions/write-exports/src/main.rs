//! The Lambda of `write-exports`: builds its clients and runs.

use aws_lambda_events::event::sqs::SqsEvent;
use lambda_runtime::{Error, LambdaEvent, run, service_fn};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let observed = onsale_observe::lambda(env!("CARGO_PKG_NAME"));
    let app = onsale_aws::app_from_env()?;
    run(service_fn(|event: LambdaEvent<SqsEvent>| async {
        let handled = write_exports::handle(&app, event.payload);
        Ok::<_, Error>(observed.around(handled).await)
    }))
    .await
}
