//! The Lambda of `offer-waitlist`: builds its clients and runs.

use aws_lambda_events::event::sqs::SqsEvent;
use lambda_runtime::{Error, LambdaEvent, run, service_fn};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let observed = onsale_observe::lambda(env!("CARGO_PKG_NAME"));
    let app = onsale_aws::app_from_env()?;
    let setting = std::env::var(offer_waitlist::OFFER_SECONDS).ok();
    let offer_ms = offer_waitlist::offer_ms(setting.as_deref())?;
    run(service_fn(|event: LambdaEvent<SqsEvent>| async {
        let handled = offer_waitlist::handle(&app, offer_ms, event.payload);
        Ok::<_, Error>(observed.around(handled).await)
    }))
    .await
}
