//! What is watched, as a stream that lives in one request.

use futures_util::stream;
use worker::{Error, Response, ResponseBuilder};

use super::messages::response;
use super::worker_host::WorkerHost;
use crate::host::Host as _;
use crate::watching::{Subject, Watcher};

pub async fn open(
    host: WorkerHost,
    watcher: Watcher,
    subject: Subject,
) -> worker::Result<Response> {
    let watch = match watcher.watch(&host, subject).await {
        Ok(watch) => watch,
        Err(answer) => return response(answer),
    };
    let first = Some(watch.event());
    let events = stream::unfold((host, watch, first), |(host, mut watch, first)| async {
        if let Some(first) = first {
            return Some((Ok::<_, Error>(first.into_bytes()), (host, watch, None)));
        }
        while !watch.is_over() {
            host.sleep(watch.pause_ms()).await;
            if let Some(event) = watch.next(&host).await {
                return Some((Ok(event.into_bytes()), (host, watch, None)));
            }
        }
        None
    });
    ResponseBuilder::new()
        .with_header("content-type", "text/event-stream")?
        .with_header("cache-control", "no-store")?
        .from_stream(events)
}
