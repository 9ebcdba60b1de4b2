//! Accounts and sessions over HTTP.

use std::time::Instant;

use reqwest::{Method, RequestBuilder};
use serde_json::json;

use crate::promise::is_measured;
use crate::server::{LOAD, Server, command};
use crate::visitor::{Answer, Visitor, crowd};

/// Addresses of each kind for which links are asked for.
const ASKED_FOR: usize = 40;

#[tokio::test(flavor = "multi_thread")]
async fn a_token_dies_with_its_log_out_and_survives_a_restart() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let ana = Visitor::new(&server.url, "ana", "buyer").await;
    let me = ana.get("/api/v1/me").await.expect(200);
    assert_eq!(
        (&me["email"], &me["role"]),
        (&json!("ana@example.org"), &json!("buyer"))
    );
    server.kill().await;
    let server = Server::start(data.path()).await;
    let ana = ana.at(&server.url);
    assert_eq!(ana.get("/api/v1/me").await.expect(200), me);
    ana.delete("/api/v1/sessions/current").await.expect(204);
    ana.get("/api/v1/me").await.problem(401, "unauthenticated");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_log_in_does_not_tell_whether_the_email_exists() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    Visitor::new(&server.url, "ana", "buyer").await;
    let stranger = Visitor::anonymous(&server.url);
    let attempt = |email: &str| json!({"email": email, "password": "wrong horse"});
    let known = stranger
        .post("/api/v1/sessions", attempt("ana@example.org"))
        .await;
    let unknown = stranger
        .post("/api/v1/sessions", attempt("nobody@example.org"))
        .await;
    assert_eq!(known.body, unknown.body);
    known.problem(401, "unauthenticated");
    unknown.problem(401, "unauthenticated");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_email_is_taken_once_and_a_retry_finds_its_account() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let stranger = Visitor::anonymous(&server.url);
    let account = json!({"email": "Ana@Example.org", "password": "correct horse", "name": "Ana", "role": "organiser"});
    let register = |key: &'static str, body: &serde_json::Value| {
        let request = stranger
            .request(Method::POST, "/api/v1/accounts")
            .header("idempotency-key", key);
        stranger.send(request.json(body))
    };
    let first = register("k", &account).await.expect(201);
    assert_eq!(register("k", &account).await.expect(201), first);
    let mut other = account.clone();
    other["name"] = json!("Bo");
    register("k", &other)
        .await
        .problem(422, "idempotency_mismatch");
    register("l", &account).await.problem(409, "email_taken");
}

/// The first refusal of somebody who asks again and again.
async fn first_refusal(visitor: &Visitor, ask: impl Fn() -> RequestBuilder) -> Answer {
    for _ in 0..30 {
        let answer = visitor.send_once(ask()).await;
        if answer.status == 429 {
            return answer;
        }
    }
    panic!("nobody was told to wait");
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_answer_429_with_the_time_to_wait() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_with(data.path(), &["--empty"]).await;
    let stranger = Visitor::anonymous(&server.url);
    let body = json!({"email": "ana@example.org", "password": "wrong horse"});
    let log_in = || stranger.request(Method::POST, "/api/v1/sessions");
    let refused = first_refusal(&stranger, || log_in().json(&body)).await;
    assert!(
        refused.headers["retry-after"]
            .to_str()
            .unwrap()
            .parse::<u64>()
            .unwrap()
            >= 1
    );
    refused.problem(429, "rate_limited");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_waits_as_long_as_they_are_told_is_answered() {
    let data = tempfile::tempdir().unwrap();
    let mut command = command(data.path(), &["--empty", "--port", "0"]);
    command.env("ONSALE_REQUESTS_PER_ADDRESS", "5");
    let server = Server::from_command(command).await.unwrap();
    let stranger = Visitor::anonymous(&server.url);
    let ask = || stranger.request(Method::GET, "/api/v1/events");
    first_refusal(&stranger, ask).await;
    stranger.send(ask()).await.expect(200);
}

/// Whoever asks for links to addresses must not learn which of them have accounts: not by
/// the answer, and not by the time that it takes. Both kinds are asked for in turns, so that
/// whatever else the machine does falls on both.
#[tokio::test(flavor = "multi_thread")]
async fn a_link_for_nobody_takes_as_long_as_one_for_somebody() {
    let _alone = LOAD.lock().await;
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    crowd(&server.url, ASKED_FOR).await;
    let stranger = Visitor::anonymous(&server.url);
    let mut took = [Vec::new(), Vec::new()];
    for round in 0..3 {
        for n in 0..ASKED_FOR {
            let names = [format!("buyer{n}"), format!("nobody{n}")];
            for who in [n % 2, 1 - n % 2] {
                let body = json!({"email": format!("{}@example.org", names[who])});
                let began = Instant::now();
                let answer = stranger.post("/api/v1/password-resets", body).await;
                let elapsed = began.elapsed();
                assert_eq!(answer.expect(202), json!({}));
                // The first round warms everything up.
                if round > 0 {
                    took[who].push(elapsed);
                }
            }
        }
    }
    let [known, unknown] = took.map(|mut all| {
        all.sort();
        all[all.len() / 2].as_secs_f64()
    });
    let ratio = known.max(unknown) / known.min(unknown);
    // Whoever else uses the machine makes some answers slow, and rarely as many of each kind.
    let most = if is_measured() { 1.5 } else { 3.0 };
    assert!(ratio < most, "known {known} s, unknown {unknown} s");
}

/// A form can send a body of any of these kinds without asking us first.
#[tokio::test(flavor = "multi_thread")]
async fn a_form_of_another_site_opens_no_session() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start_with(data.path(), &["--empty"]).await;
    let stranger = Visitor::anonymous(&server.url);
    let kinds = ["text/plain", "multipart/form-data; boundary=x"];
    let paths = [
        "/api/v1/session-links/none",
        "/api/v1/sessions",
        "/api/v1/accounts",
        "/api/v1/password-resets/none",
    ];
    for (kind, path) in kinds.iter().flat_map(|kind| paths.map(|path| (kind, path))) {
        let form = |origin: &str| {
            let request = stranger.request(Method::POST, path);
            let request = request.header("content-type", *kind).body("a=b");
            stranger.send(request.header("origin", origin))
        };
        let refused = form("https://evil.example").await;
        assert!(!refused.headers.contains_key("set-cookie"), "{path}");
        refused.problem(403, "forbidden");
        let ours = form(&server.url).await;
        assert_ne!(ours.status.as_u16(), 403, "{path} as {kind}");
    }
}
