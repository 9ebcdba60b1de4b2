//! `index-events`: keeps the search index true to the catalogue.
//!
//! A message says that an event changed, and a schedule wakes it every minute. Both only
//! say that it is time to look: what has to be indexed is noted in the table.

use onsale_app::App;
use onsale_consume::{Delivery, cause_of};
use onsale_domain::announcement::{Announcement, News};
use onsale_domain::ids::EventId;
use onsale_observe::{Cause, Kind};
use serde::Deserialize;
use tracing::Span;

/// An announcement as EventBridge puts it into a queue.
#[derive(Debug, Deserialize)]
struct Envelope {
    detail: Announcement,
}

/// One batch is one change of the index, however many messages it has, so all of them come back
/// if it fails. It goes by the id of the request that caused the first of them.
pub async fn handle(app: &App, batch: Vec<Delivery>) -> Vec<String> {
    let cause = batch.first().map_or_else(Cause::fresh, cause_of);
    let run = |span| index(app, batch, span);
    cause.run(Kind::Consumer, "index events", run).await
}

async fn index(app: &App, batch: Vec<Delivery>, span: Span) -> Vec<String> {
    let changed = batch.iter().filter_map(|message| changed(&message.body));
    let hints: Vec<EventId> = changed.collect();
    let messages = batch.len();
    match app.index_events(&hints).await {
        Ok(indexed) => {
            tracing::debug!(messages, indexed, "indexed");
            Vec::new()
        }
        Err(error) => {
            tracing::warn!(messages, reason = %error, "a batch failed and comes back");
            span.record("otel.status_code", "ERROR");
            batch.into_iter().map(|message| message.id).collect()
        }
    }
}

/// The event that a message is about. One that is not ours would fail for ever, and
/// nothing depends on it.
fn changed(body: &str) -> Option<EventId> {
    match serde_json::from_str::<Envelope>(body) {
        Ok(Envelope { detail }) => match detail.news {
            News::EventChanged { event_id } => Some(event_id),
            _ => None,
        },
        // What serde says may quote the message.
        Err(_) => {
            tracing::error!("not a message of ours");
            None
        }
    }
}

/// Looks for what no message told, and builds the index if there is none.
pub async fn sweep(app: &App) -> Result<usize, String> {
    let run = |_| app.index_events(&[]);
    let swept = Cause::fresh()
        .run(Kind::Internal, "sweep events", run)
        .await;
    swept.map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_names_the_event_and_others_name_none() {
        let told = r#"{"version":"0","detail-type":"EventChanged","detail":{"version":1,
            "id":"EventChanged:evt_0192f0c1a2b37c4d8e5f60718293a4b8:3",
            "at":"2027-03-01T09:15:05Z","type":"EventChanged",
            "data":{"event_id":"evt_0192f0c1a2b37c4d8e5f60718293a4b8"}}}"#;
        let event = "evt_0192f0c1a2b37c4d8e5f60718293a4b8".parse().unwrap();
        assert_eq!(changed(told), Some(event));
        assert_eq!(changed("{}"), None);
        assert_eq!(changed("what?"), None);
    }
}
