//! A batch of queue messages, each on its own: one that fails, or panics, comes back
//! alone, and the others are done.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Instant;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use futures_util::FutureExt;
use futures_util::future::join_all;
use onsale_observe::{Cause, Kind, cause};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Runs `handle` on every message at once and names those that have to come back.
/// The consumer's event source must report batch item failures.
pub async fn each<F, Fut>(event: SqsEvent, handle: F) -> SqsBatchResponse
where
    F: Fn(String) -> Fut,
    Fut: Future<Output = Result<(), String>>,
{
    let outcomes = event
        .records
        .into_iter()
        .map(|message| one(message, &handle));
    let mut response = SqsBatchResponse::default();
    for failed in join_all(outcomes).await.into_iter().flatten() {
        response.add_failure(failed);
    }
    response
}

/// The same as [`each`], of messages that are read as `T`.
pub async fn each_message<T, F, Fut>(event: SqsEvent, handle: F) -> SqsBatchResponse
where
    T: DeserializeOwned,
    F: Fn(T) -> Fut,
    Fut: Future<Output = Result<(), String>>,
{
    each(event, |body| {
        let handled = read(&body).map(&handle);
        async move { handled?.await }
    })
    .await
}

/// What serde says of a message may quote it, with an address in it, so it is not passed on.
fn read<T: DeserializeOwned>(body: &str) -> Result<T, String> {
    serde_json::from_str(body).map_err(|_| "not a message of ours".to_owned())
}

/// The id of the message if it failed. Its body stays out of the log: it is the
/// caller's data.
async fn one<F, Fut>(message: SqsMessage, handle: &F) -> Option<String>
where
    F: Fn(String) -> Fut,
    Fut: Future<Output = Result<(), String>>,
{
    let queue = queue_of(&message);
    let (cause, name) = (cause_of(&message), format!("process {queue}"));
    let handled = |span: tracing::Span| async move {
        let started = Instant::now();
        let id = message.message_id.unwrap_or_default();
        let body = message.body.unwrap_or_default();
        span.record("messaging.message.id", id.as_str());
        // The call itself is inside as well: it may panic before the first await.
        let outcome = AssertUnwindSafe(async { handle(body).await })
            .catch_unwind()
            .await;
        let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let failed = match outcome {
            Ok(Ok(())) => {
                tracing::info!(message_id = id, queue, ms, "message");
                return None;
            }
            Ok(Err(reason)) => {
                tracing::warn!(
                    message_id = id,
                    queue,
                    ms,
                    reason,
                    "a message failed and comes back"
                );
                id
            }
            Err(_) => {
                tracing::error!(
                    message_id = id,
                    queue,
                    ms,
                    "a message made its handler panic and comes back"
                );
                id
            }
        };
        span.record("otel.status_code", "ERROR");
        Some(failed)
    };
    cause.run(Kind::Consumer, name, handled).await
}

/// The name of a queue is the end of its ARN.
fn queue_of(message: &SqsMessage) -> String {
    let arn = message.event_source_arn.as_deref().unwrap_or_default();
    arn.rsplit(':').next().unwrap_or_default().to_owned()
}

/// What caused a message: its attributes say so, or the announcement inside if it came by
/// the bus. One that says nothing, such as an old one, begins anew.
pub fn cause_of(message: &SqsMessage) -> Cause {
    let attribute = |name: &str| {
        message
            .message_attributes
            .get(name)?
            .string_value
            .as_deref()
    };
    if let Some(id) = attribute(cause::REQUEST_ID) {
        return Cause::begin(Some(id), attribute(cause::TRACEPARENT));
    }
    let body = message.body.as_deref().unwrap_or_default();
    let announced: Option<Announced> = serde_json::from_str(body).ok();
    let Announced { detail } = announced.unwrap_or_default();
    Cause::begin(detail.request_id.as_deref(), detail.traceparent.as_deref())
}

/// An event of the bus, as far as it matters here.
#[derive(Debug, Default, Deserialize)]
struct Announced {
    detail: Told,
}

#[derive(Debug, Default, Deserialize)]
struct Told {
    request_id: Option<String>,
    traceparent: Option<String>,
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    fn batch(bodies: &[&str]) -> SqsEvent {
        let message = |(n, body): (usize, &&str)| {
            let mut message = SqsMessage::default();
            message.message_id = Some(format!("m{n}"));
            message.body = Some((*body).to_owned());
            message
        };
        let mut event = SqsEvent::default();
        event.records = bodies.iter().enumerate().map(message).collect();
        event
    }

    fn coming_back(response: &SqsBatchResponse) -> Vec<&str> {
        let failures = response.batch_item_failures.iter();
        failures
            .map(|failure| failure.item_identifier.as_str())
            .collect()
    }

    #[tokio::test]
    async fn only_the_failing_and_the_panicking_message_come_back() {
        let done = AtomicUsize::new(0);
        let event = batch(&["ok", "panic at once", "fail", "panic later", "ok"]);
        let response = each(event, |body| {
            assert_ne!(body, "panic at once");
            let done = &done;
            async move {
                futures_util::future::ready(()).await;
                assert_ne!(body, "panic later");
                if body == "fail" {
                    return Err("not today".to_owned());
                }
                done.fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
        })
        .await;
        assert_eq!(coming_back(&response), ["m1", "m2", "m3"]);
        assert_eq!(done.load(Ordering::Relaxed), 2);
    }

    #[derive(Deserialize)]
    enum Wake {
        Now,
    }

    #[tokio::test]
    async fn a_message_that_cannot_be_read_comes_back_alone() {
        let done = AtomicUsize::new(0);
        let event = batch(&[r#""Now""#, r#""ana@example.com""#, "", r#""Now""#]);
        let response = each_message(event, |Wake::Now| async {
            done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
        .await;
        assert_eq!(coming_back(&response), ["m1", "m2"]);
        assert_eq!(done.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn why_a_message_cannot_be_read_does_not_quote_it() {
        let told = serde_json::from_str::<Wake>(r#""ana@example.com""#).err();
        assert!(told.unwrap().to_string().contains("ana@example.com"));
        let reason = read::<Wake>(r#""ana@example.com""#).err();
        assert_eq!(reason.as_deref(), Some("not a message of ours"));
    }

    fn with_attribute(mut message: SqsMessage, name: &str, value: &str) -> SqsMessage {
        let attribute = serde_json::json!({"stringValue": value, "dataType": "String"});
        let attribute = serde_json::from_value(attribute).unwrap();
        message
            .message_attributes
            .insert(name.to_owned(), attribute);
        message
    }

    #[tokio::test]
    async fn a_message_is_handled_under_the_id_of_the_request_that_caused_it() {
        let mut event = batch(&[
            "{}",
            r#"{"detail":{"version":1,"request_id":"req-bus"}}"#,
            "an old one",
        ]);
        let first = event.records.remove(0);
        let first = with_attribute(first, "request_id", "req-7");
        event.records.insert(0, first);
        let seen = std::sync::Mutex::new(Vec::new());
        each(event, |_| async {
            let cause = Cause::current().unwrap();
            seen.lock().unwrap().push(cause.request_id().to_owned());
            Ok(())
        })
        .await;
        let seen = seen.into_inner().unwrap();
        assert_eq!(seen[..2], ["req-7", "req-bus"]);
        assert_eq!(seen[2].len(), 16);
    }

    #[test]
    fn an_id_that_is_no_id_is_not_taken_from_a_message() {
        let message = with_attribute(SqsMessage::default(), "request_id", "a b\n{}");
        assert_eq!(cause_of(&message).request_id().len(), 16);
    }

    #[tokio::test]
    async fn an_empty_batch_has_no_failures() {
        let response = each(SqsEvent::default(), |_| async { Ok(()) }).await;
        assert!(response.batch_item_failures.is_empty());
    }
}
