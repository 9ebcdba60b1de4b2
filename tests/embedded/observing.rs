//! One request id, from the request that pays to the last step of its saga: in the log, in
//! the spans that a collector gets, and in no line more than that.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::process::Command;

use crate::orders::order_of;
use crate::sale::Sale;
use crate::server::{Server, command};
use crate::visitor::{Visitor, rows};
use crate::waiting::Waiting;

const REQUEST: &str = "journey-77";
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// A platform whose log goes to a file, with everything in it that can be asked for.
async fn logging(data: &Path, log: &Path, collector: &str) -> Server {
    let plain = command(data, &["--empty", "--rate-limit", "off", "--port", "0"]);
    let plain = plain.as_std();
    let mut command = Command::new("sh");
    command
        .args(["-c", "exec \"$0\" \"$@\" 2>\"$LOG\""])
        .arg(plain.get_program())
        .args(plain.get_args())
        .env("LOG", log)
        .env("RUST_LOG", "trace")
        .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .kill_on_drop(true);
    Server::from_command(command).await.unwrap()
}

/// What a collector of spans got.
#[derive(Clone, Default)]
struct Collector(Arc<Mutex<Vec<Value>>>);

impl Collector {
    async fn listen(&self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let collector = self.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(collector.clone().serve(stream));
            }
        });
        format!("http://{address}")
    }

    async fn serve(self, mut stream: tokio::net::TcpStream) {
        let (mut read, mut chunk) = (Vec::new(), vec![0; 65_536]);
        while let Ok(bytes @ 1..) = stream.read(&mut chunk).await {
            read.extend_from_slice(&chunk[..bytes]);
            let text = String::from_utf8_lossy(&read).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            let length = head.to_ascii_lowercase();
            let length = length.split("content-length: ").nth(1).unwrap();
            let length: usize = length.lines().next().unwrap().trim().parse().unwrap();
            if body.len() < length {
                continue;
            }
            let told: Value = serde_json::from_str(body).unwrap();
            let spans = &told["resourceSpans"][0]["scopeSpans"][0]["spans"];
            let spans = spans.as_array().unwrap().clone();
            self.0.lock().unwrap().extend(spans);
            read.clear();
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
            stream.write_all(answer).await.unwrap();
        }
    }

    fn of_trace(&self) -> Vec<Value> {
        let spans = self.0.lock().unwrap();
        let ours = spans.iter().filter(|span| span["traceId"] == TRACE);
        ours.cloned().collect()
    }
}

/// Waits until `done` has something to say.
async fn until<T>(what: &str, mut done: impl FnMut() -> Option<T>) -> T {
    for _ in 0..200 {
        if let Some(told) = done() {
            return told;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{what} did not happen");
}

fn lines(log: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(log).unwrap();
    // The last line may be half written.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let line = |line: &str| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
    whole.lines().map(line).collect()
}

async fn metrics(url: &str) -> String {
    let answer = reqwest::get(format!("{url}/metrics")).await.unwrap();
    answer.text().await.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn one_request_id_and_one_trace_lead_from_paying_to_the_last_step() {
    let data = tempfile::tempdir().unwrap();
    let logs = tempfile::tempdir().unwrap();
    let log = logs.path().join("log");
    let collector = Collector::default();
    let server = logging(data.path(), &log, &collector.listen().await).await;
    let (sections, prices) = (json!([rows("A", 2, 10)]), json!({"A": 4501}));
    let sale = Sale::open_on(server, data, sections, prices, json!({})).await;
    let ana = sale.buyer("ana").await;
    let hold = ana.holds(&sale.show, &["A-1-1"]).await;
    let order = order_of(&hold);
    let path = format!("/api/v1/shows/{}/holds/{hold}/checkout", sale.show);
    let pay = ana
        .request(Method::POST, &path)
        .header("idempotency-key", "pay")
        .header("x-request-id", REQUEST)
        .header("traceparent", format!("00-{TRACE}-{CALLER}-01"))
        .json(&json!({"payment_method": "pm_card_visa"}));
    let answer = ana.send(pay).await;
    assert_eq!(answer.headers["x-request-id"], REQUEST);
    answer.expect(202);
    ana.order_becomes(&order, "confirmed").await;

    let second = ana.holds(&sale.show, &["A-1-2"]).await;
    let second = format!("/api/v1/shows/{}/holds/{second}", sale.show);
    ana.delete(&second).await.expect(204);

    // The log: every step of the order, and the mail that tells its buyer.
    let steps = until("the last step", || {
        let done =
            |line: &Value| line["order"] == order.as_str() && line["message"] == "a step is done";
        let steps: Vec<_> = lines(&log).into_iter().filter(done).collect();
        let names: Vec<_> = steps.iter().map(|s| s["step"].to_string()).collect();
        names
            .contains(&"\"announce_confirmed\"".to_owned())
            .then_some(steps)
    });
    let steps = steps.await;
    assert!(steps.len() >= 5, "{steps:#?}");
    for step in &steps {
        assert_eq!(step["request_id"], REQUEST, "{step}");
        assert_eq!(step["trace_id"], TRACE, "{step}");
    }
    until("the news of it", || {
        let told = |line: &Value| {
            line["message"] == "message"
                && line["queue"] == "NotifyQueue"
                && line["request_id"] == REQUEST
        };
        lines(&log).into_iter().find(told)
    })
    .await;
    let request = |line: &Value| line["message"] == "request" && line["request_id"] == REQUEST;
    let all = lines(&log);
    let requests: Vec<_> = all.iter().filter(|line| request(line)).collect();
    assert_eq!(requests.len(), 1, "{requests:#?}");
    assert_eq!(requests[0]["status"], 202);

    // The spans: from the caller's to the step.
    let spans = until("the spans", || {
        let spans = collector.of_trace();
        let last = spans.iter().any(|s| s["name"] == "step announce_confirmed");
        last.then_some(spans)
    });
    let spans = spans.await;
    let parent_of = |span: &Value| {
        let found = spans.iter().find(|s| s["spanId"] == span["parentSpanId"]);
        found
            .unwrap_or_else(|| panic!("{span} has no parent"))
            .clone()
    };
    let named = |name: &str| spans.iter().find(|s| s["name"] == name).unwrap().clone();
    let drive = parent_of(&named("step sell"));
    assert_eq!(drive["name"], "drive");
    let message = parent_of(&drive);
    assert_eq!(message["name"], "process SagaQueue");
    let request = parent_of(&message);
    let route = "POST /api/v1/shows/{show}/holds/{hold}/checkout";
    assert_eq!(request["name"], route);
    assert_eq!(request["parentSpanId"], CALLER);

    // Nothing of what a line, or a span, must not know.
    let text = std::fs::read_to_string(&log).unwrap();
    let told = format!("{text}{:?}", collector.0.lock().unwrap());
    for secret in [
        "correct horse",
        "ana@example.org",
        &ana.token,
        &sale.organiser.token,
    ] {
        assert!(!told.contains(secret), "the log has {secret}");
    }
    let metrics = metrics(&sale.server.url).await;
    for outcome in ["sold", "released"] {
        let counted = format!("onsale_hold_duration_seconds_count{{outcome=\"{outcome}\"}} 1\n");
        assert!(metrics.contains(&counted), "{metrics}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn those_who_wait_are_counted() {
    let room = json!({"mode": "queue", "capacity": 1, "rate_per_second": 1});
    let sale = Sale::small(json!({"room": room})).await;
    let anyone = Visitor::anonymous(&sale.server.url);
    let first = Waiting::join(&anyone, &sale.show).await;
    first.pass().await;
    let _second = Waiting::join(&anyone, &sale.show).await;
    let line = format!("onsale_queue_size{{show=\"{}\"}} 1\n", sale.show);
    for _ in 0..200 {
        if metrics(&sale.server.url).await.contains(&line) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{}", metrics(&sale.server.url).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_edge_gives_every_request_an_id_and_refuses_odd_ones() {
    let sale = Sale::small(json!({})).await;
    let ask = |id: &'static str| {
        let path = "/api/v1/nothing-here";
        let asked = sale.organiser.request(Method::GET, path);
        sale.organiser.send(asked.header("x-request-id", id))
    };
    assert_eq!(ask("kept-1").await.headers["x-request-id"], "kept-1");
    let odd = ask("not <kept>").await;
    assert_eq!(odd.headers["x-request-id"].len(), 16);
}
