//! `drive-saga`: performs the steps of orders, one message at a time.
//!
//! A step that cannot be done now is put off by sending its message again, with growing
//! pauses. A message that kills its worker again and again ends in the dead letters;
//! they are consumed here too, and park the order where somebody looks at it.

use onsale_app::App;
use onsale_app::ports::Drive;
use onsale_consume::{Delivery, each_message};

/// `dead_letters` is the name of the dead-letter queue.
pub async fn handle(app: &App, dead_letters: &str, batch: Vec<Delivery>) -> Vec<String> {
    // A batch comes from one queue.
    let dead = batch.iter().any(|message| message.queue == dead_letters);
    each_message(batch, |message: Drive| async move {
        match dead {
            false => app.drive(&message).await.map_err(|e| e.to_string()),
            true => bury(app, &message).await.map_err(|e| e.to_string()),
        }
    })
    .await
}

/// A message that is not ours fails here for ever: it stays in the dead letters, whose
/// alarm stays on.
async fn bury(app: &App, message: &Drive) -> onsale_app::Result<()> {
    match message {
        Drive::Order { order_id, .. } => {
            let reason = "its message failed again and again";
            app.park_order(*order_id, reason).await
        }
        Drive::Cancellation { show_id, .. } => {
            // Reconciling sends it again every two minutes; here it is only reported.
            tracing::error!(show = %show_id, "a message of a cancellation failed again and again");
            Ok(())
        }
        Drive::ChargeBack { order_id, .. } => {
            // Reconciling sends it again every hour.
            tracing::error!(order = %order_id, "a charge-back failed again and again");
            Ok(())
        }
        Drive::Reset { .. } | Drive::Deletion { .. } => {
            // Reconciling sends these again as well.
            tracing::error!(
                ?message,
                "a message about an account failed again and again"
            );
            Ok(())
        }
    }
}
