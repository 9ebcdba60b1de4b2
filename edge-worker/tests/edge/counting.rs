//! Somebody who is alone in the line, and whose count is lost on its way to the controller.

use std::sync::atomic::Ordering;

use onsale_domain::show::RoomMode;

use crate::scene::{Scene, Visitor, held, settings};

async fn room() -> Scene {
    let scene = Scene::new(settings(RoomMode::QueueAll, None));
    scene.run(5).await;
    scene
}

/// Joins, and lets everything be done that goes on afterwards.
async fn joined(scene: &Scene) -> Visitor<'_> {
    let mut visitor = scene.visitor();
    visitor.join().await.expect(201);
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    visitor
}

#[tokio::test]
async fn a_counter_that_is_away_for_a_moment_is_told_again() {
    let scene = room().await;
    *held(&scene.world().counters_away) = 3;
    let mut ana = joined(&scene).await;
    scene.run(8).await;
    assert_eq!(ana.state().await, "admitted");
    ana.enter().await.expect(200);
}

#[tokio::test]
async fn who_waits_while_no_counter_can_be_reached_is_counted_afterwards() {
    let scene = room().await;
    *held(&scene.world().counters_away) = 5;
    let mut ana = joined(&scene).await;
    assert_eq!(*held(&scene.world().counters_away), 0);
    scene.run(12).await;
    assert_eq!(ana.state().await, "waiting");
    scene.run(8).await;
    assert_eq!(ana.state().await, "admitted");
}

#[tokio::test]
async fn who_was_counted_and_forgotten_is_counted_again_by_asking() {
    for seconds in [10, 200] {
        let scene = room().await;
        let forgets = &scene.world().counters_forget;
        forgets.store(true, Ordering::SeqCst);
        let mut ana = joined(&scene).await;
        forgets.store(false, Ordering::SeqCst);
        scene.run(seconds).await;
        assert_eq!(ana.state().await, "waiting");
        scene.run(8).await;
        assert_eq!(ana.state().await, "admitted", "after {seconds} s");
    }
}
