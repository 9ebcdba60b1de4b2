//! The Lambda of `expire-holds`: builds its clients and runs.

use onsale_aws::LambdaError;

#[tokio::main]
async fn main() -> Result<(), LambdaError> {
    let observed = onsale_observe::lambda(env!("CARGO_PKG_NAME"));
    let app = onsale_aws::app_from_env()?;
    onsale_aws::run_consumer(observed, |batch| expire_holds::handle(&app, batch)).await
}
