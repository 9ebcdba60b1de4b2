//! Spans arrive at a collector: a real one on a socket, and one trace from the request to
//! the step that its message caused.

#![allow(clippy::unwrap_used)]

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::routing::post;
use onsale_consume::Delivery;
use onsale_http::{to_the_end, trace};
use onsale_observe::{Cause, Observed};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tower::ServiceExt;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

#[derive(Clone, Default)]
struct Collector {
    requests: Arc<Mutex<Vec<(String, Value)>>>,
    /// Takes what is sent and never answers.
    silent: Arc<Mutex<bool>>,
}

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
        let mut read = Vec::new();
        loop {
            let mut chunk = [0; 65_536];
            match stream.read(&mut chunk).await {
                Ok(0) | Err(_) => return,
                Ok(bytes) => read.extend_from_slice(&chunk[..bytes]),
            }
            let text = String::from_utf8_lossy(&read).into_owned();
            let Some((head, body)) = text.split_once("\r\n\r\n") else {
                continue;
            };
            let head = head.to_ascii_lowercase();
            let length = head.split("content-length: ").nth(1).unwrap();
            let length: usize = length.lines().next().unwrap().trim().parse().unwrap();
            if body.len() < length {
                continue;
            }
            let told = serde_json::from_str(body).unwrap();
            self.requests.lock().unwrap().push((head, told));
            read.clear();
            if *self.silent.lock().unwrap() {
                std::future::pending::<()>().await;
            }
            let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
            stream.write_all(answer).await.unwrap();
        }
    }

    fn requests(&self) -> usize {
        self.requests.lock().unwrap().len()
    }

    /// Every span that was sent so far.
    fn spans(&self) -> Vec<Value> {
        let requests = self.requests.lock().unwrap();
        let of = |body: &Value| {
            let spans = &body["resourceSpans"][0]["scopeSpans"][0]["spans"];
            spans.as_array().unwrap().clone()
        };
        requests.iter().flat_map(|(_, body)| of(body)).collect()
    }
}

/// A write that sends a message, as the queues do it.
#[tracing::instrument(
    target = "onsale_app",
    level = "debug",
    skip_all,
    fields(order = "ord_1")
)]
async fn check_out(sent: Arc<Mutex<Option<Cause>>>) -> onsale_app::Result<()> {
    *sent.lock().unwrap() = Cause::current();
    Ok(())
}

#[tracing::instrument(target = "onsale_app", level = "debug", skip_all, fields(otel.name = "step sell"))]
async fn step() {}

fn message(cause: &Cause) -> Delivery {
    let trace = cause.trace().unwrap().to_string();
    Delivery {
        id: "m-1".to_owned(),
        queue: "SagaQueue".to_owned(),
        attributes: vec![
            ("request_id".to_owned(), cause.request_id().to_owned()),
            ("traceparent".to_owned(), trace),
        ],
        ..Delivery::default()
    }
}

/// What a client sends and what its message leads to; the id in the answer.
async fn journey(observed: &Observed) -> String {
    let sent = Arc::new(Mutex::new(None));
    let handler = {
        let sent = sent.clone();
        move || async move { to_the_end(check_out(sent)).await.map(|()| "done") }
    };
    let router = Router::new().route("/shows/{show}/pay", post(handler));
    let request = Request::post("/shows/shw_1/pay")
        .header("x-request-id", "req-7")
        .header("traceparent", format!("00-{TRACE}-{CALLER}-01"))
        .body(Body::empty())
        .unwrap();
    let router = trace::observed(router, observed.clone());
    let answer = router.oneshot(request).await.unwrap();
    let cause = sent.lock().unwrap().clone().unwrap();
    let handled = onsale_consume::each(vec![message(&cause)], |_| async {
        step().await;
        Ok(())
    });
    let failed = observed.around(handled).await;
    assert!(failed.is_empty());
    answer.headers()["x-request-id"]
        .to_str()
        .unwrap()
        .to_owned()
}

/// One test, for a process has one subscriber.
#[tokio::test(flavor = "multi_thread")]
async fn one_trace_goes_from_the_request_to_the_step_and_a_dead_collector_hurts_nobody() {
    let collector = Collector::default();
    let endpoint = collector.listen().await;
    let observed = onsale_observe::lambda_with("checkout", move |name| match name {
        "OTEL_EXPORTER_OTLP_ENDPOINT" => Some(endpoint.clone()),
        "OTEL_EXPORTER_OTLP_HEADERS" => Some("x-api-key=se%20cret".to_owned()),
        "OTEL_SERVICE_NAME" => Some("shop".to_owned()),
        "RUST_LOG" => Some("error".to_owned()),
        _ => None,
    });
    assert_eq!(journey(&observed).await, "req-7");

    let (head, first) = collector.requests.lock().unwrap()[0].clone();
    assert!(head.starts_with("post /v1/traces "), "{head}");
    assert!(head.contains("x-api-key: se cret"), "{head}");
    assert!(head.contains("content-type: application/json"), "{head}");
    let resource = &first["resourceSpans"][0]["resource"]["attributes"];
    let service = json!([{"key": "service.name", "value": {"stringValue": "shop"}}]);
    assert_eq!(*resource, service);

    let spans = collector.spans();
    let named = |name: &str| {
        let found = spans.iter().find(|span| span["name"] == name);
        found.unwrap_or_else(|| panic!("no {name} in {spans:#?}"))
    };
    assert!(
        spans.iter().all(|span| span["traceId"] == TRACE),
        "{spans:#?}"
    );
    let request = named("POST /shows/{show}/pay");
    assert_eq!(
        (&request["parentSpanId"], &request["kind"]),
        (&CALLER.into(), &2.into())
    );
    let use_case = named("check_out");
    assert_eq!(use_case["parentSpanId"], request["spanId"]);
    let message = named("process SagaQueue");
    assert_eq!(
        (&message["parentSpanId"], &message["kind"]),
        (&request["spanId"], &5.into())
    );
    assert_eq!(named("step sell")["parentSpanId"], message["spanId"]);
    assert_eq!(spans.len(), 4);
    let mut ids: Vec<_> = spans.iter().map(|s| s["spanId"].to_string()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    let times = |span: &Value, name: &str| span[name].as_str().unwrap().parse::<u128>().unwrap();
    for span in &spans {
        assert!(times(span, "startTimeUnixNano") <= times(span, "endTimeUnixNano"));
    }
    let status = json!({"key": "http.response.status_code", "value": {"intValue": "200"}});
    assert!(request["attributes"].as_array().unwrap().contains(&status));

    // It stops to answer, for good. The next invocation waits for it a moment, and then nobody
    // even asks it.
    *collector.silent.lock().unwrap() = true;
    let before = collector.requests();
    let started = Instant::now();
    assert_eq!(journey(&observed).await, "req-7");
    let waited = started.elapsed();
    assert!(waited >= Duration::from_millis(200), "{waited:?}");
    assert_eq!(collector.requests(), before + 1);
    journey(&observed).await;
    assert_eq!(collector.requests(), before + 1);
}
