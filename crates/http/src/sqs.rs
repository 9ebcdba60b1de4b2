//! A batch of queue messages, each on its own: one that fails, or panics, comes back
//! alone, and the others are done.

use std::future::Future;
use std::panic::AssertUnwindSafe;

use aws_lambda_events::event::sqs::{SqsBatchResponse, SqsEvent, SqsMessage};
use futures_util::FutureExt;
use futures_util::future::join_all;

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

/// The id of the message if it failed. Its body stays out of the log: it is the
/// caller's data.
async fn one<F, Fut>(message: SqsMessage, handle: &F) -> Option<String>
where
    F: Fn(String) -> Fut,
    Fut: Future<Output = Result<(), String>>,
{
    let id = message.message_id.unwrap_or_default();
    let body = message.body.unwrap_or_default();
    // The call itself is inside as well: it may panic before the first await.
    let outcome = AssertUnwindSafe(async { handle(body).await })
        .catch_unwind()
        .await;
    match outcome {
        Ok(Ok(())) => None,
        Ok(Err(reason)) => {
            tracing::warn!(message = %id, reason, "a message failed and comes back");
            Some(id)
        }
        Err(_) => {
            tracing::error!(message = %id, "a message made its handler panic and comes back");
            Some(id)
        }
    }
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
        let back: Vec<_> = response
            .batch_item_failures
            .iter()
            .map(|failure| failure.item_identifier.as_str())
            .collect();
        assert_eq!(back, ["m1", "m2", "m3"]);
        assert_eq!(done.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn an_empty_batch_has_no_failures() {
        let response = each(SqsEvent::default(), |_| async { Ok(()) }).await;
        assert!(response.batch_item_failures.is_empty());
    }
}
