//! Requests to the functions and to other services, with a limit on time and size.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Poll, Waker};
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, header};
use worker::{AbortController, AbortSignal, ByteStream, Delay, Fetch};

use super::messages::{self, Unread};
use super::settings::Functions;
use crate::host::{Told, Trouble};

/// Lambda answers with 6 MB at most.
const MAX_ANSWER: usize = 8 << 20;
const FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Sends a request to a function. The function learns which address the visitor sees:
/// origins and cookies depend on it.
pub async fn to_function(
    functions: &Functions,
    name: &str,
    mut request: Request<Vec<u8>>,
    timeout_ms: u64,
) -> Told<Response<Vec<u8>>> {
    let uri = request.uri().clone();
    let seen = request.headers_mut().remove(header::HOST);
    let seen = seen.or_else(|| HeaderValue::from_str(uri.authority()?.as_str()).ok());
    let proto = uri.scheme_str().and_then(|s| HeaderValue::from_str(s).ok());
    set_or_remove(request.headers_mut(), FORWARDED_HOST, seen);
    set_or_remove(request.headers_mut(), FORWARDED_PROTO, proto);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    send(&functions.url(name, path)?, request, timeout_ms).await
}

fn set_or_remove(headers: &mut HeaderMap, name: HeaderName, value: Option<HeaderValue>) {
    match value {
        Some(value) => headers.insert(name, value),
        None => headers.remove(name),
    };
}

/// Sends a request to this address, and gives up after a while.
pub async fn send(
    url: &str,
    mut request: Request<Vec<u8>>,
    timeout_ms: u64,
) -> Told<Response<Vec<u8>>> {
    // The runtime counts for itself.
    request.headers_mut().remove(header::CONTENT_LENGTH);
    let abort = AbortController::default();
    let signal = abort.signal();
    let exchanged = within(timeout_ms, exchange(url, &request, &signal)).await;
    exchanged.unwrap_or_else(|trouble| {
        abort.abort();
        Err(trouble)
    })
}

/// Waits so long and no longer.
///
/// A delay wakes whoever polled it first and nobody else; and a request is polled once
/// before anybody can be woken for it. So whoever comes to poll it gets a delay of their own.
pub async fn within<T>(timeout_ms: u64, work: impl Future<Output = T>) -> Told<T> {
    let mut work = pin!(work);
    let mut timer: Option<(Waker, Pin<Box<Delay>>)> = None;
    poll_fn(|context| {
        if let Poll::Ready(done) = work.as_mut().poll(context) {
            return Poll::Ready(Ok(done));
        }
        let known = timer.take();
        let known = known.filter(|(waker, _)| waker.will_wake(context.waker()));
        let (_, delay) = timer.insert(known.unwrap_or_else(|| {
            let delay = Delay::from(Duration::from_millis(timeout_ms));
            (context.waker().clone(), Box::pin(delay))
        }));
        let late = || Err(Trouble(format!("no answer within {timeout_ms} ms")));
        delay.as_mut().poll(context).map(|()| late())
    })
    .await
}

async fn exchange(
    url: &str,
    request: &Request<Vec<u8>>,
    signal: &AbortSignal,
) -> Told<Response<Vec<u8>>> {
    let request = messages::outgoing(url, request)?;
    let fetch = Fetch::Request(request.into());
    let answer = fetch.send_with_signal(signal).await.map_err(Trouble::new)?;
    let answer = worker::web_sys::Response::from(answer);
    let mut read = Response::builder()
        .status(answer.status())
        .body(Vec::new())
        .map_err(Trouble::new)?;
    *read.headers_mut() = messages::header_map(&answer.headers());
    // They describe the way the answer came, not the one it goes on.
    read.headers_mut().remove(header::CONTENT_LENGTH);
    read.headers_mut().remove(header::TRANSFER_ENCODING);
    read.headers_mut().remove(header::CONNECTION);
    let mut chunks = answer.body().map(ByteStream::from);
    let body = messages::body(chunks.as_mut(), MAX_ANSWER).await;
    *read.body_mut() = body.map_err(|unread| match unread {
        Unread::TooLong => Trouble(format!("the answer has over {MAX_ANSWER} bytes")),
        Unread::Broken(error) => Trouble::new(error),
    })?;
    Ok(read)
}
