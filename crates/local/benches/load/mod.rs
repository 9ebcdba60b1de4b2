//! What the load benchmarks share: a platform of their own on a fresh data folder,
//! people who are logged in, and latencies.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use tempfile::TempDir;

pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

pub const CLIENTS: usize = 64;
/// Hashing runs two at a time in the server; a few more keep it busy.
const REGISTRATIONS_AT_ONCE: usize = 8;

/// A room for load: section A, so large that nobody meets a seat twice.
const SEATS_PER_ROW: usize = 40;
const ROWS: usize = 1_000;
pub const PAIRS: usize = ROWS * SEATS_PER_ROW / 2;
/// The cap of 50 tickets is 25 pairs of a buyer in a show.
pub const PAIRS_PER_BUYER: usize = 25;

pub fn room() -> Value {
    let row = |row: usize| json!({"label": row.to_string(), "seats": SEATS_PER_ROW});
    let rows: Vec<_> = (1..=ROWS).map(row).collect();
    json!([{"name": "A", "rows": rows}])
}

/// The show and the two seats of a client's n-th turn, which nobody else wants. Clients
/// take turns on the shows, as a buyer in an on-sale has one or two holds, not
/// twenty-five. `None`: there are no more.
pub fn own_pair(client: usize, turn: usize, shows: &[String]) -> Option<(&String, [String; 2])> {
    let show = shows.get(turn % shows.len())?;
    let pair_of_buyer = turn / shows.len();
    if pair_of_buyer >= PAIRS_PER_BUYER {
        return None;
    }
    // A stride that shares no factor with the pairs spreads a show's buyers over the whole
    // room, each pair once.
    let pair = (client * PAIRS_PER_BUYER + pair_of_buyer) * 7_919 % PAIRS;
    let (row, left) = (
        pair / (SEATS_PER_ROW / 2) + 1,
        pair % (SEATS_PER_ROW / 2) * 2,
    );
    let seats = [left + 1, left + 2].map(|seat| format!("A-{row}-{seat}"));
    Some((show, seats))
}

/// An `onsale serve` that ends with this value, and its data with it.
pub struct Platform {
    process: Child,
    pub base: String,
    /// The server goes on talking after the line that is read here.
    stdout_kept_open: BufReader<ChildStdout>,
    #[allow(dead_code, reason = "dropping it deletes the data")]
    data: TempDir,
}

impl Platform {
    pub fn start() -> Result<Self> {
        let data = tempfile::Builder::new().prefix("onsale-bench-").tempdir()?;
        // Port 0 is any free port; the welcome says which.
        let mut process = Command::new(env!("CARGO_BIN_EXE_onsale"))
            .args([
                "serve",
                "--port",
                "0",
                "--empty",
                "--rate-limit",
                "off",
                "--data",
            ])
            .arg(data.path().join("data"))
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(log_path()?)?)
            .spawn()?;
        let stdout = process.stdout.take().ok_or("the server has no output")?;
        let mut platform = Self {
            process,
            base: String::new(),
            stdout_kept_open: BufReader::new(stdout),
            data,
        };
        let mut welcome = String::new();
        platform.stdout_kept_open.read_line(&mut welcome)?;
        let at = welcome
            .find("http://")
            .ok_or("the server did not start; see target/bench/server.log")?;
        platform.base = welcome[at..].trim().to_owned();
        Ok(platform)
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}/api/v1{path}", self.base)
    }

    /// The sum of a counter over its labels; a counter that never counted is 0.
    pub async fn counter(&self, name: &str) -> Result<f64> {
        let text = Client::new()
            .get(format!("{}/metrics", self.base))
            .send()
            .await?
            .text()
            .await?;
        let of_name = |line: &&str| line.starts_with(name) && !line.starts_with('#');
        let value = |line: &str| line.rsplit(' ').next().and_then(|n| n.parse::<f64>().ok());
        Ok(text.lines().filter(of_name).filter_map(value).sum())
    }
}

impl Drop for Platform {
    fn drop(&mut self) {
        // It may have ended by itself; there is nobody left to tell.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn log_path() -> Result<std::path::PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench");
    std::fs::create_dir_all(&folder)?;
    Ok(folder.join("server.log"))
}

/// Somebody with one keep-alive connection and a session.
#[derive(Clone)]
pub struct Person {
    http: Client,
    token: String,
}

impl Person {
    pub async fn register(platform: &Platform, name: &str, role: &str) -> Result<Self> {
        let http = Client::builder()
            .pool_max_idle_per_host(1)
            .tcp_nodelay(true)
            .build()?;
        let email = format!("{name}@bench.onsale.example");
        let account =
            json!({"email": email, "password": "a-bench-password", "name": name, "role": role});
        expect(
            StatusCode::CREATED,
            http.post(platform.url("/accounts"))
                .json(&account)
                .send()
                .await?,
        )
        .await?;
        let login = json!({"email": email, "password": "a-bench-password"});
        let answer = http
            .post(platform.url("/sessions"))
            .json(&login)
            .send()
            .await?;
        let session = expect(StatusCode::CREATED, answer).await?;
        let token = session["token"].as_str().ok_or("no token")?.to_owned();
        Ok(Self { http, token })
    }

    pub async fn register_buyers(platform: &Platform, how_many: usize) -> Result<Vec<Self>> {
        stream::iter(0..how_many)
            .map(|n| async move { Self::register(platform, &format!("buyer{n}"), "buyer").await })
            .buffered(REGISTRATIONS_AT_ONCE)
            .try_collect()
            .await
    }

    /// A POST that must succeed, and the field of its answer that names what was created.
    pub async fn create(
        &self,
        platform: &Platform,
        path: &str,
        body: &Value,
        id: &str,
    ) -> Result<String> {
        let request = self
            .http
            .post(platform.url(path))
            .bearer_auth(&self.token)
            .json(body);
        let answer = expect(StatusCode::CREATED, request.send().await?).await?;
        Ok(answer[id].as_str().ok_or("no id in the answer")?.to_owned())
    }

    pub async fn hold(
        &self,
        platform: &Platform,
        show: &str,
        key: &str,
        wish: &Value,
    ) -> Result<Response> {
        let url = platform.url(&format!("/shows/{show}/holds"));
        let request = self
            .http
            .post(url)
            .bearer_auth(&self.token)
            .header("idempotency-key", key);
        Ok(request.json(wish).send().await?)
    }

    /// Starts to pay for a hold; the id of the order.
    pub async fn check_out(&self, platform: &Platform, show: &str, hold: &str) -> Result<String> {
        let url = platform.url(&format!("/shows/{show}/holds/{hold}/checkout"));
        let request = self
            .http
            .post(url)
            .bearer_auth(&self.token)
            .header("idempotency-key", "pay");
        let method = json!({"payment_method": "pm_card_visa"});
        let answer = request.json(&method).send().await?;
        let begun = expect(StatusCode::ACCEPTED, answer).await?;
        Ok(begun["order_id"].as_str().ok_or("no order_id")?.to_owned())
    }

    pub async fn order(&self, platform: &Platform, order: &str) -> Result<Value> {
        let url = platform.url(&format!("/orders/{order}"));
        let request = self.http.get(url).bearer_auth(&self.token);
        expect(StatusCode::OK, request.send().await?).await
    }

    /// The codes of the tickets of a confirmed order.
    pub async fn codes(&self, platform: &Platform, order: &str) -> Result<Vec<String>> {
        let url = platform.url(&format!("/orders/{order}/tickets"));
        let request = self.http.get(url).bearer_auth(&self.token);
        let listed = expect(StatusCode::OK, request.send().await?).await?;
        let items = listed["items"].as_array().ok_or("no items")?;
        let codes = items.iter().filter_map(|ticket| ticket["code"].as_str());
        Ok(codes.map(str::to_owned).collect())
    }

    /// What the gate is told.
    pub async fn scan(
        &self,
        platform: &Platform,
        show: &str,
        gate: &str,
        code: &str,
    ) -> Result<String> {
        let url = platform.url(&format!("/shows/{show}/scans"));
        let request = self.http.post(url).bearer_auth(&self.token);
        let body = json!({"code": code, "gate": gate});
        let answer = expect(StatusCode::OK, request.json(&body).send().await?).await?;
        Ok(answer["result"].as_str().ok_or("no result")?.to_owned())
    }

    /// The same session over a connection of its own.
    pub fn beside(&self) -> Result<Self> {
        let http = Client::builder()
            .pool_max_idle_per_host(1)
            .tcp_nodelay(true)
            .build()?;
        let token = self.token.clone();
        Ok(Self { http, token })
    }

    pub fn token(&self) -> &str {
        &self.token
    }

    pub async fn event(&self, platform: &Platform, sections: Value) -> Result<String> {
        let venue = json!({"name": "Bench Arena", "city": "Hamburg", "timezone": "Europe/Berlin", "sections": sections});
        let venue_id = self.create(platform, "/venues", &venue, "venue_id").await?;
        let event = json!({"title": "Bench", "category": "concert", "venue_id": venue_id});
        self.create(platform, "/events", &event, "event_id").await
    }

    pub async fn show(&self, platform: &Platform, event: &str, settings: Value) -> Result<String> {
        let mut show = json!({
            "starts_at": "2090-01-01T19:00:00Z", "currency": "EUR", "max_tickets_per_buyer": 50,
        });
        if let (Some(show), Value::Object(settings)) = (show.as_object_mut(), settings) {
            show.extend(settings);
        }
        self.create(
            platform,
            &format!("/events/{event}/shows"),
            &show,
            "show_id",
        )
        .await
    }
}

/// The body of an answer with this status; anything else is an error with its text.
pub async fn expect(status: StatusCode, answer: Response) -> Result<Value> {
    if answer.status() != status {
        let (status, url) = (answer.status(), answer.url().clone());
        return Err(format!("{url} answered {status}: {}", answer.text().await?).into());
    }
    Ok(answer.json().await?)
}

/// Latencies in milliseconds, sorted.
pub struct Latencies(Vec<f64>);

impl Latencies {
    pub fn of(samples: impl IntoIterator<Item = Duration>) -> Self {
        let mut ms: Vec<f64> = samples
            .into_iter()
            .map(|took| took.as_secs_f64() * 1_000.0)
            .collect();
        ms.sort_by(f64::total_cmp);
        Self(ms)
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// The latency that this share of the requests did not exceed.
    pub fn at(&self, share: f64) -> f64 {
        let last = self.0.len().saturating_sub(1);
        self.0
            .get((last as f64 * share) as usize)
            .copied()
            .unwrap_or(f64::NAN)
    }
}
