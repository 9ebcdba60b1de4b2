//! A show with a waiting room: the waitlist is no way past it.

use onsale_app::holds::Wish;
use onsale_app::waitlist::WaitlistStatus;
use onsale_app::{Caller, Error};
use onsale_domain::ids::HoldId;
use onsale_domain::show::RoomMode;
use onsale_test_support::stage::Plan;

use crate::waitlist::scene::{Scene, key, wait_for};

const ROOMS: [RoomMode; 3] = [RoomMode::Queue, RoomMode::QueueAll, RoomMode::Closed];

async fn row(seats: u16, room: RoomMode) -> Scene {
    Scene::with(Plan {
        rows: vec![seats],
        floor: 0,
        room,
        ..Plan::default()
    })
    .await
}

/// A buyer who came through the room and holds these seats.
async fn held(scene: &Scene, n: u8, seats: &[&str]) -> (Caller, HoldId) {
    let (buyer, pass) = (scene.buyer().await, scene.stage.pass(n));
    let wish = Wish::Seats(seats.iter().map(|s| (*s).to_owned()).collect());
    let (show, k) = (scene.show(), key("h"));
    let held = scene.app.place_hold(&buyer, show, &k, &wish, Some(&pass));
    let hold = held.await.unwrap().hold_id;
    (buyer, hold)
}

#[tokio::test]
async fn nobody_joins_for_what_the_room_sells() {
    for room in ROOMS {
        let scene = row(4, room).await;
        held(&scene, 1, &["A-1-1"]).await;
        let bo = scene.buyer().await;
        for quantity in 1..=3 {
            let wanted = wait_for(quantity);
            let joined = scene.app.join_waitlist(&bo, scene.show(), None, &wanted);
            assert_eq!(joined.await, Err(Error::FreeInTheRoom), "{room:?}");
        }
        // Four together are not free, so they can be waited for.
        let joined = scene.join(&bo, &wait_for(4)).await;
        scene.wait(2_000).await;
        let status = scene.status(&bo, joined.id).await;
        assert_eq!(status, WaitlistStatus::Waiting, "{room:?}");
    }
}

#[tokio::test]
async fn without_a_room_free_places_are_offered_at_once() {
    let scene = row(4, RoomMode::Off).await;
    let bo = scene.buyer().await;
    let joined = scene.join(&bo, &wait_for(2)).await;
    scene.wait(2_000).await;
    assert_eq!(scene.status(&bo, joined.id).await, WaitlistStatus::Offered);
}

#[tokio::test]
async fn what_comes_back_to_a_sold_out_show_is_offered_as_ever() {
    for room in ROOMS {
        let scene = row(2, room).await;
        let (ana, hold) = held(&scene, 1, &["A-1-1", "A-1-2"]).await;
        let order = scene.pay(&ana, hold).await;
        let bo = scene.buyer().await;
        let joined = scene.join(&bo, &wait_for(2)).await;
        scene.wait(2_000).await;
        scene.cancel(&ana, order).await;
        scene.deliver().await;
        let status = scene.status(&bo, joined.id).await;
        assert_eq!(status, WaitlistStatus::Offered, "{room:?}");
    }
}

/// The process that drives the refund has read the show before anybody waited for it, and
/// still believes that what comes back is simply free.
#[tokio::test]
async fn what_comes_back_a_moment_after_somebody_joined_is_kept_for_them() {
    for room in ROOMS {
        let scene = row(2, room).await;
        let worker = scene.another_process();
        let (ana, hold) = held(&worker, 1, &["A-1-1", "A-1-2"]).await;
        let order = worker.pay(&ana, hold).await;
        let bo = scene.buyer().await;
        let joined = scene.join(&bo, &wait_for(2)).await;
        worker.cancel(&ana, order).await;
        scene.wait(2_000).await;
        let status = scene.status(&bo, joined.id).await;
        assert_eq!(status, WaitlistStatus::Offered, "{room:?}");
    }
}

/// Whoever got in line by a race, or before there was a room, waits until the room has
/// nothing for them.
#[tokio::test]
async fn whoever_is_in_line_is_not_offered_what_the_room_sells() {
    let scene = row(3, RoomMode::QueueAll).await;
    let (ana, hold) = held(&scene, 1, &["A-1-1", "A-1-2", "A-1-3"]).await;
    let bo = scene.buyer().await;
    let two = scene.join(&bo, &wait_for(2)).await;
    scene.wait(2_000).await;
    // No pass comes by for so long that all three are everybody's.
    let released = scene.app.release_hold(&ana, scene.show(), hold);
    released.await.unwrap();
    scene
        .world
        .clock
        .advance(onsale_domain::show::HEAD_START_MS + 6_000);
    scene.deliver().await;
    let status = scene.status(&bo, two.id).await;
    assert_eq!(status, WaitlistStatus::Waiting, "the room sells them");
    // Of the three one is left to the room, and one comes back beside it.
    held(&scene, 2, &["A-1-1"]).await;
    let (cy, second) = held(&scene, 3, &["A-1-2"]).await;
    scene
        .app
        .release_hold(&cy, scene.show(), second)
        .await
        .unwrap();
    scene.deliver().await;
    let status = scene.status(&bo, two.id).await;
    assert_eq!(status, WaitlistStatus::Offered, "one of them came back");
}
