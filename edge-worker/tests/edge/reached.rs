//! Visitors at the door: what they are told on another machine, without a script, and when
//! they go.

use std::sync::atomic::Ordering;

use http::Method;
use onsale_domain::room::allotment::Grant;
use onsale_domain::room::frontier::Place;
use onsale_domain::room::gate::{GateIndex, Knock, Knocked};
use onsale_domain::room::opaque::Lot;
use onsale_domain::show::RoomMode;
use onsale_edge::objects::gate::GateObject;

use crate::controller::Around;
use crate::scene::{SHOW, SINCE, Scene, Visitor, settings};

/// A room, a machine elsewhere that knows how it was before the line reached Ana, and her
/// cookies.
async fn reached_here_and_not_elsewhere(
    scene: &Scene,
) -> (Scene, std::collections::BTreeMap<String, String>) {
    let mut ana = scene.visitor();
    scene.run(5).await;
    ana.join().await.expect(201);
    let mut elsewhere = scene.elsewhere();
    for _ in 0..20 {
        match ana.state().await.as_str() {
            "admitted" => {
                // Nothing newer is heard there.
                scene.world().is_silent.store(true, Ordering::SeqCst);
                return (elsewhere, ana.cookies);
            }
            "waiting" => {
                elsewhere = scene.elsewhere();
                elsewhere.visitor().get("status").await.expect(200);
            }
            _ => {}
        }
        scene.run(1).await;
    }
    panic!("never admitted");
}

fn at<'a>(scene: &'a Scene, cookies: &std::collections::BTreeMap<String, String>) -> Visitor<'a> {
    Visitor {
        cookies: cookies.clone(),
        ..scene.visitor()
    }
}

#[tokio::test]
async fn a_visitor_who_was_told_admitted_is_told_so_by_a_machine_that_is_behind() {
    let scene = Scene::new(settings(RoomMode::QueueAll, None));
    let (elsewhere, cookies) = reached_here_and_not_elsewhere(&scene).await;
    // Without the proof that they were at the door, this machine would say otherwise.
    let mut forgetful = at(&elsewhere, &cookies);
    forgetful.cookies.remove("onsale_reached");
    assert_eq!(forgetful.state().await, "waiting");
    let mut ana = at(&elsewhere, &cookies);
    assert_eq!(ana.state().await, "admitted");
    ana.enter().await.expect(200);
}

#[tokio::test]
async fn a_visitor_who_entered_is_inside_on_a_machine_that_is_behind() {
    let scene = Scene::new(settings(RoomMode::QueueAll, None));
    let (elsewhere, cookies) = reached_here_and_not_elsewhere(&scene).await;
    let mut ana = at(&scene, &cookies);
    ana.cookies.remove("onsale_reached");
    ana.enter().await.expect(200);
    // Without the proof that she was at the door, this machine would not ask her gate.
    let mut forgetful = at(&elsewhere, &ana.cookies);
    forgetful.cookies.remove("onsale_reached");
    assert_eq!(forgetful.state().await, "waiting");
    let mut ana = at(&elsewhere, &ana.cookies);
    let page = ana.page("?inside").await.expect(200).text;
    assert!(page.contains("<h2>You may buy now</h2>"), "{page}");
}

#[tokio::test]
async fn without_a_script_nobody_is_told_inside_after_the_pass_has_lapsed_or_the_room_closed() {
    let scene = Scene::new(settings(RoomMode::QueueAll, None));
    let (mut ana, mut ben) = (scene.visitor(), scene.visitor());
    scene.run(5).await;
    ana.join().await.expect(201);
    ben.join().await.expect(201);
    let waiting = ben.page("?inside").await.expect(200).text;
    assert!(!waiting.contains("You may buy now"), "{waiting}");
    scene.run(8).await;
    ana.enter().await.expect(200);
    scene.run(400).await;
    let lapsed = ana.page("?inside").await.expect(200).text;
    assert!(!lapsed.contains("You may buy now"), "{lapsed}");
    (scene.world()).change(|settings| settings.mode = RoomMode::Closed);
    scene.run(3).await;
    let closed = ben.page("?inside").await.expect(200).text;
    assert!(closed.contains("The waiting room is closed."), "{closed}");
    assert!(closed.contains("http-equiv=\"refresh\""), "{closed}");
}

#[tokio::test]
async fn without_a_script_a_visitor_reads_how_long_it_is_until_the_draw() {
    let opens = SINCE + 20 * 60_000;
    let scene = Scene::new(settings(RoomMode::QueueAll, Some(opens)));
    scene.run(30).await;
    let mut ana = scene.visitor();
    ana.join().await.expect(201);
    let page = ana.page("").await.expect(200).text;
    let said = "Time until the draw: about 20 minutes.";
    assert!(page.contains(said), "{page}");
    assert!(!page.contains(&opens.to_string()), "{page}");
}

#[tokio::test]
async fn nobody_else_and_no_later_visitor_is_at_the_door_by_that_proof() {
    let scene = Scene::new(settings(RoomMode::QueueAll, None));
    let (elsewhere, cookies) = reached_here_and_not_elsewhere(&scene).await;
    let (until, tag) = cookies["onsale_reached"].split_once('.').unwrap();
    let later = format!("{}.{tag}", until.parse::<u64>().unwrap() + 1);
    for forged in [later, format!("{until}.0"), "1.".to_owned(), String::new()] {
        let mut ana = at(&elsewhere, &cookies);
        ana.cookies.insert("onsale_reached".to_owned(), forged);
        assert_eq!(ana.state().await, "waiting");
    }
    assert_eq!(at(&elsewhere, &cookies).state().await, "admitted");
}

/// Everybody at the door without a script: one press, or the page by itself.
#[tokio::test]
async fn without_a_script_the_page_says_next_and_goes_in_by_itself_or_at_the_first_press() {
    for presses in [false, true] {
        let scene = Scene::new(settings(RoomMode::QueueAll, None));
        let mut ana = scene.visitor();
        scene.run(5).await;
        ana.join().await.expect(201);
        let waiting = ana.page("").await.expect(200).text;
        assert!(waiting.contains("Doors at seven."), "{waiting}");
        assert!(waiting.contains("<dd>Loge</dd>"), "{waiting}");
        scene.run(8).await;
        let page = ana.page("").await.expect(200).text;
        assert!(page.contains("<h2>You are next</h2>"), "{page}");
        assert!(!page.contains("It is your turn"), "{page}");
        let itself = format!("content=\"0;url=/room/{SHOW}?enter\"");
        assert!(page.contains(&itself), "{page}");
        let entered = match presses {
            true => ana.form("enter", "").await,
            false => ana.page("?enter").await,
        };
        let entered = entered.expect(303);
        assert_eq!(entered.location, Some(format!("/room/{SHOW}?inside")));
        assert!(ana.cookies.contains_key("onsale_pass"));
        let page = ana.page("?inside").await.expect(200).text;
        assert!(page.contains("<h2>You may buy now</h2>"), "{page}");
    }
}

#[tokio::test]
async fn a_page_that_enters_too_early_leads_back_and_another_site_cannot_make_it_enter() {
    let mut room = settings(RoomMode::QueueAll, None);
    (room.capacity, room.rate_per_second) = (1, 1);
    let scene = Scene::new(room);
    let (mut ana, mut ben) = (scene.visitor(), scene.visitor());
    scene.run(5).await;
    ana.join().await.expect(201);
    scene.run(3).await;
    ben.join().await.expect(201);
    for _ in 0..20 {
        scene.run(1).await;
        ana.page("").await.expect(200);
    }
    let headers = [("accept", "text/html"), ("sec-fetch-site", "cross-site")];
    ana.send(Method::GET, "?enter", &headers, "")
        .await
        .expect(200);
    assert!(!ana.cookies.contains_key("onsale_pass"));
    ana.page("?enter").await.expect(303);
    assert!(ana.cookies.contains_key("onsale_pass"));
    let back = ben.page("?enter").await.expect(303);
    assert_eq!(back.location, Some(format!("/room/{SHOW}")));
    // Without a ticket there is a page as well.
    let nobody = scene.visitor().page("?enter").await.expect(401);
    assert!(nobody.media_type.starts_with("text/html"));
}

#[tokio::test]
async fn a_browser_that_meets_a_silent_gate_gets_a_page_that_looks_again() {
    let scene = Scene::new(settings(RoomMode::QueueAll, None));
    let mut ana = scene.visitor();
    scene.run(5).await;
    ana.join().await.expect(201);
    scene.run(8).await;
    scene.world().gates_are_silent.store(true, Ordering::SeqCst);
    let page = ana.page("").await.expect(503);
    assert!(page.media_type.starts_with("text/html"), "{}", page.text);
    assert_eq!(page.refresh, Some(format!("2; url=/room/{SHOW}")));
    let problem = ana.get("status").await.expect(503);
    assert_eq!(problem.json["type"], "urn:onsale:unavailable");
}

#[tokio::test]
async fn who_leaves_before_entering_gives_the_promised_slot_back() {
    let around = Around::default();
    let keys = "test:a-secret-of-thirty-two-characters".parse().unwrap();
    let index = GateIndex::all().next().unwrap();
    let gate = GateObject::new(SHOW, index, around.clone(), around.clone(), keys);
    let grant = Grant {
        version: 1,
        slots: 1,
        entries: 5,
        turn: Some(Place::LAST),
        step: 0,
        ended: vec![],
        ended_from: 0,
    };
    gate.grant(&grant).await.unwrap();
    let knock = |n: u8| Knock {
        lot: Lot([n; 16]),
        place: Place::LAST,
        may_begin: true,
    };
    assert_eq!(gate.knock(&knock(1)).await.unwrap(), Knocked::Admitted);
    assert_eq!(gate.knock(&knock(2)).await.unwrap(), Knocked::Door);
    assert!(gate.leave(Lot([1; 16])).await.unwrap());
    assert_eq!(gate.knock(&knock(2)).await.unwrap(), Knocked::Admitted);
    assert_eq!(gate.knock(&knock(1)).await.unwrap(), Knocked::Spent);
    // Nobody was promised anything here, so there is nothing to give back.
    assert!(!gate.leave(Lot([3; 16])).await.unwrap());
    let report = gate.grant(&grant).await.unwrap();
    assert_eq!((report.entered, report.returned, report.live), (2, 1, 1));
}
