//! Search over HTTP: what is new is found, also misspelt; the index outlives a crash, and
//! is built anew when it is damaged.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::promise::{PATIENCE, promised};
use crate::server::Server;
use crate::show_cancellation::cancel_show;
use crate::visitor::{Visitor, rows};

/// Asks until the answer of the index is as it should be.
async fn found_by_index(visitor: &Visitor, query: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        let answer = visitor.get(&format!("/api/v1/events?{query}")).await;
        let answer = answer.expect(200);
        // Only the index counts.
        let waited = began.elapsed();
        if answer.get("facets").is_some() && wanted(&answer) {
            promised("the index knows", waited, Duration::from_secs(5));
            return answer;
        }
        assert!(waited < PATIENCE, "{query}: {answer}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn has(event: &str) -> impl Fn(&Value) -> bool {
    move |answer| answer["items"][0]["event_id"] == json!(event)
}

async fn publish(organiser: &Visitor, title: &str) -> (String, String) {
    let venue = organiser.venue(json!([rows("A", 2, 4)])).await;
    let new = json!({"title": title, "category": "music", "venue_id": venue});
    let event = organiser.post("/api/v1/events", new).await.expect(201);
    let event = event["event_id"].as_str().unwrap().to_owned();
    let show = organiser.show(&event, json!({"A": 4500}), json!({})).await;
    (event, show)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_event_is_found_at_once_and_soon_by_the_index() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let organiser = Visitor::new(&server.url, "organiser", "organiser").await;
    let stranger = Visitor::anonymous(&server.url);
    publish(&organiser, "Лебединое озеро").await;
    found_by_index(&stranger, "", |answer| answer["items"][0].is_object()).await;

    let (event, show) = publish(&organiser, "Die Zauberflöte").await;
    let listed = stranger.get("/api/v1/events?query=zauberfl%C3%B6te").await;
    assert!(has(&event)(&listed.expect(200)), "published is seen");
    // A letter amiss, which only the index forgives.
    let answer = found_by_index(&stranger, "query=zauberfloehte", has(&event)).await;
    assert_eq!(answer["items"].as_array().unwrap().len(), 1);
    assert_eq!(
        answer["facets"]["category"],
        json!([{"value": "music", "count": 1}])
    );

    let change = json!({"title": "Rigoletto"});
    let path = format!("/api/v1/events/{event}");
    organiser.patch(&path, change).await.expect(200);
    found_by_index(&stranger, "query=rigolleto", has(&event)).await;
    found_by_index(&stranger, "query=zauberfloehte", |a| {
        a["items"] == json!([])
    })
    .await;

    cancel_show(&organiser, &show).await.expect(202);
    let called_off = |a: &Value| a["items"][0]["status"] == "cancelled";
    found_by_index(&stranger, "query=rigolleto", called_off).await;
    found_by_index(&stranger, "query=rigolleto&max_price=9999", |a| {
        a["items"] == json!([])
    })
    .await;
    let wrong = stranger.get("/api/v1/events?sort=distance").await;
    wrong.problem(400, "invalid_request");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_index_outlives_a_crash_and_is_built_anew_when_it_is_damaged() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let organiser = Visitor::new(&server.url, "organiser", "organiser").await;
    let (event, _) = publish(&organiser, "Die Zauberflöte").await;
    let stranger = Visitor::anonymous(&server.url);
    found_by_index(&stranger, "query=zauberfloehte", has(&event)).await;
    server.kill().await;

    // The writer rests: what is found was there before.
    let args = [
        "--empty",
        "--rate-limit",
        "off",
        "--without",
        "index-events",
    ];
    let server = Server::start_with(data.path(), &args).await;
    let stranger = Visitor::anonymous(&server.url);
    found_by_index(&stranger, "query=zauberfloehte", has(&event)).await;
    server.kill().await;

    for damage in [damage_files as fn(&Path), lose_everything] {
        damage(&data.path().join("objects").join("Bucket"));
        let server = Server::start_with(data.path(), &args).await;
        let stranger = Visitor::anonymous(&server.url);
        let listed = stranger
            .get("/api/v1/events?query=zauber")
            .await
            .expect(200);
        assert!(
            has(&event)(&listed) && listed.get("facets").is_none(),
            "{listed}"
        );
        server.kill().await;
        let server = Server::start(data.path()).await;
        let stranger = Visitor::anonymous(&server.url);
        found_by_index(&stranger, "query=zauberfloehte", has(&event)).await;
        server.kill().await;
    }
}

fn damage_files(bucket: &Path) {
    for entry in bucket.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.to_string_lossy().contains("manifest") {
            continue;
        }
        let mut bytes = std::fs::read(&path).unwrap();
        if let Some(last) = bytes.last_mut() {
            *last ^= 1;
        }
        std::fs::write(&path, bytes).unwrap();
    }
}

fn lose_everything(bucket: &Path) {
    std::fs::remove_dir_all(bucket).unwrap();
}
