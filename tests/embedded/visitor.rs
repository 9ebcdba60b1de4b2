//! Somebody with an HTTP client.

use std::time::Duration;

use reqwest::header::RETRY_AFTER;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};

/// How often somebody who is told to wait asks once more.
const REPEATS: usize = 5;
/// Five holds a minute are one in twelve seconds; other limits that visitors meet by the way let
/// them wait for less. Whoever is told to wait for longer sees the refusal.
const LONGEST_WAIT: Duration = Duration::from_secs(15);

#[derive(Clone)]
pub(crate) struct Visitor {
    client: Client,
    pub(crate) url: String,
    pub(crate) token: String,
}

/// An answer: its status and its JSON, `null` without a body.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) body: Value,
}

impl Answer {
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        self.body
    }

    /// Checks that this is a problem with this code, and a complete one.
    #[track_caller]
    pub(crate) fn problem(self, status: u16, code: &str) -> Value {
        assert_eq!(
            (self.status.as_u16(), self.body["type"].as_str()),
            (status, Some(format!("urn:onsale:{code}").as_str())),
            "{}",
            self.body
        );
        assert_eq!(self.headers["content-type"], "application/problem+json");
        assert_eq!(self.body["status"], status);
        assert!(self.body["title"].is_string() && self.body["detail"].is_string());
        self.body
    }
}

impl Visitor {
    pub(crate) fn anonymous(url: &str) -> Self {
        let client = Client::builder().tcp_nodelay(true).build().unwrap();
        Self {
            client,
            url: url.to_owned(),
            token: String::new(),
        }
    }

    /// Registers and logs in.
    pub(crate) async fn new(url: &str, name: &str, role: &str) -> Self {
        let mut visitor = Self::anonymous(url);
        let email = format!("{name}@example.org");
        let account =
            json!({"email": email, "password": "correct horse", "name": name, "role": role});
        visitor.post("/api/v1/accounts", account).await.expect(201);
        visitor.log_in(name).await;
        visitor
    }

    pub(crate) async fn log_in(&mut self, name: &str) {
        let email = format!("{name}@example.org");
        let body = json!({"email": email, "password": "correct horse"});
        let session = self.post("/api/v1/sessions", body).await.expect(201);
        self.token = session["token"].as_str().unwrap().to_owned();
    }

    /// The same person at another address, after a restart.
    pub(crate) fn at(&self, url: &str) -> Self {
        Self {
            url: url.to_owned(),
            ..self.clone()
        }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.url));
        match self.token.is_empty() {
            true => request,
            false => request.bearer_auth(&self.token),
        }
    }

    pub(crate) async fn send(&self, request: RequestBuilder) -> Answer {
        self.try_send(request).await.unwrap()
    }

    pub(crate) async fn try_send(&self, request: RequestBuilder) -> reqwest::Result<Answer> {
        read(send_patiently(request).await?).await
    }

    /// For those who want to know how often one may ask.
    pub(crate) async fn send_once(&self, request: RequestBuilder) -> Answer {
        let response = request.send().await.unwrap();
        read(response).await.unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send(self.request(Method::DELETE, path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::POST, path).json(&body))
            .await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PATCH, path).json(&body))
            .await
    }

    pub(crate) async fn hold(&self, show: &str, key: &str, body: Value) -> Answer {
        self.try_hold(show, key, body).await.unwrap()
    }

    pub(crate) async fn try_hold(
        &self,
        show: &str,
        key: &str,
        body: Value,
    ) -> reqwest::Result<Answer> {
        let path = format!("/api/v1/shows/{show}/holds");
        let request = self
            .request(Method::POST, &path)
            .header("idempotency-key", key)
            .json(&body);
        self.try_send(request).await
    }

    pub(crate) async fn bytes(&self, path: &str) -> (reqwest::header::HeaderMap, Vec<u8>) {
        let request = self.request(Method::GET, path);
        let response = send_patiently(request).await.unwrap();
        assert_eq!(response.status(), 200);
        (
            response.headers().clone(),
            response.bytes().await.unwrap().to_vec(),
        )
    }

    /// A venue with these sections; its id.
    pub(crate) async fn venue(&self, sections: Value) -> String {
        let venue = json!({"name": "Hall", "city": "Graz", "timezone": "Europe/Vienna", "sections": sections});
        let made = self.post("/api/v1/venues", venue).await.expect(201);
        made["venue_id"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn event(&self, venue: &str) -> String {
        let event = json!({"title": "Evening", "category": "concert", "venue_id": venue});
        let made = self.post("/api/v1/events", event).await.expect(201);
        made["event_id"].as_str().unwrap().to_owned()
    }

    /// A show in this venue; `more` overrides the defaults.
    pub(crate) async fn show(&self, event: &str, prices: Value, more: Value) -> String {
        let mut show =
            json!({"starts_at": "2099-06-01T19:00:00Z", "currency": "EUR", "prices": prices});
        for (name, value) in more.as_object().unwrap() {
            show[name] = value.clone();
        }
        let made = self
            .post(&format!("/api/v1/events/{event}/shows"), show)
            .await
            .expect(201);
        made["show_id"].as_str().unwrap().to_owned()
    }
}

/// Where a platform limits how often one may ask, waits as it says and asks again.
async fn send_patiently(request: RequestBuilder) -> reqwest::Result<Response> {
    for _ in 0..REPEATS {
        let Some(same) = request.try_clone() else {
            break;
        };
        let response = same.send().await?;
        match told_to_wait(&response) {
            Some(wait) => tokio::time::sleep(wait).await,
            None => return Ok(response),
        }
    }
    request.send().await
}

fn told_to_wait(response: &Response) -> Option<Duration> {
    if response.status() != StatusCode::TOO_MANY_REQUESTS {
        return None;
    }
    let seconds = response.headers().get(RETRY_AFTER)?.to_str().ok()?;
    let wait = Duration::from_secs(seconds.parse().ok()?);
    (wait <= LONGEST_WAIT).then_some(wait)
}

async fn read(response: Response) -> reqwest::Result<Answer> {
    let (status, headers) = (response.status(), response.headers().clone());
    let bytes = response.bytes().await?;
    let body = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
    Ok(Answer {
        status,
        headers,
        body,
    })
}

/// Sections with rows of equal length.
pub(crate) fn rows(name: &str, rows: usize, seats: usize) -> Value {
    let rows: Vec<_> = (1..=rows)
        .map(|r| json!({"label": r.to_string(), "seats": seats}))
        .collect();
    json!({"name": name, "rows": rows})
}

pub(crate) fn seat_ids(answer: &Value) -> Vec<String> {
    let seats = answer["seats"].as_array().unwrap();
    seats
        .iter()
        .map(|s| s["seat"].as_str().unwrap().to_owned())
        .collect()
}

/// Many people at once.
pub(crate) async fn crowd(url: &str, size: usize) -> Vec<Visitor> {
    let people = (0..size).map(|n| {
        let url = url.to_owned();
        tokio::spawn(async move { Visitor::new(&url, &format!("buyer{n}"), "buyer").await })
    });
    let mut visitors = Vec::new();
    for person in people.collect::<Vec<_>>() {
        visitors.push(person.await.unwrap());
    }
    visitors
}

/// Deterministic choices for one client.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}
