//! `offer-waitlist`: offers places that came back to those who wait for them.
//!
//! A message only says where to look; what there is to do is read from the store. It
//! comes from whoever gave places back, or from the bus.

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent};
use onsale_app::App;
use onsale_app::ports::OfferPlaces;
use onsale_domain::announcement::{Announcement, News};
use onsale_domain::ids::ShowId;
use serde::Deserialize;

pub async fn handle(app: App, event: SqsEvent) -> SqsBatchResponse {
    onsale_http::sqs::each(event, |body| {
        let app = app.clone();
        async move { look(&app, &body).await }
    })
    .await
}

async fn look(app: &App, body: &str) -> Result<(), String> {
    let message: Message =
        serde_json::from_str(body).map_err(|error| format!("not a message of ours: {error}"))?;
    let message = match message {
        Message::Asked(asked) => asked,
        Message::Announced { detail } => match show_of(&detail.news) {
            // What was announced has happened by now, whenever that was.
            Some(show_id) => OfferPlaces {
                show_id,
                since: app.now(),
            },
            None => return Ok(()),
        },
    };
    let outcome = app.offer_places(&message).await;
    let outcome = outcome.map_err(|error| error.to_string())?;
    tracing::debug!(show = %message.show_id, ?outcome, "waitlist");
    Ok(())
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Message {
    Asked(OfferPlaces),
    /// An event of the bus, in its envelope.
    Announced {
        detail: Announcement,
    },
}

/// The show in which an announcement may have something to offer, or to end.
fn show_of(news: &News) -> Option<ShowId> {
    match news {
        News::SeatsReturned { show_id, .. } | News::ShowCancelled { show_id, .. } => Some(*show_id),
        _ => None,
    }
}
