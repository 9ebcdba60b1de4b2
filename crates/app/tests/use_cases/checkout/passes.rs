//! A show with a waiting room: passes end with their orders, and the edge is told.

use onsale_app::Error;
use onsale_app::ports::ShowNotes;
use onsale_domain::event::Event;
use onsale_domain::ids::ShowId;
use onsale_domain::order::{OrderStatus, Stage};
use onsale_domain::room::opaque::PassId;
use onsale_domain::show::{RoomMode, Show, StoredStatus};
use onsale_test_support::stage::Plan;

use crate::checkout::scene::{NOW, Scene, key, seats};

async fn scene() -> Scene {
    Scene::with(Plan {
        room: RoomMode::Queue,
        ..Plan::default()
    })
    .await
}

impl Scene {
    fn pass_is_closed(&self) -> bool {
        let used = self.world.table.pass_use(self.show.pass(1).pass);
        used.is_some_and(|pass| pass.closed)
    }

    async fn ended(&self, since: u64) -> Vec<PassId> {
        let briefing = self.app.briefing(self.show.show.id, since).await;
        briefing.unwrap().news.ended
    }
}

#[tokio::test]
async fn a_confirmed_order_ends_its_pass_and_the_edge_is_told() {
    let scene = scene().await;
    let pass = scene.show.pass(1).pass;
    assert_eq!(scene.ended(0).await, []);
    let id = scene.paid("h", &["A-1-1"]).await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Confirmed);
    assert!(scene.pass_is_closed());
    assert_eq!(scene.ended(0).await, [pass]);
}

#[tokio::test]
async fn an_order_ends_the_pass_of_its_own_hold_and_not_the_one_in_use() {
    let scene = scene().await;
    let first = scene.hold(&scene.ana, "1", &["A-1-1"]).await.hold_id;
    let (show, second) = (scene.show.show.id, scene.show.pass(2));
    let (key, wish) = (key("2"), seats(&["A-1-2"]));
    let held = scene
        .app
        .place_hold(&scene.ana, show, &key, &wish, Some(&second));
    held.await.unwrap();
    scene.check_out(first, "1", "pm_card_visa").await.unwrap();
    scene.settle().await;
    assert!(scene.pass_is_closed());
    assert_eq!(scene.ended(0).await, [scene.show.pass(1).pass]);
    let used = scene.world.table.pass_use(second.pass).unwrap();
    assert!(!used.closed);
}

#[tokio::test]
async fn an_order_that_is_not_confirmed_leaves_the_pass_as_it_is() {
    for method in ["pm_card_chargeDeclined", "pm_sandbox_capture_fails"] {
        let scene = scene().await;
        scene.started(method).await;
        scene.settle().await;
        assert!(!scene.pass_is_closed(), "{method}");
        assert_eq!(scene.ended(0).await, [], "{method}");
    }
}

#[tokio::test]
async fn a_pass_that_cannot_be_closed_is_tried_again_and_the_order_goes_on() {
    let scene = scene().await;
    let id = scene.stopped_at("update PAS").await;
    let order = scene.order(id).await;
    assert_eq!(order.stage, Stage::Announcing);
    assert_eq!(
        order.status(),
        OrderStatus::Confirmed,
        "for its buyer it is done"
    );
    assert!(scene.world.bus.told().is_empty());
    scene.settle().await;
    assert!(scene.pass_is_closed());
    assert_eq!(scene.world.bus.told().len(), 1);
    scene.assert_consistent(id, "closed at last").await;
}

#[tokio::test]
async fn without_a_room_an_order_looks_for_no_pass() {
    let scene = Scene::new().await;
    scene.world.faults.arm(None);
    scene.paid("h", &["A-1-1"]).await;
    assert_eq!(scene.world.faults.calls_of("update PAS"), 0);
}

#[tokio::test]
async fn a_briefing_says_what_the_show_is_and_how_much_is_left() {
    let scene = scene().await;
    scene.hold(&scene.ana, "h", &["A-1-1"]).await;
    scene.world.clock.advance(1_000);
    let briefing = scene.app.briefing(scene.show.show.id, 0).await.unwrap();
    assert_eq!(briefing.title, "Rehearsal");
    assert_eq!(briefing.settings.mode, RoomMode::Queue);
    assert_eq!(briefing.settings.ends, scene.show.show.starts_at);
    assert_eq!(briefing.news.free_seats, Some(159));
    assert_eq!(briefing.news.cursor, NOW.0 + 1_000);
    assert!(briefing.news.healthy);
}

#[tokio::test]
async fn a_store_that_takes_two_seconds_over_a_briefing_is_ill_for_as_long_as_it_does() {
    let scene = scene().await;
    for (took_ms, healthy) in [(2_000, false), (1_999, true), (9_000, false), (0, true)] {
        let clock = scene.world.clock.clone();
        let slow = async move { clock.advance(took_ms) };
        scene.world.faults.before_next("query ENDED", slow);
        let before = scene.app.now();
        let briefing = scene.app.briefing(scene.show.show.id, 0).await.unwrap();
        assert_eq!(briefing.news.healthy, healthy, "{took_ms} ms");
        // What changed meanwhile is left for the next one.
        assert_eq!(briefing.news.cursor, before.0);
    }
}

#[tokio::test]
async fn briefings_overlap_by_fifteen_seconds_and_name_no_pass_that_has_lapsed() {
    let scene = scene().await;
    let (show, store) = (scene.show.show.id, &scene.world.store);
    let (old, pass) = (PassId([1; 16]), PassId([2; 16]));
    store.close_pass(old, show, NOW).await.unwrap();
    scene.world.clock.advance(900_000);
    let closed = scene.app.now();
    scene.app.close_pass(show, pass).await.unwrap();
    scene.world.clock.advance(1_000);
    scene.app.close_pass(show, pass).await.unwrap();
    assert_eq!(scene.ended(0).await, [old, pass]);
    assert_eq!(scene.ended(closed.0 + 15_000).await, [pass]);
    assert_eq!(scene.ended(closed.0 + 15_001).await, []);
    scene.world.clock.advance(59_001);
    assert_eq!(scene.ended(0).await, [pass], "the first one ended long ago");
    let elsewhere = ShowId::from_bytes([9; 16]);
    let unknown = scene.app.close_pass(elsewhere, pass).await;
    assert_eq!(unknown, Err(Error::NotFound("show")));
}

#[tokio::test]
async fn a_crowd_of_ended_passes_is_told_in_parts_and_none_is_left_out() {
    let scene = scene().await;
    let (show, store) = (scene.show.show.id, &scene.world.store);
    // One a millisecond, for longer than a briefing can name.
    let all: Vec<_> = (0..25_000u32).map(pass).collect();
    for (n, pass) in (0u64..).zip(&all) {
        store.close_pass(*pass, show, NOW + n).await.unwrap();
    }
    scene.world.clock.advance(40_000);
    let (mut told, mut since) = (std::collections::BTreeSet::new(), 0);
    for _ in 0..3 {
        let news = scene.app.briefing(show, since).await.unwrap().news;
        assert!(news.ended.len() <= 20_000 && news.cursor > since);
        assert!(news.cursor <= scene.app.now().0, "never ahead of the clock");
        told.extend(news.ended);
        since = news.cursor;
        scene.world.clock.advance(1_000);
    }
    assert_eq!(told.len(), all.len());
}

fn pass(n: u32) -> PassId {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&n.to_be_bytes());
    PassId(bytes)
}

#[tokio::test]
async fn nobody_is_let_in_to_a_show_that_cannot_be_read() {
    let scene = scene().await;
    scene.world.faults.fail_always("get MAP", true);
    let blind = scene.app.briefing(scene.show.show.id, 0).await;
    assert_eq!(blind, Err(Error::Unavailable));
}

#[tokio::test]
async fn a_draft_has_no_room_and_a_cancelled_show_a_closed_one() {
    let scene = scene().await;
    let id = scene.show.show.id;
    let unknown = scene.app.briefing(ShowId::from_bytes([9; 16]), 0).await;
    assert_eq!(unknown, Err(Error::NotFound("show")));
    for (status, expected) in [
        (StoredStatus::Draft, Err(Error::NotFound("show"))),
        (StoredStatus::Cancelled, Ok(RoomMode::Closed)),
    ] {
        let store = &scene.world.store;
        let mut show = store.read::<Show>(id).await.unwrap().unwrap();
        let event = store
            .read::<Event>(show.value.event_id)
            .await
            .unwrap()
            .unwrap();
        show.value.status = status;
        assert!(
            store
                .replace_show(&show, &event, ShowNotes::default())
                .await
                .unwrap()
        );
        scene.world.clock.advance(1_000);
        let briefing = scene.app.briefing(id, 0).await;
        assert_eq!(briefing.map(|told| told.settings.mode), expected);
    }
}
