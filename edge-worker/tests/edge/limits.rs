//! How often an address and a ticket may ask.

use std::sync::atomic::Ordering;

use http::Method;
use onsale_domain::show::RoomMode;
use onsale_edge::EdgeLimits;
use serde_json::json;

use crate::scene::{SHOW, Scene, Visitor, held, secrets, settings};

async fn scene() -> Scene {
    let scene = Scene::with(
        settings(RoomMode::QueueAll, None),
        secrets(&[]),
        EdgeLimits::new(1_000),
    );
    scene.run(5).await;
    scene
}

fn at<'a>(scene: &'a Scene, address: &str) -> Visitor<'a> {
    Visitor {
        address: address.to_owned(),
        ..scene.visitor()
    }
}

#[test]
fn a_limit_by_which_nobody_could_ask_is_refused_in_words() {
    for wrong in ["0", "1000001", "-1", "many", " 5"] {
        for (address, ticket) in [(Some(wrong), None), (None, Some(wrong))] {
            let why = EdgeLimits::configured(address, ticket).unwrap_err();
            assert!(why.contains("1 to 1000000"), "{wrong}: {why}");
        }
    }
    for right in [None, Some(""), Some("1"), Some("1000000")] {
        EdgeLimits::configured(right, right).unwrap();
    }
}

#[tokio::test]
async fn a_ticket_asks_as_often_as_it_is_set() {
    let limits = EdgeLimits::configured(None, Some("3")).unwrap();
    let scene = Scene::with(settings(RoomMode::QueueAll, None), secrets(&[]), limits);
    scene.run(5).await;
    let mut ana = at(&scene, "192.0.2.1");
    ana.join().await.expect(201);
    for _ in 0..3 {
        ana.get("status").await.expect(200);
    }
    ana.get("status").await.expect(429);
    at(&scene, "192.0.2.1").get("status").await.expect(200);
}

#[tokio::test]
async fn a_ticket_asks_twenty_times_in_ten_seconds() {
    for (method, action) in [(Method::GET, "status"), (Method::POST, "enter")] {
        let scene = scene().await;
        let mut ana = at(&scene, "192.0.2.1");
        ana.join().await.expect(201);
        for _ in 0..20 {
            let told = ana.send(method.clone(), action, &[], "").await;
            assert_ne!(told.status, 429);
        }
        let told = ana.send(method, action, &[], "").await.expect(429);
        assert!(told.retry_after.is_some());
        at(&scene, "192.0.2.1").get("status").await.expect(200);
    }
}

/// Whoever only waits does not press on the gates; whoever shops is renewed as ever.
#[tokio::test]
async fn a_gate_is_asked_twice_in_ten_seconds_about_a_ticket_whose_turn_it_is_not() {
    let scene = scene().await;
    let (mut ana, mut ben) = (at(&scene, "192.0.2.1"), at(&scene, "192.0.2.2"));
    ana.join().await.expect(201);
    scene.run(8).await;
    ana.enter().await.expect(200);
    // The line rests, and begins again far behind Ana.
    held(&scene.world().news).healthy = false;
    scene.run(3).await;
    ben.join().await.expect(201);
    scene.run(5).await;
    let asked = || scene.world().gate_calls.load(Ordering::SeqCst);
    let before = asked();
    for _ in 0..9 {
        assert_eq!(ben.enter().await.expect(425).json["state"], "waiting");
    }
    assert_eq!(asked(), before + 2);
    for _ in 0..9 {
        ana.enter().await.expect(200);
    }
}

#[tokio::test]
async fn an_address_that_asks_for_many_challenges_works_more() {
    let scene = scene().await;
    let cost = async |address: &str| {
        let mut visitor = at(&scene, address);
        let told = visitor.get("challenge").await.expect(200).json;
        told["parameters"]["cost"].as_u64().unwrap()
    };
    let usual = cost("192.0.2.1").await;
    for _ in 0..9 {
        assert_eq!(cost("192.0.2.1").await, usual);
    }
    assert!(cost("192.0.2.1").await > usual);
    assert_eq!(cost("192.0.2.2").await, usual);
    // A house has a whole network of addresses.
    for n in 0..10 {
        cost(&format!("2001:db8:1:2::{n}")).await;
    }
    assert!(cost("2001:db8:1:2:ffff::1").await > usual);
    assert_eq!(cost("2001:db8:1:3::1").await, usual);
    assert!(
        cost("::ffff:192.0.2.1").await > usual,
        "the same in other words"
    );
}

/// Looking at the page costs nobody behind the same address anything.
#[tokio::test]
async fn few_who_waited_instead_of_working_join_from_one_address() {
    let scene = scene().await;
    let mut forms = Vec::new();
    for _ in 0..20 {
        let mut visitor = at(&scene, "192.0.2.1");
        let page = visitor.page("").await.expect(200).text;
        let altcha = page.split("name=\"altcha\" value=\"").nth(1).unwrap();
        let altcha = altcha.split('"').next().unwrap().to_owned();
        forms.push((visitor, altcha));
    }
    scene.run(21).await;
    let mut statuses = Vec::new();
    for (visitor, altcha) in &mut forms {
        let body = json!({"altcha": altcha});
        statuses.push(visitor.post("join", body).await.status);
    }
    assert_eq!(statuses[..6], [201; 6]);
    assert_eq!(statuses[6..], [429; 14]);
}

#[tokio::test]
async fn an_address_registers_few_fans() {
    let scene = scene().await;
    let path = format!("/api/v1/shows/{SHOW}/fans");
    for n in 0..10 {
        let mut fan = at(&scene, &format!("2001:db8:1:2::{n}"));
        fan.post(&path, json!({"email": "a@b.c"})).await.expect(202);
    }
    let mut late = at(&scene, "2001:db8:1:2::ff");
    late.post(&path, json!({"email": "a@b.c"}))
        .await
        .expect(429);
    late.get(&path).await.expect(202);
    let mut other = at(&scene, "2001:db8:1:3::1");
    other
        .post(&path, json!({"email": "a@b.c"}))
        .await
        .expect(202);
}

/// A provider tells of every payment of a sale from a few addresses.
#[tokio::test]
async fn the_webhooks_of_an_address_may_be_many_and_large() {
    let room = settings(RoomMode::QueueAll, None);
    let scene = Scene::with(room, secrets(&[]), EdgeLimits::new(5));
    let mut provider = at(&scene, "192.0.2.1");
    let event = json!({"data": "x".repeat(200 << 10)});
    for _ in 0..50 {
        let told = provider.post("/api/v1/payments/webhook", event.clone());
        told.await.expect(202);
    }
    let too_large = json!({"data": "x".repeat(256 << 10)});
    let told = provider.post("/api/v1/payments/webhook", too_large);
    told.await.expect(413);
    let mut other = at(&scene, "192.0.2.2");
    let orders = "/api/v1/orders";
    for _ in 0..5 {
        other.get(orders).await.expect(202);
    }
    other.get(orders).await.expect(429);
}
