//! Answers that come again, in pages, and large ones; and what may be left out.

use super::*;

#[tokio::test]
async fn a_key_gives_the_first_answer_again() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let create = |body| service.send("POST /api/v1/venues", Some(&token), Some("k"), Some(body));
    let first = create(hall()).await;
    assert_eq!(
        (first.status, &first.body["places"]),
        (StatusCode::CREATED, &json!(46))
    );
    assert_eq!(create(hall()).await.body, first.body);
    let other = create(with(hall(), "name", json!("Other"))).await;
    other.assert_problem(422, "idempotency_mismatch");
    let venue = first.body["venue_id"].as_str().unwrap();
    let path = format!("/api/v1/venues/{venue}");
    assert_eq!(service.get(&path, Some(&token)).await.body["name"], "Hall");
    service
        .get(&path, None)
        .await
        .assert_problem(401, "unauthenticated");
}

#[tokio::test]
async fn pages_follow_their_cursors() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let mut expected = Vec::new();
    for _ in 0..5 {
        service.world.clock.advance(1);
        expected.insert(0, service.make_show(&token, evening()).await.0);
    }
    for sort in ["relevance", "date"] {
        let (mut path, mut found) = (format!("/api/v1/events?limit=2&sort={sort}"), Vec::new());
        loop {
            let page = service.get(&path, None).await.body;
            let ids = page["items"].as_array().unwrap().iter();
            found.extend(ids.map(|item| item["event_id"].as_str().unwrap().to_owned()));
            let Some(cursor) = page["next_cursor"].as_str() else {
                break;
            };
            path = format!("/api/v1/events?limit=2&sort={sort}&cursor={cursor}");
        }
        if sort == "date" {
            expected.sort();
        }
        assert_eq!(found, expected, "{sort}");
    }
}

#[tokio::test]
async fn the_largest_venue_fits_its_body_and_everyone_can_read_it() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let row = |n: usize| json!({"label": n.to_string(), "seats": (1..=100).collect::<Vec<_>>()});
    let section = |name: &str| json!({"name": name, "rows": (0..500).map(row).collect::<Vec<_>>()});
    let venue = with(hall(), "sections", json!([section("A"), section("B")]));
    let created = service.write("POST /api/v1/venues", &token, venue).await;
    assert_eq!(created.body["places"], 100_000, "{}", created.body);
    let event =
        json!({"title": "Night", "category": "music", "venue_id": created.body["venue_id"]});
    let event = service
        .write("POST /api/v1/events", &token, event)
        .await
        .body;
    let call = format!(
        "POST /api/v1/events/{}/shows",
        event["event_id"].as_str().unwrap()
    );
    let prices = with(evening(), "prices", json!({"A": 1, "B": 1}));
    let show = service.write(&call, &token, prices).await.body;
    let path = format!(
        "/api/v1/shows/{}/availability.bin",
        show["show_id"].as_str().unwrap()
    );
    assert_eq!(service.get(&path, None).await.bytes.len(), 25_000);
}

#[tokio::test]
async fn a_room_shows_its_beacon_and_keeps_a_known_one() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let room = json!({"mode": "queue", "beacon": {"name": "drand 7"}});
    let (_, show) = service
        .make_show(&token, with(evening(), "room", room))
        .await;
    let path = format!("/api/v1/shows/{show}");
    let shown = service.get(&path, None).await.body;
    assert_eq!(shown["room"]["beacon"], json!({"name": "drand 7"}));
    let known = json!({"name": "drand 7", "value": "0aff"});
    let patch = format!("PATCH {path}");
    let change = |beacon: &Value| json!({"room": {"beacon": beacon}});
    // A value that is known while people join proves nothing.
    let early = service.write(&patch, &token, change(&known)).await;
    early.assert_problem(409, "conflict");
    service.world.clock.advance(60_000);
    let changed = service.write(&patch, &token, change(&known)).await;
    assert_eq!(changed.body["room"]["beacon"], known);
    let removed = service.write(&patch, &token, change(&Value::Null)).await;
    removed.assert_problem(409, "conflict");
    let spoilt = json!({"name": "drand 7", "value": "0a0"});
    let refused = service.write(&patch, &token, change(&spoilt)).await;
    refused.assert_problem(400, "invalid_request");
    assert_eq!(
        service.get(&path, Some(&token)).await.body["room"]["beacon"],
        known
    );
}

#[tokio::test]
async fn everybody_learns_where_an_event_is_and_by_which_clocks() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let venue = with(hall(), "address", json!("Kanalstraße 7"));
    let venue = service.write("POST /api/v1/venues", &token, venue).await;
    let event = json!({"title": "Night", "category": "music", "venue_id": venue.body["venue_id"]});
    let event = service.write("POST /api/v1/events", &token, event).await;
    let path = format!(
        "/api/v1/events/{}",
        event.body["event_id"].as_str().unwrap()
    );
    let shows = format!("POST {path}/shows");
    service.write(&shows, &token, evening()).await;
    let told = service.get(&path, None).await.body;
    assert_eq!(
        (&told["venue"], &told["address"], &told["timezone"]),
        (
            &json!("Hall"),
            &json!("Kanalstraße 7"),
            &json!("Europe/Berlin")
        )
    );
}

#[tokio::test]
async fn null_is_the_same_as_leaving_an_optional_field_out() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let venue = json!({
        "name": "Hall", "city": "Berlin", "timezone": "Europe/Berlin",
        "address": null, "location": null, "focal_point": null,
        "sections": [
            {"name": "A", "rows": [{"label": "1", "seats": 3}], "capacity": null,
             "not_for_sale": null, "accessible": null},
            {"name": "Floor", "rows": null, "capacity": 40,
             "not_for_sale": null, "accessible": null},
        ],
    });
    let venue = service.write("POST /api/v1/venues", &token, venue).await;
    assert_eq!(venue.body["places"], 43, "{}", venue.body);
    let event = json!({
        "title": "Night", "category": "music", "venue_id": venue.body["venue_id"],
        "description": null, "poster_url": null,
    });
    let event = service.write("POST /api/v1/events", &token, event).await;
    let event = event.body["event_id"].as_str().unwrap();
    let shows = format!("POST /api/v1/events/{event}/shows");
    let told = async |show: Value| {
        let created = service.write(&shows, &token, show).await.body;
        let show = created["show_id"].as_str().unwrap();
        let path = format!("/api/v1/shows/{show}");
        let told = service.get(&path, Some(&token)).await.body;
        with(told, "show_id", Value::Null)
    };
    let plain = told(evening()).await;
    let mut nothing = evening();
    for field in [
        "on_sale_at",
        "hold_seconds",
        "max_tickets_per_buyer",
        "refund_policy",
        "room",
        "overbook_percent",
        "draft",
    ] {
        nothing[field] = Value::Null;
    }
    assert_eq!(told(nothing).await, plain);
    let room = json!({
        "mode": null, "capacity": null, "rate_per_second": null, "order": null,
        "opens_at": null, "pass_seconds": null, "beacon": null,
    });
    assert_eq!(told(with(evening(), "room", room)).await, plain);
}

#[tokio::test]
async fn bounds_of_prices_that_are_null_have_their_defaults() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let (_, show) = service.make_show(&token, evening()).await;
    let call = format!("PUT /api/v1/shows/{show}/pricing");
    let change = json!({"mode": "dynamic", "floor": null, "ceiling": null});
    let changed = service.write(&call, &token, change).await.body;
    let dynamic = json!({"mode": "dynamic", "floor": 0.7, "ceiling": 3.0});
    assert_eq!(changed, dynamic);
    let change = json!({"mode": "fixed", "floor": null, "ceiling": null});
    let changed = service.write(&call, &token, change).await.body;
    assert_eq!(changed, json!({"mode": "fixed"}));
}
