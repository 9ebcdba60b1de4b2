//! Consumes a batch of queue messages, each on its own: a message that fails or panics comes
//! back alone, and the others are done.
//!
//! It knows no queue and no cloud. A host turns its messages into [`Delivery`]s and keeps the
//! messages whose ids are returned.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::time::Instant;

use futures_util::FutureExt;
use futures_util::future::join_all;
use onsale_observe::{Cause, Kind, cause};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// A message that a queue delivered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Delivery {
    pub id: String,
    pub body: String,
    pub attributes: Vec<(String, String)>,
    /// The name of the queue.
    pub queue: String,
}

impl Delivery {
    fn attribute(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        let (_, value) = attributes.find(|(known, _)| known == name)?;
        Some(value)
    }
}

/// Runs `handle` on the bodies of all messages at once. Returns the ids of the messages that
/// failed, which the queue has to deliver again.
pub async fn each<F, Fut>(batch: Vec<Delivery>, handle: F) -> Vec<String>
where
    F: Fn(String) -> Fut,
    Fut: Future<Output = Result<(), String>>,
{
    let outcomes = batch.into_iter().map(|message| one(message, &handle));
    join_all(outcomes).await.into_iter().flatten().collect()
}

/// Like [`each`], for messages that are read as `T`.
pub async fn each_message<T, F, Fut>(batch: Vec<Delivery>, handle: F) -> Vec<String>
where
    T: DeserializeOwned,
    F: Fn(T) -> Fut,
    Fut: Future<Output = Result<(), String>>,
{
    each(batch, |body| {
        let handled = read(&body).map(&handle);
        async move { handled?.await }
    })
    .await
}

/// What serde says of a message may quote it, with an address in it, so it is not passed on.
fn read<T: DeserializeOwned>(body: &str) -> Result<T, String> {
    serde_json::from_str(body).map_err(|_| "not a message of ours".to_owned())
}

/// Returns the id of the message if it failed.
async fn one<F, Fut>(message: Delivery, handle: &F) -> Option<String>
where
    F: Fn(String) -> Fut,
    Fut: Future<Output = Result<(), String>>,
{
    let cause = cause_of(&message);
    let name = format!("process {}", message.queue);
    let handled = |span: tracing::Span| async move {
        let Delivery {
            id, body, queue, ..
        } = message;
        span.record("messaging.message.id", id.as_str());
        let started = Instant::now();
        // The call itself is inside as well: it may panic before the first await.
        let outcome = AssertUnwindSafe(async { handle(body).await })
            .catch_unwind()
            .await;
        let done = matches!(outcome, Ok(Ok(())));
        log(&id, &queue, started, outcome);
        if done {
            return None;
        }
        span.record("otel.status_code", "ERROR");
        Some(id)
    };
    cause.run(Kind::Consumer, name, handled).await
}

/// The body of a message stays out of the log: it is the caller's data.
fn log(id: &str, queue: &str, started: Instant, outcome: std::thread::Result<Result<(), String>>) {
    let ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    match outcome {
        Ok(Ok(())) => tracing::info!(message_id = id, queue, ms, "message"),
        Ok(Err(reason)) => tracing::warn!(
            message_id = id,
            queue,
            ms,
            reason,
            "a message failed and comes back"
        ),
        Err(_) => tracing::error!(
            message_id = id,
            queue,
            ms,
            "a message made its handler panic and comes back"
        ),
    }
}

/// What caused a message: its attributes say so, or the announcement inside if it came by
/// the bus. One that says nothing, such as an old one, begins anew.
pub fn cause_of(message: &Delivery) -> Cause {
    if let Some(id) = message.attribute(cause::REQUEST_ID) {
        return Cause::begin(Some(id), message.attribute(cause::TRACEPARENT));
    }
    let announced: Option<Announced> = serde_json::from_str(&message.body).ok();
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

    fn batch(bodies: &[&str]) -> Vec<Delivery> {
        let message = |(n, body): (usize, &&str)| Delivery {
            id: format!("m{n}"),
            body: (*body).to_owned(),
            ..Delivery::default()
        };
        bodies.iter().enumerate().map(message).collect()
    }

    #[tokio::test]
    async fn only_the_failing_and_the_panicking_message_come_back() {
        let done = AtomicUsize::new(0);
        let batch = batch(&["ok", "panic at once", "fail", "panic later", "ok"]);
        let failed = each(batch, |body| {
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
        assert_eq!(failed, ["m1", "m2", "m3"]);
        assert_eq!(done.load(Ordering::Relaxed), 2);
    }

    #[derive(Deserialize)]
    enum Wake {
        Now,
    }

    #[tokio::test]
    async fn a_message_that_cannot_be_read_comes_back_alone() {
        let done = AtomicUsize::new(0);
        let batch = batch(&[r#""Now""#, r#""ana@example.com""#, "", r#""Now""#]);
        let failed = each_message(batch, |Wake::Now| async {
            done.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
        .await;
        assert_eq!(failed, ["m1", "m2"]);
        assert_eq!(done.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn why_a_message_cannot_be_read_does_not_quote_it() {
        let told = serde_json::from_str::<Wake>(r#""ana@example.com""#).err();
        assert!(told.unwrap().to_string().contains("ana@example.com"));
        let reason = read::<Wake>(r#""ana@example.com""#).err();
        assert_eq!(reason.as_deref(), Some("not a message of ours"));
    }

    fn with_attribute(mut message: Delivery, name: &str, value: &str) -> Delivery {
        message.attributes.push((name.to_owned(), value.to_owned()));
        message
    }

    #[tokio::test]
    async fn a_message_is_handled_under_the_id_of_the_request_that_caused_it() {
        let mut batch = batch(&[
            "{}",
            r#"{"detail":{"version":1,"request_id":"req-bus"}}"#,
            "an old one",
        ]);
        batch[0] = with_attribute(batch[0].clone(), "request_id", "req-7");
        let seen = std::sync::Mutex::new(Vec::new());
        each(batch, |_| async {
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
        let message = with_attribute(Delivery::default(), "request_id", "a b\n{}");
        assert_eq!(cause_of(&message).request_id().len(), 16);
    }

    #[tokio::test]
    async fn an_empty_batch_has_no_failures() {
        let failed = each(Vec::new(), |_| async { Ok(()) }).await;
        assert!(failed.is_empty());
    }
}
