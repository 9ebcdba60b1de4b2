//! A request that is overtaken: by its own expiry, or by a twin that has finished.

use onsale_app::Error;
use onsale_domain::buyer::EntryState;
use onsale_test_support::stage::Plan;

use crate::holds::scene::{Scene, seats};

const HOLD_MS: u64 = 600_000;

#[tokio::test]
async fn a_hold_that_lapsed_before_it_is_recorded_promises_nothing() {
    let scene = Scene::new(Plan::default()).await;
    let ana = scene.buyer(1).await;
    let clock = scene.clock.clone();
    scene
        .faults
        .before_next("write BLK", async move { clock.advance(HOLD_MS) });
    let late = scene.hold(&ana, "k", &seats(&["A-1-3"])).await;
    assert_eq!(late, Err(Error::Unavailable));
    assert!(scene.buyer_item(&ana).await.entries.is_empty());
}

#[tokio::test]
async fn a_hold_that_lapsed_while_it_lost_the_version_race_promises_nothing() {
    let scene = Scene::new(Plan::default()).await;
    let ana = scene.buyer(1).await;
    let rival = scene.clone();
    scene.faults.before_next("write BUY", async move {
        rival.hold(&ana, "rival", &seats(&["A-1-9"])).await.unwrap();
        rival.clock.advance(HOLD_MS);
    });
    let late = scene.hold(&ana, "k", &seats(&["A-1-3"])).await;
    assert_eq!(late, Err(Error::Unavailable));
    let buyer = scene.buyer_item(&ana).await;
    assert_eq!(buyer.entries.len(), 1, "only the rival is recorded");
}

#[tokio::test]
async fn a_hold_with_a_moment_left_is_recorded() {
    let scene = Scene::new(Plan::default()).await;
    let ana = scene.buyer(1).await;
    let clock = scene.clock.clone();
    scene
        .faults
        .before_next("write BLK", async move { clock.advance(HOLD_MS - 1) });
    let held = scene.hold(&ana, "k", &seats(&["A-1-3"])).await.unwrap();
    assert_eq!(held.state, EntryState::Held);
    assert!(scene.owns(&held).await);
}

#[tokio::test]
async fn a_claim_made_after_its_twin_was_released_is_freed_again() {
    let scene = Scene::new(Plan::default()).await;
    let ana = scene.buyer(1).await;
    let wish = seats(&["A-1-3", "A-1-4"]);
    let (twin, twin_wish) = (scene.clone(), wish.clone());
    scene.faults.before_next("write BLK", async move {
        let held = twin.hold(&ana, "k", &twin_wish).await.unwrap();
        twin.app
            .release_hold(&ana, twin.stage.show.id, held.hold_id)
            .await
            .unwrap();
    });
    let answer = scene.hold(&ana, "k", &wish).await.unwrap();
    assert_eq!(answer.state, EntryState::Released);
    assert!(
        scene.cells().await.is_empty(),
        "no record has the second claim"
    );
}
