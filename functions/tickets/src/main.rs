//! The Lambda of `tickets`: builds its clients and runs.

use std::sync::Arc;

use lambda_http::{Error, run};
use onsale_app::App;
use onsale_domain::ticket_code::{TicketKey, TicketKeys};

#[tokio::main]
async fn main() -> Result<(), Error> {
    let observed = onsale_observe::lambda(env!("CARGO_PKG_NAME"));
    let need = |name: &str| std::env::var(name).map_err(|_| format!("{name} is not set"));
    let mut ports = onsale_aws::ports_from_env()?;
    ports.ticket_signer = Arc::new(need("TICKET_SIGNING_KEY")?.parse::<TicketKey>()?);
    let quotes = std::env::var("QUOTE_PUBLIC_KEYS").unwrap_or_default();
    let api = onsale_http::api_from_env(App::new(ports))?
        .with_quote_keys(onsale_http::QuoteVerifier::parse(&quotes)?);
    let keys: TicketKeys = need("TICKET_PUBLIC_KEYS")?.parse()?;
    let router = tickets::router(Arc::new(keys), tickets::Seller::from_env());
    let (router, _) = onsale_http::openapi::finish(router, "tickets");
    run(onsale_http::trace::observed(
        router.with_state(api),
        observed,
    ))
    .await
}
