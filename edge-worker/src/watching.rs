//! What somebody watches as it changes: a function is asked every second on their behalf.
//! Each host has its own way to keep the stream open.

use http::header::{AUTHORIZATION, COOKIE, HOST};
use http::{HeaderMap, Request, StatusCode, Uri};
use onsale_domain::ids::{OrderId, ShowId};
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
            asked: 0,
            told: 0,
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
    asked: u32,
    /// After which question something was sent last.
    told: u32,
    is_refused: bool,
}

impl Watch {
    pub fn is_over(&self) -> bool {
        self.is_refused || self.asked >= MAX_ASKED || self.news.is_last
    }

    /// What is known, as an event.
    pub fn event(&self) -> String {
        self.news.event.clone()
    }

    /// Asks once more; what to send, if anything. Who was logged out meanwhile hears no
    /// more; a function that has trouble for a moment, or enough of questions, is asked
    /// again.
    pub async fn next<H: Host>(&mut self, host: &H) -> Option<String> {
        self.asked += 1;
        match self.ask(host).await {
            Ok(answer) if answer.status() == StatusCode::TOO_MANY_REQUESTS => {}
            Ok(answer) if answer.status().is_client_error() => self.is_refused = true,
            Ok(answer) => {
                let news = self.subject.news(&answer);
                if let Some(news) = news.filter(|news| news.event != self.news.event) {
                    self.news = news;
                    self.told = self.asked;
                    return Some(self.event());
                }
            }
            Err(trouble) => {
                let path = self.subject.path();
                host.log(&format!("{path} is not told of: {trouble}"));
            }
        }
        (self.asked >= self.told + QUIET).then(|| {
            self.told = self.asked;
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
