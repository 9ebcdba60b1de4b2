//! Who gets a pass, and who keeps one.

use std::sync::atomic::Ordering;

use http::Method;
use onsale_domain::ids::ShowId;
use onsale_domain::show::RoomMode;
use serde_json::{Value, json};

use crate::scene::{SINCE, Scene, held, settings};

fn jti(told: &Value) -> String {
    use base64::Engine as _;
    let claims = told["pass"].as_str().unwrap().split('.').nth(1).unwrap();
    let claims = base64::prelude::BASE64_URL_SAFE_NO_PAD
        .decode(claims)
        .unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    claims["jti"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn whoever_shops_goes_on_when_a_line_begins_or_the_last_place_is_sold() {
    let scene = Scene::new(settings(RoomMode::Queue, None));
    let (mut ana, mut ben) = (scene.visitor(), scene.visitor());
    scene.run(10).await;
    ana.join().await.expect(201);
    let pass = jti(&ana.enter().await.expect(200).json);
    // The line rests before it has come to Ana, who walked straight in, or to Ben.
    held(&scene.world().news).healthy = false;
    scene.run(3).await;
    ben.join().await.expect(201);
    scene.run(3).await;
    // The line has not reached her, and she is told that she is inside.
    let told = ana.get("status").await.expect(200).json;
    assert_eq!(told["state"], "inside");
    let renewed = ana.enter().await.expect(200).json;
    assert!(told["expires_at"].is_string() && renewed["expires_at"].is_string());
    assert_eq!(jti(&renewed), pass);
    let told = ben.enter().await.expect(425).json;
    assert_eq!(told["state"], "waiting");
    // Everything is held: the line rests. Everything is sold: nobody needs to wait.
    let mut news = held(&scene.world().news).clone();
    (news.free_seats, news.healthy) = (Some(0), true);
    *held(&scene.world().news) = news;
    scene.run(3).await;
    assert_eq!(ben.state().await, "waiting");
    ben.get("challenge").await.expect(200);
    held(&scene.world().news).sold_out = true;
    scene.run(3).await;
    assert_eq!(ben.state().await, "sold_out");
    ben.get("challenge").await.expect(409);
    assert_eq!(ben.enter().await.expect(425).json["state"], "sold_out");
    assert_eq!(jti(&ana.enter().await.expect(200).json), pass);
    // Closed is closed.
    scene
        .world()
        .change(|settings| settings.mode = RoomMode::Closed);
    scene.run(3).await;
    let asked = scene.world().gate_calls.load(Ordering::SeqCst);
    assert_eq!(ana.enter().await.expect(425).json["state"], "closed");
    assert_eq!(scene.world().gate_calls.load(Ordering::SeqCst), asked);
}

#[tokio::test]
async fn without_its_controller_a_room_can_be_read_and_lets_nobody_new_in() {
    let scene = Scene::new(settings(RoomMode::QueueAll, None));
    let (mut ana, mut ben) = (scene.visitor(), scene.visitor());
    scene.run(5).await;
    for visitor in [&mut ana, &mut ben] {
        visitor.join().await.expect(201);
    }
    scene.run(8).await;
    let pass = jti(&ana.enter().await.expect(200).json);
    assert_eq!(ben.state().await, "admitted");
    scene.world().is_silent.store(true, Ordering::SeqCst);
    scene.world().wait(14_000);
    assert_eq!(ben.state().await, "door", "he let the promise lapse");
    scene.world().wait(2_000);
    assert_eq!(ben.state().await, "door", "reading goes on");
    let refused = ben.enter().await.expect(503);
    assert!(refused.retry_after.is_some());
    assert_eq!(refused.json["type"], "urn:onsale:unavailable");
    assert_eq!(jti(&ana.enter().await.expect(200).json), pass);
    scene.world().is_silent.store(false, Ordering::SeqCst);
    scene.run(1).await;
    ben.enter().await.expect(200);
}

#[tokio::test]
async fn a_ticket_lets_its_owner_in_though_the_opening_is_put_off_by_days() {
    const DAY_MS: u64 = 86_400_000;
    let mut room = settings(RoomMode::QueueAll, Some(SINCE + 60_000));
    room.ends = SINCE + 10 * DAY_MS;
    let scene = Scene::new(room);
    scene.run(1).await;
    let (mut ana, mut ben) = (scene.visitor(), scene.visitor());
    let ticket = ana.join().await.expect(201).json["ticket"].clone();
    ben.join().await.expect(201);
    let opens = SINCE + 4 * DAY_MS;
    scene
        .world()
        .change(|settings| settings.opening.opens = Some(opens));
    scene.world().wait(3 * DAY_MS);
    scene.run(1).await;
    assert_eq!(ana.state().await, "prequeue");
    let sent = [("onsale-ticket", ticket.as_str().unwrap())];
    let told = scene.visitor().send(Method::GET, "status", &sent, "").await;
    assert_eq!(told.expect(200).json["state"], "prequeue");
    let email = json!({"email": "ana@example.org"});
    ana.post("remind", email).await.expect(202);
    scene.world().wait(scene.world().now().until(opens));
    scene.run(8).await;
    assert_eq!(ana.state().await, "admitted");
    ana.enter().await.expect(200);
    ana.post("leave", json!({})).await.expect(204);
    scene.world().wait(DAY_MS);
    scene.run(1).await;
    assert_eq!(
        ben.state().await,
        "join",
        "a day after the opening it is over"
    );
    ben.enter().await.expect(401);
}

#[tokio::test]
async fn another_site_cannot_make_a_browser_enter() {
    let scene = Scene::new(settings(RoomMode::Queue, None));
    let mut ana = scene.visitor();
    scene.run(10).await;
    ana.join().await.expect(201);
    for action in ["join", "enter", "leave", "remind"] {
        for origin in ["https://evil.test", "ftp://room.test", "null"] {
            let headers = [("origin", origin)];
            let told = ana.send(http::Method::POST, action, &headers, "{}").await;
            assert_eq!(told.expect(403).json["type"], "urn:onsale:forbidden");
        }
    }
    let headers = [("origin", "https://room.test")];
    let told = ana.send(http::Method::POST, "enter", &headers, "{}").await;
    told.expect(200);
}

#[tokio::test]
async fn made_up_shows_do_not_push_real_ones_out_of_memory() {
    let scene = Scene::new(settings(RoomMode::QueueAll, None));
    scene.run(5).await;
    let mut anybody = scene.visitor();
    for n in 0..1_100_u32 {
        let mut id = [9; 16];
        id[..4].copy_from_slice(&n.to_be_bytes());
        let path = format!("/room/{}/status", ShowId::from_bytes(id));
        anybody.get(&path).await.expect(404);
    }
    scene.world().is_silent.store(true, Ordering::SeqCst);
    assert_eq!(anybody.state().await, "join");
}

#[tokio::test]
async fn whoever_is_told_admitted_enters_whatever_becomes_of_the_room() {
    let scene = Scene::new(settings(RoomMode::QueueAll, None));
    let (mut ana, mut ben) = (scene.visitor(), scene.visitor());
    scene.run(5).await;
    for visitor in [&mut ana, &mut ben] {
        visitor.join().await.expect(201);
    }
    scene.run(8).await;
    let told = ana.get("status").await.expect(200).json;
    assert_eq!(told["state"], "admitted", "{told}");
    assert!(told["ahead"].is_null() && told["wait_seconds"].is_null());
    // The last place is sold. Nobody new is let in, and Ana was promised.
    held(&scene.world().news).sold_out = true;
    scene.run(3).await;
    assert_eq!(ben.state().await, "sold_out");
    assert_eq!(ana.state().await, "admitted");
    assert_eq!(ben.enter().await.expect(425).json["state"], "sold_out");
    ana.enter().await.expect(200);
    assert_eq!(ana.state().await, "inside");
    ana.post("leave", json!({})).await.expect(204);
    assert_eq!(ana.state().await, "sold_out");
}

#[tokio::test]
async fn with_one_slot_the_next_waits_at_the_door_and_learns_how_long_and_what_is_sold() {
    let mut room = settings(RoomMode::QueueAll, None);
    (room.capacity, room.rate_per_second) = (1, 1);
    let scene = Scene::new(room);
    let mut visitors = [scene.visitor(), scene.visitor(), scene.visitor()];
    scene.run(5).await;
    for visitor in &mut visitors {
        visitor.join().await.expect(201);
        scene.run(2).await;
    }
    let [ana, ben, cem] = &mut visitors;
    let mut told = Vec::new();
    for _ in 0..20 {
        scene.run(1).await;
        for visitor in [&mut *cem, &mut *ben] {
            told.push(visitor.state().await);
        }
        if ana.state().await == "admitted" {
            break;
        }
    }
    ana.enter().await.expect(200);
    assert!(!told.contains(&"admitted".to_owned()), "{told:?}");
    for second in 0..60 {
        scene.run(1).await;
        let told = ben.get("status").await.expect(200).json;
        assert_eq!(told["state"], "door", "{told}");
        // Until the room has heard that Ana is through, she stands before him.
        let position = told["position"].as_u64().unwrap();
        assert!(position == 1 || second < 10 && position == 2, "{told}");
        assert!(
            told["wait_seconds"]["p90"].as_u64().unwrap() <= 900,
            "{told}"
        );
        assert!(told["total_waiting"].as_u64().unwrap() >= 1, "{told}");
        assert_eq!(told["sold_out_sections"], json!(["Loge"]));
        assert_eq!(told["message"], "Doors at seven.");
        let behind = cem.get("status").await.expect(200).json;
        assert_ne!(behind["state"], "admitted");
        assert_eq!(ana.state().await, "inside");
    }
    ana.post("leave", json!({})).await.expect(204);
    for _ in 0..8 {
        scene.run(1).await;
        assert_ne!(cem.state().await, "admitted", "nobody is overtaken");
        if ben.state().await == "admitted" {
            ben.enter().await.expect(200);
            return;
        }
    }
    panic!("the slot went to nobody");
}
