//! The status of an order as it changes: `checkout` is asked every second on behalf of
//! whoever watches. Each host has its own way to keep the stream open.

use http::header::{AUTHORIZATION, COOKIE, HOST};
use http::{HeaderMap, Request, StatusCode, Uri};
use onsale_domain::ids::OrderId;
use serde::Deserialize;
use serde_json::json;

use crate::answer::{Answer, Problem};
use crate::host::{Host, Told, Trouble};

pub const ASK_MS: u64 = 1_000;
/// Ten minutes, and below the thousand requests that one request to a worker may make. A
/// browser connects again by itself.
const MAX_ASKED: u32 = 600;
/// A quiet stream gets a sign of life after so many questions.
const QUIET: u32 = 15;
const TIMEOUT_MS: u64 = 10_000;
/// After these nothing more happens to an order by itself.
const LAST: &[&str] = &["confirmed", "declined", "cancelled", "refunded", "failed"];

/// Who asks, kept from the request, which others take apart.
#[derive(Debug, Clone)]
pub struct Watcher {
    uri: Uri,
    headers: HeaderMap,
}

impl Watcher {
    pub fn of(uri: &Uri, headers: &HeaderMap) -> Self {
        let mut kept = HeaderMap::new();
        for name in [AUTHORIZATION, COOKIE, HOST] {
            if let Some(value) = headers.get(&name) {
                kept.insert(name, value.clone());
            }
        }
        Self {
            uri: uri.clone(),
            headers: kept,
        }
    }

    /// Begins to watch; or, when the first question is refused, that refusal.
    pub async fn watch<H: Host>(self, host: &H, order: OrderId) -> Result<OrderWatch, Answer> {
        let mut watch = OrderWatch {
            watcher: self,
            order,
            status: String::new(),
            asked: 0,
            told: 0,
            is_refused: false,
        };
        let answer = watch.ask(host).await.map_err(|trouble| {
            host.log(&format!("an order cannot be watched: {trouble}"));
            Problem::unavailable().answer()
        })?;
        match status_of(&answer) {
            Some(status) => watch.status = status,
            None => return Err(answer),
        }
        Ok(watch)
    }
}

#[derive(Debug)]
pub struct OrderWatch {
    watcher: Watcher,
    order: OrderId,
    status: String,
    asked: u32,
    /// After which question something was sent last.
    told: u32,
    is_refused: bool,
}

#[derive(Deserialize)]
struct Order {
    status: String,
}

impl OrderWatch {
    pub fn is_over(&self) -> bool {
        self.is_refused || self.asked >= MAX_ASKED || LAST.contains(&self.status.as_str())
    }

    /// The status as it is known, as an event.
    pub fn event(&self) -> String {
        let told = json!({"order_id": self.order, "status": self.status});
        format!("event: status\ndata: {told}\n\n")
    }

    /// Asks once more; what to send, if anything. Who was logged out meanwhile hears no
    /// more; a function that has trouble for a moment is asked again.
    pub async fn next<H: Host>(&mut self, host: &H) -> Option<String> {
        self.asked += 1;
        match self.ask(host).await {
            Ok(answer) if answer.status().is_client_error() => self.is_refused = true,
            Ok(answer) => {
                if let Some(status) = status_of(&answer).filter(|s| *s != self.status) {
                    self.status = status;
                    self.told = self.asked;
                    return Some(self.event());
                }
            }
            Err(trouble) => host.log(&format!("an order is not told of: {trouble}")),
        }
        (self.asked >= self.told + QUIET).then(|| {
            self.told = self.asked;
            ": still there\n\n".to_owned()
        })
    }

    async fn ask<H: Host>(&self, host: &H) -> Told<Answer> {
        let mut parts = self.watcher.uri.clone().into_parts();
        let path = format!("/api/v1/orders/{}", self.order);
        parts.path_and_query = Some(path.parse().map_err(Trouble::new)?);
        let uri = Uri::from_parts(parts).map_err(Trouble::new)?;
        let mut request = Request::get(uri).body(Vec::new()).map_err(Trouble::new)?;
        *request.headers_mut() = self.watcher.headers.clone();
        host.function("checkout", request, TIMEOUT_MS).await
    }
}

fn status_of(answer: &Answer) -> Option<String> {
    if answer.status() != StatusCode::OK {
        return None;
    }
    let order: Order = serde_json::from_slice(answer.body()).ok()?;
    Some(order.status)
}
