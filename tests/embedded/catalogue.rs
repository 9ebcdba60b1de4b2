//! Venues, events and shows over HTTP.

use serde_json::json;

use crate::owners::{states, wait_for_counts};
use crate::server::Server;
use crate::visitor::{Visitor, rows};

#[tokio::test(flavor = "multi_thread")]
async fn an_organiser_sells_a_show_that_others_see_once_it_is_published() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let organiser = Visitor::new(&server.url, "organiser", "organiser").await;
    let stranger = Visitor::anonymous(&server.url);
    let sections = json!([
        {"name": "A", "rows": [{"label": "1", "seats": [1, 2, 5]}, {"label": "2", "seats": 4}], "not_for_sale": ["A-1-5"], "accessible": ["A-2-4"],
         "attributes": {"companion": ["A-2-3"]}, "shape": {"x": 0, "y": 3.25, "curve": 12, "aisles": [2]}},
        {"name": "Floor", "capacity": 40, "shape": {"x": 0, "y": 1, "width": 10, "height": 2}},
    ]);
    let event = organiser.event(&organiser.venue(sections).await).await;
    let more = json!({"draft": true, "overbook_percent": 5});
    let show = organiser
        .show(&event, json!({"A": 4500, "Floor": 2000}), more)
        .await;
    stranger
        .get(&format!("/api/v1/shows/{show}"))
        .await
        .problem(404, "not_found");
    stranger
        .get(&format!("/api/v1/events/{event}"))
        .await
        .problem(404, "not_found");
    let publish = json!({"status": "on_sale"});
    organiser
        .patch(&format!("/api/v1/shows/{show}"), publish)
        .await
        .expect(200);
    let read = stranger
        .get(&format!("/api/v1/shows/{show}"))
        .await
        .expect(200);
    assert_eq!(
        (&read["status"], &read["room"]["mode"]),
        (&json!("on_sale"), &json!("off"))
    );
    let listed = stranger.get("/api/v1/events?query=EVEN").await.expect(200);
    assert_eq!(listed["items"][0]["event_id"], json!(event));
    assert_eq!(
        listed["items"][0]["from_price"],
        json!({"amount": 2000, "currency": "EUR"})
    );

    let layout = stranger
        .get(&format!("/api/v1/shows/{show}/layout"))
        .await
        .expect(200);
    assert_eq!(layout["places"], 49, "two places more on the floor");
    assert_eq!(layout["sections"][0]["rows"][0]["seats"], json!([1, 2, 5]));
    assert_eq!(
        (
            &layout["sections"][1]["kind"],
            &layout["sections"][1]["first"]
        ),
        (&json!("general"), &json!(7))
    );
    let (seated, floor) = (&layout["sections"][0], &layout["sections"][1]);
    assert_eq!(seated["attributes"]["companion"], json!(["A-2-3"]));
    assert_eq!(
        (&seated["shape"]["y"], &seated["shape"]["curve"]),
        (&json!(3.25), &json!(12.0))
    );
    assert_eq!(floor["shape"]["width"], json!(10.0));
    let counts = wait_for_counts(&stranger, &show, 48, 0).await;
    assert_eq!(
        counts["sections"][0]["total"], 6,
        "not for sale is in no count"
    );
    let (_, bits) = stranger
        .bytes(&format!("/api/v1/shows/{show}/availability.bin"))
        .await;
    assert_eq!(states(&bits, 49)[2], 3, "not for sale");
    let ana = Visitor::new(&server.url, "ana", "buyer").await;
    let refused = ana
        .hold(&show, "k", json!({"seats": ["A-1-2", "A-1-5"]}))
        .await;
    assert_eq!(
        refused.problem(409, "seats_taken")["taken"],
        json!(["A-1-5"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_owner_changes_a_show() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let organiser = Visitor::new(&server.url, "organiser", "organiser").await;
    let rival = Visitor::new(&server.url, "rival", "organiser").await;
    let buyer = Visitor::new(&server.url, "buyer", "buyer").await;
    let venue = organiser.venue(json!([rows("A", 1, 4)])).await;
    let event = organiser.event(&venue).await;
    let show = organiser.show(&event, json!({"A": 1}), json!({})).await;
    let path = format!("/api/v1/shows/{show}");
    rival
        .patch(&path, json!({"max_tickets_per_buyer": 1}))
        .await
        .problem(403, "forbidden");
    buyer
        .patch(&path, json!({"max_tickets_per_buyer": 1}))
        .await
        .problem(403, "forbidden");
    buyer
        .post(
            "/api/v1/events",
            json!({"title": "T", "category": "c", "venue_id": venue}),
        )
        .await
        .problem(403, "forbidden");
    Visitor::anonymous(&server.url)
        .patch(&path, json!({}))
        .await
        .problem(401, "unauthenticated");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_thousand_places_are_created_and_read_quickly() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let organiser = Visitor::new(&server.url, "organiser", "organiser").await;
    let sections = json!([rows("A", 1_000, 50), {"name": "Floor", "capacity": 50_000}]);
    let begun = std::time::Instant::now();
    let event = organiser.event(&organiser.venue(sections).await).await;
    let show = organiser
        .show(&event, json!({"A": 1, "Floor": 1}), json!({}))
        .await;
    // It takes a second or two; `scripts/bench scale` has the figures.
    assert!(begun.elapsed() < std::time::Duration::from_secs(60));
    let (_, bits) = organiser
        .bytes(&format!("/api/v1/shows/{show}/availability.bin"))
        .await;
    assert_eq!(bits.len(), 25_000);
    let too_many = json!({"name": "V", "city": "C", "timezone": "UTC", "sections": [{"name": "F", "capacity": 100_001}]});
    organiser
        .post("/api/v1/venues", too_many)
        .await
        .problem(400, "invalid_request");
    // However many ask, the map is rebuilt at most once a second.
    let since = std::time::Instant::now();
    let rebuilds = |metrics: String| -> f64 {
        let line = metrics
            .lines()
            .find(|l| l.starts_with("onsale_map_rebuilds_total "))
            .map(str::to_owned);
        line.map_or(0.0, |l| l.split(' ').next_back().unwrap().parse().unwrap())
    };
    let metrics = || async {
        reqwest::get(format!("{}/metrics", server.url))
            .await
            .unwrap()
            .text()
            .await
            .unwrap()
    };
    let before = rebuilds(metrics().await);
    let path = format!("/api/v1/shows/{show}/availability.bin");
    let readers: Vec<_> = (0..32)
        .map(|_| {
            let (reader, path) = (organiser.clone(), path.clone());
            tokio::spawn(async move {
                let since = std::time::Instant::now();
                while since.elapsed() < std::time::Duration::from_secs(3) {
                    reader.bytes(&path).await;
                }
            })
        })
        .collect();
    for reader in readers {
        reader.await.unwrap();
    }
    let made = rebuilds(metrics().await) - before;
    assert!(
        made >= 1.0 && made <= since.elapsed().as_secs_f64() + 1.0,
        "{made} rebuilds in {:?}",
        since.elapsed()
    );
}
