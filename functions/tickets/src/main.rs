//! The Lambda of `tickets`: builds its clients and runs.

use std::sync::Arc;

use lambda_http::{Error, run, tracing};
use onsale_domain::ticket_code::TicketKeys;

#[tokio::main]
async fn main() -> Result<(), Error> {
    tracing::init_default_subscriber();
    let api = onsale_http::api_from_env(onsale_aws::app_from_env().await?)?;
    let quotes = std::env::var("QUOTE_PUBLIC_KEYS").unwrap_or_default();
    let api = api.with_quote_keys(onsale_http::QuoteVerifier::parse(&quotes)?);
    let keys = std::env::var("TICKET_PUBLIC_KEYS").map_err(|_| "TICKET_PUBLIC_KEYS is not set")?;
    let keys: TicketKeys = keys.parse()?;
    let (router, _) = onsale_http::openapi::finish(tickets::router(Arc::new(keys)), "tickets");
    run(onsale_http::trace::layer(router.with_state(api))).await
}
