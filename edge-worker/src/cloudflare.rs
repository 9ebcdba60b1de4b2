//! The edge as a Cloudflare worker. Everything here is glue: it turns what the runtime
//! has into what [`crate::host`] names, and decides nothing.
//!
//! A panic ends the WebAssembly instance, and with it every request that is under way in
//! it. `shim.mjs` answers those 503 and starts another instance for the next request; the
//! objects load what they had stored.

mod messages;
mod object_alarm;
mod object_calls;
mod object_links;
mod object_storage;
mod outgoing;
mod room_controller;
mod room_counter;
mod room_gate;
mod seat_feed;
mod settings;
mod watching;
mod worker_host;

use worker::{Context, Env, Request, Response, console_error, event};

use self::messages::{ObjectCalls, response};
use self::object_calls::{Object, TIMEOUT_MS};
use self::outgoing::within;
use self::worker_host::WorkerHost;
use crate::answer::Problem;
use crate::edge::{FeedKind, FeedRequest, Reply};
use crate::host::Trouble;
use crate::watching::Watcher;

/// Set by Cloudflare, and by nobody else in front of it.
const ADDRESS_HEADER: &str = "cf-connecting-ip";

#[event(fetch)]
async fn answer(request: Request, env: Env, context: Context) -> worker::Result<Response> {
    let settings = match settings::of_isolate(&env) {
        Ok(settings) => settings,
        Err(why) => {
            console_error!("the worker is not set up: {why}");
            let problem = Problem::unavailable_detail(
                "This service is not set up completely. Its operator can read why in the log.",
            );
            return response(problem.retry_after(60).answer());
        }
    };
    let incoming = match messages::incoming(request.inner()).await {
        Ok(incoming) => incoming,
        Err(problem) => return response(problem.answer()),
    };
    let address = request.headers().get(ADDRESS_HEADER)?;
    let address = address.as_deref().unwrap_or("unknown");
    let host = WorkerHost::new(env, context, settings.functions.clone());
    let watcher = Watcher::of(incoming.uri(), incoming.headers());
    match settings.edge.handle(&host, incoming, address).await {
        Reply::Answer(mut answer) => {
            if settings.tells_object_calls {
                ObjectCalls(host.object_calls()).tell(&mut answer);
            }
            response(answer)
        }
        Reply::Feed(feed) => seat_feed(&host, &feed).await,
        Reply::Watch(subject) => watching::open(host, watcher, subject).await,
    }
}

/// Hands a watcher over to the feed object of the show.
async fn seat_feed(host: &WorkerHost, feed: &FeedRequest) -> worker::Result<Response> {
    let mut url = "https://object/watch".to_owned();
    if let Some(since) = feed.since {
        url += &format!("?since={since}");
    }
    let mut request = Request::new(&url, worker::Method::Get)?;
    let headers = request.headers_mut()?;
    match feed.kind {
        FeedKind::WebSocket => headers.set("upgrade", "websocket")?,
        FeedKind::EventStream => headers.set("accept", "text/event-stream")?,
    }
    let watched = async {
        let stub = Object::Feed(feed.show).stub(host.env())?;
        let opened = within(TIMEOUT_MS, stub.fetch_with_request(request)).await?;
        opened.map_err(Trouble::new)
    };
    watched.await.or_else(|trouble| {
        console_error!("the feed of {} does not answer: {trouble}", feed.show);
        response(Problem::unavailable().answer())
    })
}
