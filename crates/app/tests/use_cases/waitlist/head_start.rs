//! While somebody waits, what comes back is theirs first; whatever they have no use for is
//! everybody's at once.

use onsale_app::Error;
use onsale_app::waitlist::WaitlistStatus;
use onsale_domain::layout::PlaceIndex;
use onsale_domain::show::HEAD_START_MS;
use onsale_test_support::stage::Plan;

use crate::waitlist::scene::{Scene, wait_for};

#[tokio::test]
async fn nobody_snatches_a_seat_from_those_who_wait() {
    let scene = Scene::row(1).await;
    let ana = scene.buyer().await;
    let hold = scene.try_hold(&ana, "h", &["A-1-1"]).await.unwrap();
    let (bo, cy) = (scene.buyer().await, scene.buyer().await);
    let joined = scene.join(&bo, &wait_for(1)).await;
    scene.wait(2_000).await;
    scene
        .app
        .release_hold(&ana, scene.show(), hold)
        .await
        .unwrap();
    // The message is under way, and somebody comes by.
    for wait in [0, 6_000, HEAD_START_MS - 20_000] {
        scene.world.clock.advance(wait);
        let snatched = scene.try_hold(&cy, "snatch", &["A-1-1"]).await;
        assert!(
            matches!(snatched, Err(Error::SeatsTaken(_))),
            "after {wait}"
        );
    }
    scene.deliver().await;
    assert_eq!(scene.status(&bo, joined.id).await, WaitlistStatus::Offered);
}

#[tokio::test]
async fn a_lapsed_hold_is_offered_before_anybody_else_gets_it() {
    let scene = Scene::row(1).await;
    let ana = scene.buyer().await;
    scene.try_hold(&ana, "h", &["A-1-1"]).await.unwrap();
    let (bo, cy) = (scene.buyer().await, scene.buyer().await);
    let joined = scene.join(&bo, &wait_for(1)).await;
    scene.wait(2_000).await;
    // Its time is up for everyone, but the message that says so is late.
    scene.world.clock.advance(606_000);
    let snatched = scene.try_hold(&cy, "snatch", &["A-1-1"]).await;
    assert!(matches!(snatched, Err(Error::SeatsTaken(_))));
    scene.deliver().await;
    assert_eq!(scene.status(&bo, joined.id).await, WaitlistStatus::Offered);
}

#[tokio::test]
async fn without_any_pass_the_seat_is_everybodys_in_the_end() {
    let scene = Scene::row(1).await;
    let ana = scene.buyer().await;
    let hold = scene.try_hold(&ana, "h", &["A-1-1"]).await.unwrap();
    let (bo, cy) = (scene.buyer().await, scene.buyer().await);
    scene.join(&bo, &wait_for(1)).await;
    scene.wait(2_000).await;
    scene
        .app
        .release_hold(&ana, scene.show(), hold)
        .await
        .unwrap();
    scene.world.clock.advance(HEAD_START_MS + 1);
    scene.try_hold(&cy, "walk up", &["A-1-1"]).await.unwrap();
}

#[tokio::test]
async fn what_nobody_waits_for_is_free_as_soon_as_it_was_looked_at() {
    let scene = Scene::with(Plan {
        rows: vec![2],
        floor: 0,
        ..Plan::default()
    })
    .await;
    scene.sold(&["A-1-2"]).await;
    let ana = scene.buyer().await;
    let hold = scene.try_hold(&ana, "h", &["A-1-1"]).await.unwrap();
    let (bo, cy) = (scene.buyer().await, scene.buyer().await);
    let joined = scene.join(&bo, &wait_for(2)).await;
    scene.wait(2_000).await;
    scene
        .app
        .release_hold(&ana, scene.show(), hold)
        .await
        .unwrap();
    assert!(
        scene
            .cell(PlaceIndex(0))
            .await
            .is_some_and(|cell| cell.is_returned())
    );
    scene.deliver().await;
    assert_eq!(scene.cell(PlaceIndex(0)).await, None);
    assert_eq!(scene.status(&bo, joined.id).await, WaitlistStatus::Waiting);
    scene.try_hold(&cy, "walk up", &["A-1-1"]).await.unwrap();
}

#[tokio::test]
async fn a_group_gets_seats_that_come_back_one_after_the_other() {
    let scene = Scene::row(2).await;
    let (ana, di) = (scene.buyer().await, scene.buyer().await);
    let first = scene.try_hold(&ana, "h", &["A-1-1"]).await.unwrap();
    // The second hold ends within the minute in which the first seat is kept back.
    scene.world.clock.advance(1_000);
    scene.try_hold(&di, "h", &["A-1-2"]).await.unwrap();
    let (two, one) = (scene.buyer().await, scene.buyer().await);
    let group = scene.join(&two, &wait_for(2)).await;
    scene.wait(1_000).await;
    let single = scene.join(&one, &wait_for(1)).await;
    scene.wait(560_000).await;
    scene
        .app
        .release_hold(&ana, scene.show(), first)
        .await
        .unwrap();
    scene.deliver().await;
    assert_eq!(
        scene.status(&one, single.id).await,
        WaitlistStatus::Waiting,
        "kept back"
    );
    scene.wait(50_000).await;
    assert_eq!(scene.status(&two, group.id).await, WaitlistStatus::Offered);
    assert_eq!(scene.live_offers(&two).await[0].len(), 2);
    assert_eq!(scene.status(&one, single.id).await, WaitlistStatus::Waiting);
}

#[tokio::test]
async fn a_seat_that_was_kept_back_in_vain_goes_to_the_next_who_fits() {
    let scene = Scene::row(2).await;
    let (ana, di) = (scene.buyer().await, scene.buyer().await);
    let first = scene.try_hold(&ana, "h", &["A-1-1"]).await.unwrap();
    scene.world.clock.advance(1_000);
    let second = scene.try_hold(&di, "h", &["A-1-2"]).await.unwrap();
    let (two, one) = (scene.buyer().await, scene.buyer().await);
    let group = scene.join(&two, &wait_for(2)).await;
    scene.wait(1_000).await;
    let single = scene.join(&one, &wait_for(1)).await;
    scene.wait(560_000).await;
    scene
        .app
        .release_hold(&ana, scene.show(), first)
        .await
        .unwrap();
    scene.deliver().await;
    assert_eq!(
        scene.status(&one, single.id).await,
        WaitlistStatus::Waiting,
        "kept back"
    );
    // Di pays: no two seats will be free together.
    scene.pay(&di, second).await;
    scene.wait(91_000).await;
    assert_eq!(scene.status(&one, single.id).await, WaitlistStatus::Offered);
    assert_eq!(scene.status(&two, group.id).await, WaitlistStatus::Waiting);
}
