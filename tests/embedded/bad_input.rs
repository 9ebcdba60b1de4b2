//! Bad input: a clear answer each, and nothing changed.

use reqwest::Method;
use serde_json::{Value, json};

use crate::owners::wait_for_counts;
use crate::sale::Sale;
use crate::server::Server;
use crate::visitor::{Visitor, rows};

#[tokio::test(flavor = "multi_thread")]
async fn a_bad_hold_is_refused_for_its_reason_and_takes_nothing() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let organiser = Visitor::new(&server.url, "organiser", "organiser").await;
    let venue = organiser
        .venue(json!([rows("A", 30, 40), {"name": "Floor", "capacity": 10}]))
        .await;
    let event = organiser.event(&venue).await;
    let show = organiser
        .show(&event, json!({"A": 4500, "Floor": 100}), json!({}))
        .await;
    let later = json!({"on_sale_at": "2099-01-01T10:00:00Z"});
    let unopened = organiser
        .show(&event, json!({"A": 4500, "Floor": 100}), later)
        .await;
    let ana = Visitor::new(&server.url, "ana", "buyer").await;
    let path = format!("/api/v1/shows/{show}/holds");

    let thousand: Vec<_> = (0..1_000)
        .map(|i| format!("A-{}-{}", i / 40 + 1, i % 40 + 1))
        .collect();
    let absurd = "\u{202e}A\u{0}-1-\u{1F984}".repeat(50);
    let cases: Vec<(Value, u16, &str)> = vec![
        (json!({}), 400, "invalid_request"),
        (json!({"seats": []}), 400, "invalid_request"),
        (json!({"seats": ["A-1-1", "A-1-1"]}), 400, "invalid_request"),
        (json!({"seats": ["Z-1-1"]}), 400, "invalid_request"),
        (json!({"seats": [absurd]}), 400, "invalid_request"),
        (json!({"seats": thousand}), 422, "limit_exceeded"),
        (json!({"seats": "A-1-1"}), 400, "invalid_request"),
        (
            json!({"seats": ["A-1-1"], "general": {"section": "Floor", "quantity": 1}}),
            400,
            "invalid_request",
        ),
        (
            json!({"seats": ["A-1-1"], "surprise": true}),
            400,
            "invalid_request",
        ),
        (json!({"seats": null}), 400, "invalid_request"),
        (
            json!({"general": {"section": "Floor", "quantity": 0}}),
            400,
            "invalid_request",
        ),
        (
            json!({"general": {"section": "Floor", "quantity": -1}}),
            400,
            "invalid_request",
        ),
        (
            json!({"general": {"section": "Floor", "quantity": 4_294_967_295u64}}),
            422,
            "limit_exceeded",
        ),
        (
            json!({"best_available": {"quantity": 2, "max_price": {"amount": 1, "currency": "USD"}}}),
            400,
            "invalid_request",
        ),
        (
            json!({"best_available": {"quantity": 2, "max_price": {"amount": 1, "currency": "EUR"}}}),
            409,
            "seats_taken",
        ),
        (json!([1, 2]), 400, "invalid_request"),
    ];
    for (n, (body, status, code)) in cases.into_iter().enumerate() {
        ana.hold(&show, &format!("case-{n}"), body)
            .await
            .problem(status, code);
    }
    let unopened = ana
        .hold(&unopened, "k", json!({"seats": ["A-1-1"]}))
        .await
        .problem(409, "not_on_sale");
    assert_eq!(unopened["on_sale_at"], "2099-01-01T10:00:00Z");

    // Around the body.
    let good = json!({"seats": ["A-1-1"]});
    ana.post(&path, good.clone())
        .await
        .problem(400, "invalid_request");
    let long = "k".repeat(65);
    ana.hold(&show, &long, good.clone())
        .await
        .problem(400, "invalid_request");
    let with = |body: &'static str| {
        ana.request(Method::POST, &path)
            .header("idempotency-key", "k")
            .header("content-type", "application/json")
            .body(body)
    };
    ana.send(with("{\"seats\": ["))
        .await
        .problem(400, "invalid_request");
    ana.send(with("\u{feff}nonsense"))
        .await
        .problem(400, "invalid_request");
    let deep: &'static str =
        Box::leak(format!("{}{}", "[".repeat(20_000), "]".repeat(20_000)).into_boxed_str());
    ana.send(with(deep)).await.problem(400, "invalid_request");
    let large: &'static str =
        Box::leak(format!("{{\"seats\": [\"{}\"]}}", "x".repeat(70_000)).into_boxed_str());
    ana.send(with(large))
        .await
        .problem(413, "payload_too_large");
    let stranger = Visitor::anonymous(&server.url);
    stranger
        .hold(&show, "k", good.clone())
        .await
        .problem(401, "unauthenticated");
    let mut forged = ana.clone();
    forged.token.push('x');
    forged
        .hold(&show, "k", good.clone())
        .await
        .problem(401, "unauthenticated");
    ana.hold("shw_00000000000000000000000000000000", "k", good.clone())
        .await
        .problem(404, "not_found");
    ana.hold("nonsense", "k", good.clone())
        .await
        .problem(404, "not_found");

    // A foreign hold does not exist.
    let held = ana.hold(&show, "mine", good).await.expect(201);
    let bo = Visitor::new(&server.url, "bo", "buyer").await;
    let path = format!("{path}/{}", held["hold_id"].as_str().unwrap());
    bo.get(&path).await.problem(404, "not_found");
    bo.delete(&path).await.problem(404, "not_found");
    assert_eq!(ana.get(&path).await.expect(200)["status"], "held");
    ana.delete(&path).await.expect(204);
    ana.delete(&path).await.expect(204);
    wait_for_counts(&ana, &show, 1_210, 0).await;
    ana.get("/api/v1/nothing").await.problem(404, "not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_path_names_the_methods_that_it_takes() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let stranger = Visitor::anonymous(&server.url);
    for (path, allowed) in [
        ("/healthz", "GET,HEAD"),
        ("/metrics", "GET,HEAD"),
        ("/dev/mail", "GET,HEAD"),
        ("/objects/some/export", "GET,HEAD"),
        ("/operator/reconcile", "POST"),
        ("/api/v1/accounts", "POST"),
        ("/api/v1/events", "GET,HEAD,POST"),
        ("/api/v1/openapi.json", "GET,HEAD"),
        ("/.well-known/jwks.json", "GET,HEAD"),
        ("/", "GET, HEAD"),
        ("/assets/0123456789abcdef/words.js", "GET, HEAD"),
    ] {
        let answer = stranger.send(stranger.request(Method::PUT, path)).await;
        assert_eq!(answer.headers["allow"], allowed, "{path}");
        answer.problem(405, "method_not_allowed");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_takes_no_body_ignores_a_small_one_and_refuses_a_large_one() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let held = ana.holds(&sale.show, &["A-1-1"]).await;
    let path = format!("/api/v1/shows/{}/holds/{held}", sale.show);
    let with = |body: String| ana.request(Method::DELETE, &path).body(body);
    let large = ana.send(with("x".repeat(64 * 1024 + 1))).await;
    large.problem(413, "payload_too_large");
    ana.get(&path).await.expect(200);
    ana.send(with("nonsense".to_owned())).await.expect(204);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_is_far_too_large_is_refused_and_its_sender_sees_why() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let organiser = Visitor::new(&server.url, "organiser", "organiser").await;
    for mebibytes in [5, 40] {
        let body = vec![b' '; mebibytes << 20];
        let request = organiser
            .request(Method::POST, "/api/v1/venues")
            .header("content-type", "application/json")
            .body(body);
        let answer = organiser.send(request).await;
        answer.problem(413, "payload_too_large");
    }
    organiser.get("/api/v1/me").await.expect(200);
}
