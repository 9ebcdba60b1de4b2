//! The plan of a venue: stage, shapes and what is special about seats.

use super::*;

/// Two blocks of seats and a floor, drawn.
fn theatre() -> Value {
    json!({
        "name": "Theatre", "city": "Berlin", "timezone": "Europe/Berlin",
        "stage": {"x": -8, "y": -6.5, "width": 16, "height": 6},
        "sections": [
            {"name": "Stalls", "rows": [{"label": "1", "seats": 10}, {"label": "2", "seats": 12}],
             "accessible": ["Stalls-2-1"],
             "attributes": {"restricted_view": ["Stalls-1-1", "Stalls-1-10"], "companion": ["Stalls-2-2"]},
             "shape": {"x": 0.125, "y": 4, "turn": -12.5, "curve": 20, "row_pitch": 0.95,
                       "seat_pitch": 0.5, "aisles": [5]}},
            {"name": "Balcony", "rows": [{"label": "1", "seats": 4}], "shape": {"x": 0, "y": 30}},
            {"name": "Floor", "capacity": 40,
             "shape": {"x": 0, "y": 1, "turn": 180, "width": 12, "height": 2.5}},
        ],
    })
}

async fn show_in(service: &Service, token: &str, venue: Value) -> String {
    let venue = service.write("POST /api/v1/venues", token, venue).await;
    assert_eq!(venue.status, StatusCode::CREATED, "{}", venue.body);
    let event = json!({"title": "Night", "category": "music", "venue_id": venue.body["venue_id"]});
    let event = service.write("POST /api/v1/events", token, event).await;
    let event = event.body["event_id"].as_str().unwrap().to_owned();
    let prices = json!({"Stalls": 4500, "Balcony": 2000, "Floor": 1000});
    let call = format!("POST /api/v1/events/{event}/shows");
    let show = service
        .write(&call, token, with(evening(), "prices", prices))
        .await;
    assert_eq!(show.status, StatusCode::CREATED, "{}", show.body);
    show.body["show_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_plan_is_read_as_it_was_written_with_the_defaults_filled_in() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let show = show_in(&service, &token, theatre()).await;
    let path = format!("/api/v1/shows/{show}/layout");
    let layout = service.get(&path, None).await.body;
    let stage = json!({"x": -8.0, "y": -6.5, "width": 16.0, "height": 6.0});
    assert_eq!(layout["stage"], stage);
    assert_eq!(layout.get("focal_point"), None);
    let stalls = &layout["sections"][0];
    let given = &theatre()["sections"][0];
    assert_eq!(stalls["attributes"], given["attributes"]);
    assert_eq!(stalls["accessible"], given["accessible"]);
    assert_eq!(
        stalls["shape"],
        json!({"x": 0.125, "y": 4.0, "turn": -12.5, "curve": 20.0, "row_pitch": 0.95,
               "seat_pitch": 0.5, "aisles": [5]})
    );
    assert_eq!(
        layout["sections"][1]["shape"],
        json!({"x": 0.0, "y": 30.0, "turn": 0.0, "curve": 0.0, "row_pitch": 0.9,
               "seat_pitch": 0.55, "aisles": []})
    );
    assert_eq!(layout["sections"][1].get("attributes"), None);
    assert_eq!(
        layout["sections"][2]["shape"],
        json!({"x": 0.0, "y": 1.0, "turn": 180.0, "width": 12.0, "height": 2.5})
    );
}

#[tokio::test]
async fn a_version_of_a_layout_may_be_kept_for_ever_and_no_other_exists() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let (_, show) = service.make_show(&token, evening()).await;
    let path = format!("/api/v1/shows/{show}");
    let version = service.get(&path, None).await.body["version"].clone();
    let layout = format!("{path}/layout");
    let without = service.get(&layout, None).await;
    assert_eq!(without.header("cache-control"), "public, max-age=60");
    let with = service
        .get(&format!("{layout}?version={version}"), None)
        .await;
    assert_eq!(
        with.header("cache-control"),
        "public, max-age=31536000, immutable"
    );
    assert_eq!(with.body, without.body);
    assert_eq!(with.body["version"], version);
    let other = service.get(&format!("{layout}?version=77"), None).await;
    other.assert_problem(404, "not_found");
    for wrong in ["?version=x", "?version=-1", "?colour=red"] {
        let refused = service.get(&format!("{layout}{wrong}"), None).await;
        refused.assert_problem(400, "invalid_request");
    }
    let draft = with_draft(&service, &token).await;
    let path = format!("/api/v1/shows/{draft}/layout?version=1");
    let seen = service.get(&path, Some(&token)).await;
    assert_eq!(seen.header("cache-control"), "private, no-store");
}

async fn with_draft(service: &Service, token: &str) -> String {
    let draft = with(evening(), "draft", json!(true));
    service.make_show(token, draft).await.1
}

#[tokio::test]
async fn a_plan_that_cannot_be_drawn_is_refused() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let spoilt = |pointer: &str, value: Value| {
        let mut venue = theatre();
        *venue.pointer_mut(pointer).unwrap() = value;
        venue
    };
    let wrong = [
        ("/stage/x", json!(1000.5)),
        ("/stage/width", json!(0)),
        (
            "/stage",
            json!({"x": 0, "y": 0, "width": 1, "height": 1, "depth": 1}),
        ),
        ("/sections/0/shape/turn", json!(360.5)),
        ("/sections/0/shape/row_pitch", json!(0.05)),
        ("/sections/0/shape/seat_pitch", json!(-1)),
        ("/sections/0/shape/curve", json!("round")),
        // Twelve seats of half a metre do not fit around a metre and a half.
        ("/sections/0/shape/curve", json!(0.25)),
        ("/sections/0/shape/aisles", json!([13])),
        ("/sections/0/shape/aisles", json!([5, 5])),
        (
            "/sections/0/shape/aisles",
            json!((1..=101).collect::<Vec<_>>()),
        ),
        (
            "/sections/0/shape",
            json!({"x": 0, "y": 0, "width": 2, "height": 2}),
        ),
        ("/sections/2/shape", json!({"x": 0, "y": 0, "curve": 2})),
        ("/sections/0/attributes/companion", json!(["Balcony-1-1"])),
        (
            "/sections/0/attributes/restricted_view",
            json!(["Stalls-1-11"]),
        ),
        ("/sections/0/attributes", json!({"aisle": []})),
    ];
    for (pointer, value) in wrong {
        let venue = spoilt(pointer, value.clone());
        let refused = service.write("POST /api/v1/venues", &token, venue).await;
        assert_eq!(refused.status, 400, "{pointer} {value}: {}", refused.body);
        refused.assert_problem(400, "invalid_request");
    }
}

#[tokio::test]
async fn the_layout_of_fifty_thousand_seats_with_a_plan_stays_small() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let rows: Vec<_> = (1..=125)
        .map(|n| json!({"label": n.to_string(), "seats": 40}))
        .collect();
    let section = |n: usize| {
        let shape = json!({"x": 0, "y": 10, "turn": 36 * n, "curve": 30, "aisles": [10, 30]});
        json!({"name": format!("S{n}"), "rows": rows, "shape": shape})
    };
    let venue = with(theatre(), "sections", (0..10).map(section).collect());
    let venue = service.write("POST /api/v1/venues", &token, venue).await;
    assert_eq!(venue.body["places"], 50_000, "{}", venue.body);
    let event = json!({"title": "Night", "category": "music", "venue_id": venue.body["venue_id"]});
    let event = service.write("POST /api/v1/events", &token, event).await;
    let prices: serde_json::Map<_, _> = (0..10).map(|n| (format!("S{n}"), json!(1))).collect();
    let call = format!(
        "POST /api/v1/events/{}/shows",
        event.body["event_id"].as_str().unwrap()
    );
    let show = service
        .write(&call, &token, with(evening(), "prices", prices.into()))
        .await;
    let show = show.body["show_id"].as_str().unwrap();
    let layout = service
        .get(&format!("/api/v1/shows/{show}/layout"), None)
        .await;
    assert!(layout.bytes.len() < 200_000, "{}", layout.bytes.len());
}
