//! The edge as a Cloudflare worker. Everything here is glue: it turns what the runtime
//! has into what [`crate::host`] names, and decides nothing.
//!
//! A panic ends the WebAssembly instance, and with it every request that is under way in
//! it. `shim.mjs` answers those 503 and starts another instance for the next request; the
//! objects load what they had stored.

mod local_time;
mod messages;
mod object_alarm;
mod object_calls;
mod object_links;
mod object_storage;
mod older_file;
mod outgoing;
mod room_controller;
mod room_counter;
mod room_gate;
mod room_reminders;
mod seat_feed;
mod settings;
mod watching;
mod worker_host;

use std::future::Future;
use std::pin::Pin;
use std::task::{self, Poll, Waker};

use worker::wasm_bindgen::{self, JsValue, prelude::wasm_bindgen};
use worker::wasm_bindgen_futures::future_to_promise;
use worker::{Context, Env, Request, Response, console_error, web_sys, worker_sys};

pub(crate) use self::local_time::local_time;
use self::messages::{Arrived, ObjectCalls, responded, response};
use self::object_calls::feed_stub;
use self::outgoing::within;
use self::worker_host::WorkerHost;
use crate::answer::Problem;
use crate::edge::{FeedKind, FeedRequest, Reply};
use crate::host::Trouble;
use crate::objects::wire::TIMEOUT_MS;

/// Set by Cloudflare, and by nobody else in front of it.
const ADDRESS_HEADER: &str = "cf-connecting-ip";

/// Answers a request: with a response, or with the promise of one.
///
/// Most of what is asked is a poll, and that is answered from memory. So the work is begun
/// here and now, and becomes a promise only where it has to wait for somebody. `shim.mjs`
/// reads method, address and headers, for each step from here to there and back costs more
/// than all that is decided about a poll.
#[wasm_bindgen]
pub fn answer(
    request: web_sys::Request,
    method: &str,
    url: &str,
    headers: &str,
    env: Env,
    context: worker_sys::Context,
) -> JsValue {
    let arrived = Arrived::read(request, method, url, headers);
    let work = answered(arrived, env, Context::new(context));
    match at_once(work) {
        Ok(answer) => answer,
        Err(later) => future_to_promise(async { Ok(later.await) }).into(),
    }
}

/// What a future comes to, if it need not wait; or else the future, to be waited for.
fn at_once<F: Future>(work: F) -> Result<F::Output, Pin<Box<F>>> {
    let mut work = Box::pin(work);
    let mut nobody = task::Context::from_waker(Waker::noop());
    match work.as_mut().poll(&mut nobody) {
        Poll::Ready(output) => Ok(output),
        Poll::Pending => Err(work),
    }
}

async fn answered(arrived: Result<Arrived, Problem>, env: Env, context: Context) -> JsValue {
    let answered = match arrived {
        Ok(arrived) => handled(arrived, env, context).await,
        Err(problem) => Ok(responded(&problem.answer())),
    };
    answered.unwrap_or_else(|error| {
        console_error!("an answer could not be given: {error}");
        responded(&Problem::unavailable().answer())
    })
}

async fn handled(arrived: Arrived, env: Env, context: Context) -> worker::Result<JsValue> {
    let settings = match settings::of_isolate(&env) {
        Ok(settings) => settings,
        Err(why) => {
            console_error!("the worker is not set up: {why}");
            let problem = Problem::unavailable_detail(
                "This service is not set up completely. Its operator can read why in the log.",
            );
            return Ok(responded(&problem.retry_after(60).answer()));
        }
    };
    let incoming = match arrived.whole().await {
        Ok(incoming) => incoming,
        Err(problem) => return Ok(responded(&problem.answer())),
    };
    if let Some(file) = older_file::older_file(&env, incoming.uri().path()).await {
        return Ok(responded(&file));
    }
    let address = incoming.headers().get(ADDRESS_HEADER).cloned();
    let address = address.as_ref().and_then(|value| value.to_str().ok());
    let address = address.unwrap_or("unknown");
    let host = WorkerHost::new(env, context, settings.functions.clone());
    let opened = match settings.edge.handle(&host, incoming, address).await {
        Reply::Answer(mut answer) => {
            if settings.tells_object_calls {
                ObjectCalls(host.object_calls()).tell(&mut answer);
            }
            return Ok(responded(&answer));
        }
        Reply::Feed(feed) => seat_feed(&host, &feed).await,
        Reply::Watch(subject, watcher) => watching::open(host, watcher, subject).await,
    };
    opened.map(|response| web_sys::Response::from(response).into())
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
        let stub = feed_stub(host.env(), feed.show)?;
        let opened = within(TIMEOUT_MS, stub.fetch_with_request(request)).await?;
        opened.map_err(Trouble::new)
    };
    watched.await.or_else(|trouble| {
        console_error!("the feed of {} does not answer: {trouble}", feed.show);
        response(Problem::unavailable().answer())
    })
}
