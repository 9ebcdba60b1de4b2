//! What the contract forbids.

use super::*;

#[tokio::test]
async fn what_the_contract_forbids_is_refused() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let (event, show) = service.make_show(&token, evening()).await;
    let new_show = format!("POST /api/v1/events/{event}/shows");
    let change_event = format!("PATCH /api/v1/events/{event}");
    let change_show = format!("PATCH /api/v1/shows/{show}");
    let venues = "POST /api/v1/venues";
    let floor = |section: Value| with(hall(), "sections", json!([section]));
    for (call, body) in [
        (venues, with(hall(), "colour", json!("red"))),
        (venues, with(hall(), "city", Value::Null)),
        (venues, with(hall(), "timezone", json!("Mars".repeat(20)))),
        (
            venues,
            with(hall(), "location", json!({"lat": 90.5, "lon": 0})),
        ),
        (venues, with(hall(), "location", json!([1, 2]))),
        (venues, with(hall(), "sections", json!([]))),
        (venues, floor(json!({"name": "F", "capacity": 100_001}))),
        (venues, floor(json!({"name": "F-1", "capacity": 1}))),
        (
            venues,
            floor(json!({"name": "F", "rows": [{"label": "GA", "seats": 3}]})),
        ),
        (
            new_show.as_str(),
            with(evening(), "prices", json!({"A": 1})),
        ),
        (
            new_show.as_str(),
            with(evening(), "prices", json!({"A": 1, "Floor": -1})),
        ),
        (
            new_show.as_str(),
            with(evening(), "prices", json!({"A": 1, "Floor": 1_000_000_001})),
        ),
        (new_show.as_str(), with(evening(), "currency", json!("eur"))),
        (
            new_show.as_str(),
            with(evening(), "starts_at", json!("tomorrow")),
        ),
        (new_show.as_str(), with(evening(), "hold_seconds", json!(1))),
        (new_show.as_str(), with(evening(), "currency", Value::Null)),
        (
            new_show.as_str(),
            with(evening(), "room", json!({"mode": "sideways"})),
        ),
        (change_show.as_str(), json!({"status": "cancelled"})),
        (change_show.as_str(), json!({"overbook_percent": 1})),
        (change_show.as_str(), json!({"hold_seconds": null})),
        (change_event.as_str(), json!({"title": null})),
        (
            change_event.as_str(),
            json!({"poster_url": "javascript:alert(1)"}),
        ),
        (
            change_event.as_str(),
            json!({"venue_id": "ven_00000000000000000000000000000000"}),
        ),
    ] {
        service
            .write(call, &token, body)
            .await
            .assert_problem(400, "invalid_request");
    }
    for query in [
        "limit=0",
        "limit=101",
        "limit=x",
        "cursor=x",
        "cursor=",
        "sort=price",
        "colour=red",
        "near=1",
        "near=NaN,1",
        "radius_km=5",
        "near=1,1&radius_km=0",
        "max_price=-1",
        "from=now",
        "currency=eur",
        "mine=maybe",
        "city=a&city=b",
    ] {
        let answer = service.get(&format!("/api/v1/events?{query}"), None).await;
        answer.assert_problem(400, "invalid_request");
    }
    for query in ["look=yes", "look=", "look=No", "look=no&look=no", "see=no"] {
        let answer = service
            .get(&format!("/api/v1/shows/{show}?{query}"), None)
            .await;
        answer.assert_problem(400, "invalid_request");
    }
    service
        .get("/api/v1/events?mine=true", None)
        .await
        .assert_problem(401, "unauthenticated");
    service
        .get("/api/v1/shows/evt_1", None)
        .await
        .assert_problem(404, "not_found");
    let nowhere = "PATCH /api/v1/shows/shw_00000000000000000000000000000000";
    service
        .write(nowhere, &token, json!({}))
        .await
        .assert_problem(404, "not_found");
    let call = service.send(venues, None, None, Some(hall())).await;
    call.assert_problem(401, "unauthenticated");
    let buyer = service.log_in(3, Role::Buyer).await;
    service
        .write(venues, &buyer, hall())
        .await
        .assert_problem(403, "forbidden");
}
