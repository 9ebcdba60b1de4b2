//! What becomes of an order, told as it happens: a stream that lives in one request and
//! asks `checkout` every second on behalf of its reader.

use futures_util::stream;
use http::header::{AUTHORIZATION, COOKIE, HOST};
use http::{Request, StatusCode, Uri};
use onsale_domain::ids::OrderId;
use serde::Deserialize;
use serde_json::json;
use worker::{Error, Response, ResponseBuilder, console_warn};

use super::messages::response;
use super::worker_host::WorkerHost;
use crate::answer::{Answer, Problem};
use crate::edge::Incoming;
use crate::host::{Host as _, Told, Trouble};

const ASK_MS: u64 = 1_000;
/// Ten minutes, and below the thousand requests that one request may make.
const MAX_ASKED: u32 = 600;
/// A quiet stream gets a sign of life after so many questions.
const QUIET: u32 = 15;
const TIMEOUT_MS: u64 = 10_000;
/// After these nothing more happens to an order by itself.
const LAST: &[&str] = &["confirmed", "declined", "cancelled", "refunded", "failed"];

#[derive(Debug, Deserialize)]
struct Order {
    status: String,
}

/// Who asks, and how: kept from the request, which others take apart.
#[derive(Debug)]
pub struct OrderFeed {
    host: WorkerHost,
    uri: Uri,
    headers: http::HeaderMap,
}

struct Watching {
    feed: OrderFeed,
    order: OrderId,
    status: String,
    asked: u32,
    told_at: u32,
    first: bool,
}

impl OrderFeed {
    pub fn new(host: &WorkerHost, request: &Incoming) -> Self {
        let mut headers = http::HeaderMap::new();
        for name in [AUTHORIZATION, COOKIE, HOST] {
            if let Some(value) = request.headers().get(&name) {
                headers.insert(name, value.clone());
            }
        }
        Self {
            host: host.clone(),
            uri: request.uri().clone(),
            headers,
        }
    }

    /// The stream; or, when the first question is refused, that refusal.
    pub async fn open(self, order: OrderId) -> worker::Result<Response> {
        let answer = match self.ask(order).await {
            Ok(answer) => answer,
            Err(trouble) => {
                console_warn!("an order cannot be watched: {trouble}");
                return response(Problem::unavailable().answer());
            }
        };
        let Some(status) = status_of(&answer) else {
            return response(answer);
        };
        let watching = Watching {
            feed: self,
            order,
            status,
            asked: 0,
            told_at: 0,
            first: true,
        };
        ResponseBuilder::new()
            .with_header("content-type", "text/event-stream")?
            .with_header("cache-control", "no-store")?
            .from_stream(stream::unfold(watching, |watching| async {
                let (event, watching) = watching.next().await?;
                Some((Ok::<_, Error>(event), watching))
            }))
    }

    async fn ask(&self, order: OrderId) -> Told<Answer> {
        let mut parts = self.uri.clone().into_parts();
        let path = format!("/api/v1/orders/{order}");
        parts.path_and_query = Some(path.parse().map_err(Trouble::new)?);
        let uri = Uri::from_parts(parts).map_err(Trouble::new)?;
        let mut request = Request::get(uri).body(Vec::new()).map_err(Trouble::new)?;
        *request.headers_mut() = self.headers.clone();
        self.host.function("checkout", request, TIMEOUT_MS).await
    }
}

impl Watching {
    /// The next thing to send; `None` when the stream ends.
    async fn next(mut self) -> Option<(Vec<u8>, Self)> {
        if self.first {
            self.first = false;
            return Some((self.event(), self));
        }
        while self.asked < MAX_ASKED && !LAST.contains(&self.status.as_str()) {
            self.feed.host.sleep(ASK_MS).await;
            self.asked += 1;
            match self.feed.ask(self.order).await {
                Ok(answer) if answer.status().is_client_error() => return None,
                Ok(answer) => {
                    if let Some(status) = status_of(&answer).filter(|s| *s != self.status) {
                        self.status = status;
                        self.told_at = self.asked;
                        return Some((self.event(), self));
                    }
                }
                Err(trouble) => console_warn!("an order is not told of: {trouble}"),
            }
            if self.asked >= self.told_at + QUIET {
                self.told_at = self.asked;
                return Some((b": still here\n\n".to_vec(), self));
            }
        }
        None
    }

    fn event(&self) -> Vec<u8> {
        let told = json!({"order_id": self.order, "status": self.status});
        format!("event: status\ndata: {told}\n\n").into_bytes()
    }
}

fn status_of(answer: &Answer) -> Option<String> {
    if answer.status() != StatusCode::OK {
        return None;
    }
    let order: Order = serde_json::from_slice(answer.body()).ok()?;
    Some(order.status)
}
