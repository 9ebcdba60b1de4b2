//! When the seeds are told, and what is claimed about the draw.

use http::Method;
use onsale_domain::room::draw::Beacon;
use onsale_domain::room::ticket::QueueTicket;
use onsale_domain::show::RoomMode;
use serde_json::Value;

use crate::scene::{SINCE, Scene, settings};

async fn told(scene: &Scene) -> Value {
    scene.visitor().get("fairness").await.expect(200).json
}

#[tokio::test]
async fn no_seed_is_told_while_the_opening_can_still_be_moved() {
    let scene = Scene::new(settings(RoomMode::Queue, None));
    scene.run(60).await;
    let before = told(&scene).await;
    assert!(before["opening"]["seed"].is_null(), "{before}");
    // The organiser calls a lottery after all, and people join it.
    let opens = scene.world().now() + 10_000;
    scene
        .world()
        .change(|wanted| wanted.opening.opens = Some(opens));
    scene.run(1).await;
    let mut ana = scene.visitor();
    ana.join().await.expect(201);
    scene.run(11).await;
    assert!(told(&scene).await["opening"]["seed"].is_null());
    scene.run(12).await;
    let after = told(&scene).await;
    assert!(after["opening"]["seed"].is_string(), "{after}");
    assert_eq!(
        after["opening"]["commitment"],
        before["opening"]["commitment"]
    );
    assert!(ana.get("status").await.expect(200).json["draw"].is_string());
    // From here on it stays as it is.
    scene
        .world()
        .change(|wanted| wanted.opening.opens = Some(opens + 3_600_000));
    scene.run(1).await;
    assert_eq!(told(&scene).await["opens_at"], opens.to_string());
}

#[tokio::test]
async fn a_lottery_that_nobody_was_let_in_from_can_be_postponed_and_nothing_is_told() {
    let opens = SINCE + 10_000;
    let scene = Scene::new(settings(RoomMode::QueueAll, Some(opens)));
    let mut ana = scene.visitor();
    scene.run(1).await;
    ana.join().await.expect(201);
    crate::scene::held(&scene.world().news).healthy = false;
    scene.run(40).await;
    assert!(told(&scene).await["opening"]["seed"].is_null());
    let status = ana.get("status").await.expect(200).json;
    assert_eq!(status["state"], "prequeue");
    assert!(status["draw"].is_null() && status["position"].is_null());
    let later = scene.world().now() + 20_000;
    scene
        .world()
        .change(|wanted| wanted.opening.opens = Some(later));
    scene.run(1).await;
    assert_eq!(told(&scene).await["opens_at"], later.to_string());
}

#[tokio::test]
async fn whoever_is_drawn_is_told_their_own_part_by_a_ticket_that_lets_nobody_in() {
    let opens = SINCE + 10_000;
    let scene = Scene::new(settings(RoomMode::QueueAll, Some(opens)));
    scene.run(1).await;
    let mut ana = scene.visitor();
    let joined = ana.join().await.expect(201).json;
    let before = ana.get("fairness").await.expect(200).json;
    assert!(before["yours"].is_null(), "{before}");
    scene.run(11).await;
    scene.run(12).await;
    let yours = ana.get("fairness").await.expect(200).json["yours"].clone();
    let status = ana.get("status").await.expect(200).json;
    assert!(yours["draw"].is_string(), "{yours}");
    assert_eq!(yours["draw"], status["draw"]);
    let lot = |text: &Value| {
        let ticket = QueueTicket::read_unverified(text.as_str().unwrap());
        ticket.unwrap().lot
    };
    assert_eq!(lot(&yours["ticket"]), lot(&joined["ticket"]));
    let copy = [("onsale-ticket", yours["ticket"].as_str().unwrap())];
    let mut thief = scene.visitor();
    let refused = thief.send(Method::GET, "status", &copy, "").await;
    refused.expect(401);
    assert!(told(&scene).await["yours"].is_null(), "without a ticket");
}

#[tokio::test]
async fn the_second_seed_is_told_when_the_show_begins() {
    let scene = Scene::new(settings(RoomMode::QueueAll, None));
    scene.visitor().join().await.expect(201);
    scene.run(30).await;
    assert!(told(&scene).await["later"]["seed"].is_null());
    scene.world().change(|wanted| wanted.ends = SINCE + 31_000);
    scene.run(2).await;
    assert!(told(&scene).await["later"]["seed"].is_string());
}

#[tokio::test]
async fn more_is_claimed_only_of_a_beacon_that_was_named_in_time() {
    let opens = SINCE + 10_000;
    let named = |name: &str| Beacon::Awaited {
        name: name.to_owned(),
    };
    let scene = Scene::new(settings(RoomMode::QueueAll, Some(opens)));
    let claims = async || told(&scene).await["claims"].as_str().unwrap().to_owned();
    assert!(claims().await.contains("Without a beacon"));
    scene
        .world()
        .change(|wanted| wanted.beacon = named("drand 7"));
    scene.run(1).await;
    assert!(claims().await.contains("the operator included"));
    assert_eq!(told(&scene).await["beacon"]["name"], "drand 7");
    scene.visitor().join().await.expect(201);
    scene.run(2).await;
    assert!(claims().await.contains("the operator included"));
    scene
        .world()
        .change(|wanted| wanted.beacon = named("drand 8"));
    scene.run(1).await;
    assert!(
        claims()
            .await
            .contains("nothing is claimed about the operator")
    );
}
