//! A room in which little happens, and one that cannot be reached: what is said by old
//! bulletins.

use std::sync::atomic::Ordering;
use std::time::Duration;

use http::Method;
use onsale_domain::room::opening::CLOSING_MS;
use onsale_domain::show::RoomMode;
use onsale_edge::EdgeLimits;

use crate::scene::{SHOW, Scene, held, secrets, settings};

#[tokio::test]
async fn a_quiet_room_is_open_for_whoever_comes_and_from_its_first_moment() {
    let scene = Scene::new(settings(RoomMode::Queue, None));
    // No bucket has closed yet.
    const { assert!(1_000 < CLOSING_MS) };
    scene.world().run(1);
    assert_eq!(scene.visitor().state().await, "open");
    let mut ana = scene.visitor();
    ana.join().await.expect(201);
    assert_eq!(ana.state().await, "admitted");
    // A visitor every few seconds, with nobody asking in between.
    for seconds in [2, 3, 4, 5, 8, 9, 30] {
        scene.world().run(seconds);
        assert_eq!(scene.visitor().state().await, "open", "after {seconds} s");
    }
}

#[tokio::test]
async fn a_controller_that_hangs_holds_one_visitor_up_and_not_everybody() {
    let scene = Scene::new(settings(RoomMode::QueueAll, None));
    scene.run(5).await;
    scene.world().hangs.store(true, Ordering::SeqCst);
    scene.world().wait(20_000);
    let asked = scene.world().bulletins_asked.load(Ordering::SeqCst);
    let (edge, host) = (scene.edge.clone(), scene.host.clone());
    let first = tokio::spawn(async move {
        let request = http::Request::get(format!("/room/{SHOW}/status"));
        let request = request.body(Vec::new()).unwrap();
        edge.handle(&host, request, "192.0.2.9").await
    });
    while scene.world().bulletins_asked.load(Ordering::SeqCst) == asked {
        tokio::task::yield_now().await;
    }
    for _ in 0..50 {
        let mut visitor = scene.visitor();
        let told = tokio::time::timeout(Duration::from_secs(5), visitor.state());
        assert_eq!(told.await.unwrap(), "join");
    }
    assert_eq!(
        scene.world().bulletins_asked.load(Ordering::SeqCst),
        asked + 1
    );
    assert!(!first.is_finished());
    first.abort();
}

#[tokio::test]
async fn once_the_show_has_begun_the_room_is_closed() {
    let mut wanted = settings(RoomMode::QueueAll, None);
    wanted.ends = crate::scene::SINCE + 20_000;
    let scene = Scene::new(wanted);
    let mut ana = scene.visitor();
    scene.run(5).await;
    ana.join().await.expect(201);
    scene.run(16).await;
    assert_eq!(ana.state().await, "closed");
    assert_eq!(scene.visitor().state().await, "closed");
    ana.get("challenge").await.expect(409);
    assert_eq!(ana.enter().await.expect(425).json["state"], "closed");
}

#[tokio::test]
async fn the_page_of_a_sold_out_room_leads_to_the_waitlist_without_a_script_too() {
    let scene = Scene::new(settings(RoomMode::QueueAll, None));
    scene.run(5).await;
    let link = format!("href=\"/shows/{SHOW}\"");
    let told = scene.visitor().page("").await.expect(200);
    assert!(!told.text.contains(&link), "{}", told.text);
    held(&scene.world().news).free_seats = Some(0);
    held(&scene.world().news).sold_out = true;
    scene.run(3).await;
    let told = scene.visitor().page("").await.expect(200);
    assert!(told.text.contains(&link), "{}", told.text);
}

#[tokio::test]
async fn the_page_of_a_room_answers_head_and_is_a_page_for_browsers_even_when_it_refuses() {
    let limits = EdgeLimits::new(3);
    let scene = Scene::with(settings(RoomMode::Queue, None), secrets(&[]), limits);
    let html = [("accept", "text/html")];
    let mut ana = scene.visitor();
    ana.send(Method::HEAD, "", &html, "").await.expect(200);
    ana.send(Method::HEAD, "status", &[], "").await.expect(200);
    let told = ana.send(Method::PUT, "", &[], "").await.expect(405);
    assert_eq!(told.media_type, "application/problem+json");
    let told = ana.page("").await.expect(429);
    assert!(
        told.media_type.starts_with("text/html"),
        "{}",
        told.media_type
    );
    assert!(told.retry_after.is_some());
    let mut ben = scene.visitor();
    ben.address = "192.0.2.7".to_owned();
    let told = ben.page("/room/shw_nonsense").await.expect(404);
    assert!(
        told.media_type.starts_with("text/html"),
        "{}",
        told.media_type
    );
    let told = ben.get("/room/shw_nonsense").await.expect(404);
    assert_eq!(told.media_type, "application/problem+json");
}
