//! `expire-holds`: ends holds whose time is up.
//!
//! Lapsed places are free without it. It gives the buyer's cap back, keeps the map
//! fresh, and sends a message that came early back for the rest of its wait.

use onsale_app::App;
use onsale_app::ports::ExpireHold;
use onsale_consume::{Delivery, each_message};

pub async fn handle(app: &App, batch: Vec<Delivery>) -> Vec<String> {
    each_message(batch, |message| expire(app, message)).await
}

async fn expire(app: &App, message: ExpireHold) -> Result<(), String> {
    let outcome = app
        .expire_hold(&message)
        .await
        .map_err(|error| error.to_string())?;
    tracing::debug!(hold = %message.hold_id, ?outcome, "expiry");
    Ok(())
}
