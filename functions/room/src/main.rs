//! The Lambda of `room`: builds its clients and runs.

use lambda_http::{Error, run};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let observed = onsale_observe::lambda(env!("CARGO_PKG_NAME"));
    let api = onsale_http::api_from_env(onsale_aws::app_from_env()?)?;
    let router = room::router(room::RoomKeys::from_env()?);
    let (router, _) = onsale_http::openapi::finish(router, "room");
    run(onsale_http::trace::observed(
        router.with_state(api),
        observed,
    ))
    .await
}
