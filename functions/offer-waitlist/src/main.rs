//! The Lambda of `offer-waitlist`: builds its clients and runs.

use onsale_aws::LambdaError;

#[tokio::main]
async fn main() -> Result<(), LambdaError> {
    let observed = onsale_observe::lambda(env!("CARGO_PKG_NAME"));
    let app = onsale_aws::app_from_env()?;
    let setting = std::env::var(offer_waitlist::OFFER_SECONDS).ok();
    let offer_ms = offer_waitlist::offer_ms(setting.as_deref())?;
    onsale_aws::run_consumer(observed, |batch| {
        offer_waitlist::handle(&app, offer_ms, batch)
    })
    .await
}
