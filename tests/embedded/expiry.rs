//! Holds whose time is up, with the consumer of the queue and without it.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::owners::wait_for_counts;
use crate::server::Server;
use crate::visitor::{Visitor, rows};

async fn short_sale(server: &Server) -> (Visitor, Visitor, String) {
    let organiser = Visitor::new(&server.url, "organiser", "organiser").await;
    let event = organiser
        .event(&organiser.venue(json!([rows("A", 1, 10)])).await)
        .await;
    let more = json!({"hold_seconds": 2, "max_tickets_per_buyer": 2});
    let show = organiser.show(&event, json!({"A": 4500}), more).await;
    let ana = Visitor::new(&server.url, "ana", "buyer").await;
    let bo = Visitor::new(&server.url, "bo", "buyer").await;
    (ana, bo, show)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lapsed_seat_is_claimable_although_no_message_is_ever_consumed() {
    let data = tempfile::tempdir().unwrap();
    let args = [
        "--empty",
        "--rate-limit",
        "off",
        "--without",
        "expire-holds",
    ];
    let server = Server::start_with(data.path(), &args).await;
    let (ana, bo, show) = short_sale(&server).await;
    let wanted = json!({"seats": ["A-1-1", "A-1-2"]});
    let held = ana.hold(&show, "k", wanted.clone()).await.expect(201);
    let since = Instant::now();
    let mut attempt = 0;
    loop {
        attempt += 1;
        let answer = bo.hold(&show, &format!("k{attempt}"), wanted.clone()).await;
        if answer.status == 201 {
            break;
        }
        answer.problem(409, "seats_taken");
        assert!(since.elapsed() < Duration::from_secs(20), "still taken");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // Two seconds and the skew of five: not before.
    assert!(
        since.elapsed() >= Duration::from_millis(6_900),
        "{:?}",
        since.elapsed()
    );
    let hold = held["hold_id"].as_str().unwrap();
    let read = ana
        .get(&format!("/api/v1/shows/{show}/holds/{hold}"))
        .await
        .expect(200);
    assert_eq!(read["status"], "expired");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_consumer_frees_the_seats_and_gives_the_cap_back() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let (ana, _, show) = short_sale(&server).await;
    ana.hold(&show, "k", json!({"seats": ["A-1-1", "A-1-2"]}))
        .await
        .expect(201);
    wait_for_counts(&ana, &show, 8, 2).await;
    ana.hold(&show, "l", json!({"seats": ["A-1-3"]}))
        .await
        .problem(422, "limit_exceeded");
    wait_for_counts(&ana, &show, 10, 0).await;
    ana.hold(&show, "l", json!({"seats": ["A-1-1", "A-1-2"]}))
        .await
        .expect(201);
    // The consumer did it: it counted.
    assert!(has_expired(&server).await, "the message was not consumed");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expiry_message_survives_a_crash() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let (ana, _, show) = short_sale(&server).await;
    ana.hold(&show, "k", json!({"seats": ["A-1-1"]}))
        .await
        .expect(201);
    server.kill().await;
    let server = Server::start(data.path()).await;
    assert!(has_expired(&server).await, "the message was lost");
}

/// Waits until the consumer has counted one expiry.
async fn has_expired(server: &Server) -> bool {
    for _ in 0..150 {
        let metrics = reqwest::get(format!("{}/metrics", server.url))
            .await
            .unwrap();
        let text = metrics.text().await.unwrap();
        if text.contains("onsale_holds_total{result=\"expired\"} 1") {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    false
}
