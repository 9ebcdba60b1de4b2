//! `expire-holds`: ends holds whose time is up.
//!
//! Lapsed places are free without it. It gives the buyer's cap back, keeps the map
//! fresh, and sends a message that came early back for the rest of its wait.

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent};
use onsale_app::App;
use onsale_app::ports::ExpireHold;

pub async fn handle(app: &App, event: SqsEvent) -> SqsBatchResponse {
    onsale_http::sqs::each_message(event, |message| expire(app, message)).await
}

async fn expire(app: &App, message: ExpireHold) -> Result<(), String> {
    let outcome = app
        .expire_hold(&message)
        .await
        .map_err(|error| error.to_string())?;
    tracing::debug!(hold = %message.hold_id, ?outcome, "expiry");
    Ok(())
}
