//! The edge on a socket: one handler for every path that is not the process's own.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::ws::{Message as Frame, WebSocket, WebSocketUpgrade};
use axum::extract::{ConnectInfo, FromRequestParts, Request};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt;
use onsale_edge::answer::Problem;
use onsale_edge::watching::{Subject, Watcher};
use onsale_edge::{Edge, FeedKind, FeedRequest, MAX_BODY, Reply};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use crate::assets;
use crate::compressed::{accepts_gzip, compressed};
use crate::feed::{Message, Unwatched, Watched, Watching};
use crate::host::LocalHost;

/// A comment now and then keeps a quiet stream from being taken for dead.
const STILL_THERE: Duration = Duration::from_secs(15);
/// So much of a body that is too large is read before it is refused: sixteen times what is
/// allowed, so a mistake is told and a flood is cut off.
const MAX_DRAINED: usize = 16 * MAX_BODY;
/// Watchers have nothing to say; a ping has at most 125 bytes.
const MAX_SAID: usize = 1_024;

#[derive(Debug, Clone)]
pub struct EdgeServer {
    pub(crate) edge: Arc<Edge>,
    pub(crate) host: LocalHost,
    /// Turns true when the process stops: feeds would never end by themselves.
    pub(crate) stop: watch::Receiver<bool>,
}

impl EdgeServer {
    pub async fn answer(self, request: Request) -> Response {
        let address = request.extensions().get::<ConnectInfo<SocketAddr>>();
        let address = address.map_or_else(|| "unknown".to_owned(), |info| info.0.ip().to_string());
        let (mut parts, body) = request.into_parts();
        if let Some(file) = assets::answer(&parts.method, parts.uri.path(), &parts.headers) {
            return file;
        }
        let accepts = accepts_gzip(&parts.headers);
        let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &())
            .await
            .ok();
        let body = match read(&parts.headers, body).await {
            Ok(body) => body,
            Err(problem) => return sent(problem.answer()),
        };
        let incoming = http::Request::from_parts(parts, body);
        match self.edge.handle(&self.host, incoming, &address).await {
            Reply::Answer(answer) => sent(compressed(answer, accepts)),
            Reply::Feed(request) => self.feed(request, upgrade).await,
            Reply::Watch(subject, watcher) => self.watched(subject, watcher).await,
        }
    }

    async fn feed(self, request: FeedRequest, upgrade: Option<WebSocketUpgrade>) -> Response {
        let watch = self.host.0.watch(request.show, request.since).await;
        let (watched, watching) = match watch {
            Ok(Ok(both)) => both,
            Ok(Err(Unwatched::Refused(answer))) => return sent(answer),
            Ok(Err(Unwatched::TooMany)) => return sent(Problem::unavailable().answer()),
            Err(trouble) => {
                tracing::warn!(%trouble, "a feed could not begin");
                return sent(Problem::unavailable().answer());
            }
        };
        match (request.kind, upgrade) {
            (FeedKind::WebSocket, Some(upgrade)) => {
                let upgrade = upgrade.max_message_size(MAX_SAID).max_frame_size(MAX_SAID);
                upgrade.on_upgrade(move |socket| talk(socket, watched, watching, self.stop))
            }
            (FeedKind::WebSocket, None) => {
                sent(Problem::invalid("The WebSocket handshake is not complete.").answer())
            }
            (FeedKind::EventStream, _) => event_stream(map_events(watched, watching, self.stop)),
        }
    }

    async fn watched(self, subject: Subject, watcher: Watcher) -> Response {
        let watch = match watcher.watch(&self.host, subject).await {
            Ok(watch) => watch,
            Err(answer) => return sent(answer),
        };
        let first = Some(watch.event());
        event_stream(stream::unfold(
            (self, watch, first),
            |(mut server, mut watch, first)| async move {
                if let Some(first) = first {
                    return Some((first, (server, watch, None)));
                }
                while !watch.is_over() {
                    let pause = Duration::from_millis(watch.pause_ms());
                    tokio::select! {
                        () = tokio::time::sleep(pause) => {}
                        _ = server.stop.changed() => return None,
                    }
                    if let Some(event) = watch.next(&server.host).await {
                        return Some((event, (server, watch, None)));
                    }
                }
                None
            },
        ))
    }
}

/// The body, unless it is too large. Of one that is, a good deal more is read and thrown
/// away before the answer: a client that is still sending would see its connection break
/// instead. One that asks first whether it may send is answered at once.
async fn read(headers: &HeaderMap, mut body: Body) -> Result<Vec<u8>, Problem> {
    let too_large = || Problem::too_large("The body has more than 4 MiB.");
    let announced = headers.get(CONTENT_LENGTH).and_then(|v| v.to_str().ok());
    let announced = announced.and_then(|text| text.parse::<u64>().ok());
    if announced.is_some_and(|bytes| bytes > MAX_BODY as u64) && headers.contains_key(EXPECT) {
        return Err(too_large());
    }
    let mut kept = Vec::new();
    let mut drained = 0;
    while let Some(frame) = body.frame().await {
        let cut_off = |_| Problem::invalid("The body could not be read to its end.");
        let Ok(data) = frame.map_err(cut_off)?.into_data() else {
            continue;
        };
        if drained == 0 && kept.len() + data.len() <= MAX_BODY {
            kept.extend_from_slice(&data);
            continue;
        }
        drained += kept.len() + data.len();
        kept = Vec::new();
        if drained > MAX_DRAINED {
            break;
        }
    }
    match drained {
        0 => Ok(kept),
        _ => Err(too_large()),
    }
}

fn sent(answer: http::Response<Vec<u8>>) -> Response {
    answer.map(Body::from).into_response()
}

fn event_stream(events: impl stream::Stream<Item = String> + Send + 'static) -> Response {
    use futures_util::StreamExt as _;
    let frames = events.map(|event| Ok::<_, Infallible>(Bytes::from(event)));
    let mut response = Response::new(Body::from_stream(frames));
    *response.status_mut() = StatusCode::OK;
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        http::HeaderValue::from_static("text/event-stream"),
    );
    headers.insert(CACHE_CONTROL, http::HeaderValue::from_static("no-store"));
    response
}

fn map_events(
    watched: Arc<Watched>,
    watching: Watching,
    stop: watch::Receiver<bool>,
) -> impl stream::Stream<Item = String> {
    let first = Some(event(&watching.welcome));
    let state = (watched, watching, stop, first);
    stream::unfold(
        state,
        |(watched, mut watching, mut stop, first)| async move {
            if let Some(first) = first {
                return Some((first, (watched, watching, stop, None)));
            }
            let text = tokio::select! {
                message = watching.next() => match message {
                    Ok(message) => event(&message),
                    Err(RecvError::Lagged(_)) => event(&watched.reset()),
                    Err(RecvError::Closed) => return None,
                },
                () = tokio::time::sleep(STILL_THERE) => ": still there\n\n".to_owned(),
                _ = stop.changed() => return None,
            };
            Some((text, (watched, watching, stop, None)))
        },
    )
}

fn event(message: &Message) -> String {
    format!("id: {}\ndata: {}\n\n", message.version, message.text)
}

async fn talk(
    mut socket: WebSocket,
    watched: Arc<Watched>,
    mut watching: Watching,
    mut stop: watch::Receiver<bool>,
) {
    let mut next = Some(watching.welcome.clone());
    loop {
        if let Some(message) = next.take() {
            let frame = Frame::Text(message.text.as_ref().into());
            if socket.send(frame).await.is_err() {
                return;
            }
        }
        tokio::select! {
            message = watching.next() => match message {
                Ok(message) => next = Some(message),
                Err(RecvError::Lagged(_)) => next = Some(watched.reset()),
                Err(RecvError::Closed) => return,
            },
            // Nobody has anything to say to us; reading answers pings and sees the end.
            said = socket.recv() => match said {
                Some(Ok(Frame::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => {}
            },
            _ = stop.changed() => {
                let _ = socket.send(Frame::Close(None)).await;
                return;
            }
        }
    }
}
