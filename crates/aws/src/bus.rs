//! Announcements on EventBridge.
//!
//! A request that succeeds may still have turned down some of its entries: only those
//! are sent again.

use async_trait::async_trait;
use aws_sdk_eventbridge::Client;
use aws_sdk_eventbridge::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_eventbridge::types::PutEventsRequestEntry;
use onsale_app::ports::{Bus, StoreError, Stored};
use onsale_domain::announcement::{Announcement, SOURCE};
use onsale_observe::Cause;
use serde::Serialize;

use crate::pause::before_retry;

/// EventBridge takes at most this many entries in one request.
const PUT_EVENTS: usize = 10;
/// An entry is turned down for a moment when the bus is busy: six tries with growing
/// pauses wait up to 155 ms before the caller is asked to come back.
const TRIES: u32 = 6;

/// An announcement and what caused it. A repetition may name another cause; what was
/// announced is the same.
#[derive(Serialize)]
struct Told<'a> {
    #[serde(flatten)]
    announcement: &'a Announcement,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    traceparent: Option<String>,
}

#[derive(Debug, Clone)]
pub struct EventBridgeBus {
    client: Client,
    name: String,
}

impl EventBridgeBus {
    pub fn new(client: Client, name: impl Into<String>) -> Self {
        let name = name.into();
        Self { client, name }
    }

    fn entry(&self, announcement: &Announcement) -> Stored<PutEventsRequestEntry> {
        let cause = Cause::current();
        let told = Told {
            announcement,
            request_id: cause.as_ref().map(Cause::request_id),
            traceparent: cause.as_ref().and_then(Cause::trace).map(|t| t.to_string()),
        };
        let detail =
            serde_json::to_string(&told).map_err(|e| StoreError::Corrupt(e.to_string()))?;
        Ok(PutEventsRequestEntry::builder()
            .event_bus_name(&self.name)
            .source(SOURCE)
            .detail_type(announcement.news.kind())
            .detail(detail)
            .build())
    }

    async fn put(&self, mut entries: Vec<PutEventsRequestEntry>) -> Stored<()> {
        let mut refusal = String::new();
        for pause in 0..TRIES {
            let put = self.client.put_events().set_entries(Some(entries.clone()));
            let answer = put.send().await.map_err(unavailable)?;
            if answer.failed_entry_count() == 0 {
                return Ok(());
            }
            // The answers stand in the order of the entries.
            let mut refusals = answer.entries().iter().map(|entry| entry.error_code());
            entries.retain(|_| match refusals.next() {
                Some(None) => false,
                Some(Some(code)) => {
                    code.clone_into(&mut refusal);
                    true
                }
                None => true,
            });
            before_retry(pause).await;
        }
        tracing::warn!(refusal, left = entries.len(), "the bus turns entries down");
        Err(StoreError::Unavailable(format!("bus: {refusal}")))
    }
}

fn unavailable<E: ProvideErrorMetadata, R>(error: SdkError<E, R>) -> StoreError {
    let code = match &error {
        SdkError::ServiceError(service) => service.err().code().unwrap_or("error"),
        _ => "no answer",
    };
    StoreError::Unavailable(format!("bus: {code}"))
}

#[async_trait]
impl Bus for EventBridgeBus {
    async fn announce(&self, announcements: &[Announcement]) -> Stored<()> {
        for chunk in announcements.chunks(PUT_EVENTS) {
            let entries = chunk.iter().map(|told| self.entry(told));
            self.put(entries.collect::<Stored<_>>()?).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "bus_tests.rs"]
mod tests;
