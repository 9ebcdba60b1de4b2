//! The Lambda of `room`: builds its clients and runs.

use lambda_http::{Error, run, tracing};

#[tokio::main]
async fn main() -> Result<(), Error> {
    tracing::init_default_subscriber();
    let api = onsale_http::api_from_env(onsale_aws::app_from_env().await?)?;
    let fan_keys = match std::env::var("FAN_KEYS") {
        Ok(text) if !text.is_empty() => Some(text.parse().map_err(|e| format!("FAN_KEYS: {e}"))?),
        _ => None,
    };
    let (router, _) = onsale_http::openapi::finish(room::router(fan_keys), "room");
    run(onsale_http::trace::layer(router.with_state(api))).await
}
