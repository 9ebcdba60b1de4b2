//! Who sees a show, and what they see.

use super::*;

#[tokio::test]
async fn a_published_show_is_there_for_everyone() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let (event, show) = service
        .make_show(&token, with(evening(), "overbook_percent", json!(5)))
        .await;

    let answer = service.get(&format!("/api/v1/shows/{show}"), None).await;
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(answer.body["status"], "on_sale");
    assert_eq!(answer.body["starts_at"], STARTS_AT);
    assert_eq!(
        answer.body["prices"]["A"],
        json!({"amount": 4500, "currency": "EUR"})
    );
    assert_eq!(answer.body["room"]["mode"], "off");
    assert_eq!(answer.body["hold_seconds"], 600);

    let about = json!({"event_id": event, "title": "Night", "category": "music"});
    assert_eq!(answer.body["event"], about);
    let place = json!({"name": "Hall", "city": "Berlin", "timezone": "Europe/Berlin"});
    assert_eq!(answer.body["venue"], place);

    let answer = service
        .get(&format!("/api/v1/shows/{show}/layout"), None)
        .await;
    assert_eq!(answer.header("cache-control"), "public, max-age=60");
    let focal = json!({"section": "A", "row": "1", "seat": 2});
    let expected = json!({"version": 1, "places": 48, "focal_point": focal, "sections": [
        {"name": "A", "kind": "seated", "first": 0, "places": 6, "accessible": ["A-2-5"], "rows": [
            {"label": "1", "first": 0, "seats": [1, 2, 3]},
            {"label": "2", "first": 3, "seats": [1, 2, 5]},
        ]},
        {"name": "Floor", "kind": "general", "first": 6, "places": 42, "accessible": []},
    ]});
    assert_eq!(answer.body, expected);

    let answer = service
        .get(&format!("/api/v1/shows/{show}/availability"), None)
        .await;
    let expected = json!({
        "show_id": show, "version": NOW.0, "free": 47, "held": 0, "sold": 0, "total": 47,
        "sections": [
            {"name": "A", "free": 5, "held": 0, "sold": 0, "total": 5},
            {"name": "Floor", "free": 42, "held": 0, "sold": 0, "total": 42},
        ],
    });
    assert_eq!(answer.body, expected);

    let answer = service
        .get(&format!("/api/v1/shows/{show}/availability.bin"), None)
        .await;
    assert_eq!(answer.header("content-type"), "application/octet-stream");
    assert_eq!(answer.header("onsale-version"), NOW.0.to_string());
    assert_eq!(answer.bytes.len(), 12);
    assert_eq!(answer.bytes[0], 0b11_00_00);

    let item = &service
        .get("/api/v1/events?city=berlin&limit=1", None)
        .await
        .body["items"][0];
    let expected = json!({
        "event_id": event, "title": "Night", "category": "music", "city": "Berlin",
        "venue": "Hall", "timezone": "Europe/Berlin", "next_show_at": STARTS_AT, "shows": 1,
        "from_price": {"amount": 2000, "currency": "EUR"}, "status": "on_sale",
    });
    assert_eq!(*item, expected);
    let answer = service.get(&format!("/api/v1/events/{event}"), None).await;
    assert_eq!(answer.body["shows"][0]["show_id"], show);
}

#[tokio::test]
async fn a_look_of_a_program_for_a_page_is_not_counted_as_a_view() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let (_, show) = service.make_show(&token, evening()).await;
    let pricing = format!("PUT /api/v1/shows/{show}/pricing");
    let dynamic = service
        .write(&pricing, &token, json!({"mode": "dynamic"}))
        .await;
    assert_eq!(dynamic.status, StatusCode::OK, "{}", dynamic.body);
    let path = format!("/api/v1/shows/{show}");
    let views_after = async |path: &str| {
        // Views are written down every five seconds.
        for _ in 0..2 {
            service.world.clock.advance(5_000);
            assert_eq!(service.get(path, None).await.status, StatusCode::OK);
        }
        let minute = service.world.app.now().0 / 60_000;
        let store = &service.world.app.store;
        let views = store.views(show.parse().unwrap(), minute - 5..=minute);
        views.await.unwrap()
    };
    assert_eq!(views_after(&format!("{path}?look=no")).await, 0);
    assert_ne!(views_after(&path).await, 0);
}

#[tokio::test]
async fn a_draft_is_seen_by_its_owner_and_kept_by_no_cache() {
    let service = service();
    let token = service.log_in(1, Role::Organiser).await;
    let other = service.log_in(2, Role::Organiser).await;
    let (event, show) = service
        .make_show(&token, with(evening(), "draft", json!(true)))
        .await;
    for part in ["", "/layout", "/availability", "/availability.bin"] {
        let path = format!("/api/v1/shows/{show}{part}");
        service
            .get(&path, None)
            .await
            .assert_problem(404, "not_found");
        service
            .get(&path, Some(&other))
            .await
            .assert_problem(404, "not_found");
        service
            .get(&path, Some("forged"))
            .await
            .assert_problem(401, "unauthenticated");
        let own = service.get(&path, Some(&token)).await;
        assert_eq!(own.status, StatusCode::OK, "{path}");
        assert!(!own.header("cache-control").contains("public"), "{path}");
    }
    service
        .get(&format!("/api/v1/events/{event}"), None)
        .await
        .assert_problem(404, "not_found");
    let publish = json!({"status": "on_sale"});
    let call = format!("PATCH /api/v1/shows/{show}");
    service
        .write(&call, &other, publish.clone())
        .await
        .assert_problem(403, "forbidden");
    assert_eq!(
        service.write(&call, &token, publish).await.body["status"],
        "on_sale"
    );
    assert_eq!(
        service
            .get(&format!("/api/v1/events/{event}"), None)
            .await
            .status,
        StatusCode::OK
    );
}
