//! Best available and general places on a map that is older than the seats.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use onsale_app::Error;
use onsale_app::holds::Wish;
use onsale_memory::Step;
use onsale_memory::stage::Plan;

use crate::scene::{Scene, best, seats};

/// Rows of two seats, none of them taken on the map that everybody sees this second.
async fn rows_of_two(rows: usize) -> Scene {
    let scene = Scene::new(Plan {
        rows: vec![2; rows],
        floor: 0,
        cap: 50,
        ..Plan::default()
    })
    .await;
    scene
        .app
        .seat_map(&scene.stage.show, &scene.stage.layout)
        .await
        .unwrap();
    scene
}

/// Somebody holds these rows, whole.
async fn take_rows(scene: &Scene, rows: std::ops::RangeInclusive<usize>) {
    let ids: Vec<_> = rows
        .flat_map(|row| [format!("A-{row}-1"), format!("A-{row}-2")])
        .collect();
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    let bo = scene.buyer(2).await;
    scene.hold(&bo, "rows", &seats(&ids)).await.unwrap();
}

/// Counts the claims from now on.
fn count_claims(scene: &Scene) -> Arc<AtomicUsize> {
    let claims = Arc::new(AtomicUsize::new(0));
    for _ in 0..20 {
        let claims = claims.clone();
        scene.store.before_next(Step::Claim, async move {
            claims.fetch_add(1, SeqCst);
        });
    }
    claims
}

#[tokio::test]
async fn best_available_learns_from_every_block_that_refused_it() {
    // Two of three rows are gone: whatever is tried first, the third try must be the
    // row that is left. Each key is another throw of the dice.
    let mut most = 0;
    for n in 0..24 {
        let scene = rows_of_two(3).await;
        take_rows(&scene, 1..=2).await;
        let ana = scene.buyer(1).await;
        let claims = count_claims(&scene);
        let held = scene.hold(&ana, &format!("k{n}"), &best(2)).await.unwrap();
        assert_eq!(held.seats[0].0, "A-3-1", "{n}");
        most = most.max(claims.load(SeqCst));
    }
    assert_eq!(most, 3, "somebody needed every try");
}

#[tokio::test]
async fn best_available_says_taken_after_three_tries() {
    let scene = rows_of_two(6).await;
    take_rows(&scene, 1..=6).await;
    let ana = scene.buyer(1).await;
    let claims = count_claims(&scene);
    assert_eq!(
        scene.hold(&ana, "k", &best(2)).await,
        Err(Error::SeatsTaken(vec![]))
    );
    assert_eq!(claims.load(SeqCst), 3);
}

#[tokio::test]
async fn best_available_that_learns_there_is_nothing_left_tries_no_more() {
    let scene = rows_of_two(1).await;
    take_rows(&scene, 1..=1).await;
    let ana = scene.buyer(1).await;
    let claims = count_claims(&scene);
    assert_eq!(
        scene.hold(&ana, "k", &best(2)).await,
        Err(Error::SeatsTaken(vec![]))
    );
    assert_eq!(claims.load(SeqCst), 1);
}

#[tokio::test]
async fn general_places_learn_from_the_block_that_refused_them() {
    // One block, half of it gone since the map was built. The second choice knows that.
    for n in 0..24 {
        let scene = Scene::new(Plan {
            floor: 24,
            cap: 50,
            ..Plan::default()
        })
        .await;
        let floor = |quantity| Wish::General {
            section: "Floor".into(),
            quantity,
        };
        scene
            .app
            .seat_map(&scene.stage.show, &scene.stage.layout)
            .await
            .unwrap();
        let (ana, bo) = (scene.buyer(1).await, scene.buyer(2).await);
        scene.hold(&bo, "half", &floor(12)).await.unwrap();
        let claims = count_claims(&scene);
        scene.hold(&ana, &format!("k{n}"), &floor(8)).await.unwrap();
        let claims = claims.load(SeqCst);
        assert!(claims <= 2, "{n}: {claims} claims");
    }
}
