//! What somebody watches as it changes: a function is asked every few seconds on their
//! behalf. Each question counts among the hundred requests a minute of their account, so a
//! stream asks less often when little happens, and has most of them for other things.
//! Each host has its own way to keep the stream open.

use http::header::{AUTHORIZATION, COOKIE, HOST, RETRY_AFTER};
use http::{HeaderMap, Request, StatusCode, Uri};
use onsale_domain::ids::{OrderId, ShowId};
use serde::Deserialize;
use serde_json::json;

use crate::answer::{Answer, Problem};
use crate::host::{Host, Told, Trouble};

/// Below the thousand requests that one request to a worker may make. A browser connects
/// again by itself.
const LONGEST_MS: u64 = 600_000;
/// A quiet stream gets a sign of life after so long.
const QUIET_MS: u64 = 15_000;
/// The longest that a function can ask us to wait.
const LONGEST_RETRY_S: u64 = 60;
const TIMEOUT_MS: u64 = 10_000;
/// After these nothing more happens to an order by itself.
const LAST: &[&str] = &["confirmed", "declined", "cancelled", "refunded", "failed"];

/// What can be watched, by whom its function says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// The status of an order.
    Order(OrderId),
    /// The sales of a show, as they are answered.
    Sales(ShowId),
}

#[derive(Deserialize)]
struct Order {
    status: String,
}

/// What there is to tell, and whether anything can follow.
#[derive(Debug, Default)]
struct News {
    event: String,
    is_last: bool,
}

impl Subject {
    fn function(self) -> &'static str {
        match self {
            Self::Order(_) => "checkout",
            Self::Sales(_) => "organiser",
        }
    }

    /// How often it is asked for, when it changed so long ago.
    fn pause_ms(self, quiet_ms: u64) -> u64 {
        match self {
            // A payment takes some seconds. Whoever has to confirm one takes longer.
            Self::Order(_) if quiet_ms < 15_000 => 1_000,
            Self::Order(_) => 3_000,
            Self::Sales(_) if quiet_ms < 60_000 => 3_000,
            Self::Sales(_) => 6_000,
        }
    }

    fn path(self) -> String {
        match self {
            Self::Order(order) => format!("/api/v1/orders/{order}"),
            Self::Sales(show) => format!("/api/v1/shows/{show}/sales"),
        }
    }

    fn news(self, answer: &Answer) -> Option<News> {
        if answer.status() != StatusCode::OK {
            return None;
        }
        match self {
            Self::Order(order_id) => {
                let Order { status } = serde_json::from_slice(answer.body()).ok()?;
                let told = json!({"order_id": order_id, "status": status});
                Some(News {
                    event: format!("event: status\ndata: {told}\n\n"),
                    is_last: LAST.contains(&status.as_str()),
                })
            }
            // What a function answers is JSON in one line.
            Self::Sales(_) => Some(News {
                event: format!(
                    "event: sales\ndata: {}\n\n",
                    std::str::from_utf8(answer.body()).ok()?
                ),
                is_last: false,
            }),
        }
    }
}

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
    pub async fn watch<H: Host>(self, host: &H, subject: Subject) -> Result<Watch, Answer> {
        let mut watch = Watch {
            watcher: self,
            subject,
            news: News::default(),
            age_ms: 0,
            changed_ms: 0,
            told_ms: 0,
            retry_after_ms: None,
            is_refused: false,
        };
        let answer = watch.ask(host).await.map_err(|trouble| {
            host.log(&format!("{} cannot be watched: {trouble}", subject.path()));
            Problem::unavailable().answer()
        })?;
        match subject.news(&answer) {
            Some(news) => watch.news = news,
            None => return Err(answer),
        }
        Ok(watch)
    }
}

#[derive(Debug)]
pub struct Watch {
    watcher: Watcher,
    subject: Subject,
    news: News,
    /// How long it goes on by now, when something changed last, and when something was sent.
    age_ms: u64,
    changed_ms: u64,
    told_ms: u64,
    /// What a function that has enough of questions asked for.
    retry_after_ms: Option<u64>,
    is_refused: bool,
}

impl Watch {
    pub fn is_over(&self) -> bool {
        self.is_refused || self.age_ms >= LONGEST_MS || self.news.is_last
    }

    /// How long to wait before [`Self::next`].
    pub fn pause_ms(&self) -> u64 {
        let usual = self.subject.pause_ms(self.age_ms - self.changed_ms);
        self.retry_after_ms.map_or(usual, |ms| ms.max(usual))
    }

    /// What is known, as an event.
    pub fn event(&self) -> String {
        self.news.event.clone()
    }

    /// Asks once more; what to send, if anything. Who was logged out meanwhile hears no
    /// more; a function that has trouble for a moment, or enough of questions, is asked
    /// again.
    pub async fn next<H: Host>(&mut self, host: &H) -> Option<String> {
        self.age_ms += self.pause_ms();
        self.retry_after_ms = None;
        match self.ask(host).await {
            Ok(answer) if answer.status() == StatusCode::TOO_MANY_REQUESTS => {
                self.retry_after_ms = Some(retry_after_ms(&answer));
            }
            Ok(answer) if answer.status().is_client_error() => self.is_refused = true,
            Ok(answer) => {
                let news = self.subject.news(&answer);
                if let Some(news) = news.filter(|news| news.event != self.news.event) {
                    self.news = news;
                    (self.changed_ms, self.told_ms) = (self.age_ms, self.age_ms);
                    return Some(self.event());
                }
            }
            Err(trouble) => {
                let path = self.subject.path();
                host.log(&format!("{path} is not told of: {trouble}"));
            }
        }
        (self.age_ms >= self.told_ms + QUIET_MS).then(|| {
            self.told_ms = self.age_ms;
            ": still there\n\n".to_owned()
        })
    }

    async fn ask<H: Host>(&self, host: &H) -> Told<Answer> {
        let mut parts = self.watcher.uri.clone().into_parts();
        parts.path_and_query = Some(self.subject.path().parse().map_err(Trouble::new)?);
        let uri = Uri::from_parts(parts).map_err(Trouble::new)?;
        let mut request = Request::get(uri).body(Vec::new()).map_err(Trouble::new)?;
        *request.headers_mut() = self.watcher.headers.clone();
        host.function(self.subject.function(), request, TIMEOUT_MS)
            .await
    }
}

fn retry_after_ms(answer: &Answer) -> u64 {
    let after = answer.headers().get(RETRY_AFTER);
    let after = after.and_then(|value| value.to_str().ok()?.parse().ok());
    after.unwrap_or(1).clamp(1, LONGEST_RETRY_S) * 1_000
}
