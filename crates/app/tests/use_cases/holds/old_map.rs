//! Best available and general places on a map that is older than the seats.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use onsale_app::Error;
use onsale_app::holds::Wish;
use onsale_app::ports::CellsWrite;
use onsale_domain::block::Cell;
use onsale_domain::claim::by_block;
use onsale_domain::ids::HoldId;
use onsale_domain::layout::PlaceIndex;
use onsale_test_support::stage::Plan;

use crate::holds::scene::{Scene, best, seats};

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

/// Somebody holds these rows, whole, in a process of their own.
async fn take_rows(scene: &Scene, rows: std::ops::RangeInclusive<usize>) {
    let ids: Vec<_> = rows
        .flat_map(|row| [format!("A-{row}-1"), format!("A-{row}-2")])
        .collect();
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    let bo = scene.buyer(2).await;
    let elsewhere = scene.another_process();
    elsewhere.hold(&bo, "rows", &seats(&ids)).await.unwrap();
}

/// Counts the claims from now on.
fn count_claims(scene: &Scene) -> Arc<AtomicUsize> {
    let claims = Arc::new(AtomicUsize::new(0));
    for _ in 0..20 {
        let claims = claims.clone();
        scene.faults.before_next("write BLK", async move {
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
async fn best_available_reads_what_is_left_before_it_says_taken() {
    // Five of six rows are gone: who is unlucky three times finds the sixth by reading.
    let mut most = 0;
    for n in 0..24 {
        let scene = rows_of_two(6).await;
        take_rows(&scene, 1..=5).await;
        let ana = scene.buyer(1).await;
        let claims = count_claims(&scene);
        let held = scene.hold(&ana, &format!("k{n}"), &best(2)).await.unwrap();
        assert_eq!(held.seats[0].0, "A-6-1", "{n}");
        most = most.max(claims.load(SeqCst));
    }
    assert_eq!(most, 4, "three tries, and one on what was read");
}

#[tokio::test]
async fn a_claim_is_known_to_the_next_who_chooses_and_changes_no_map_that_is_shown() {
    for n in 0..24 {
        let scene = rows_of_two(3).await;
        let (show, layout) = (&scene.stage.show, &scene.stage.layout);
        let shown = scene.app.seat_map(show, layout).await.unwrap();
        let (ana, bo) = (scene.buyer(1).await, scene.buyer(2).await);
        let wish = seats(&["A-1-1", "A-1-2", "A-2-1", "A-2-2"]);
        scene.hold(&bo, "rows", &wish).await.unwrap();
        let claims = count_claims(&scene);
        let held = scene.hold(&ana, &format!("k{n}"), &best(2)).await.unwrap();
        assert_eq!(held.seats[0].0, "A-3-1", "{n}");
        assert_eq!(claims.load(SeqCst), 1, "{n}");
        // What is shown has one content a version, and the next version has it all.
        assert_eq!(scene.app.seat_map(show, layout).await.unwrap(), shown);
        scene.clock.advance(1_000);
        let next = scene.app.seat_map(show, layout).await.unwrap();
        assert!(next.version > shown.version);
        assert_eq!((next.counts().free, next.counts().held), (0, 6));
    }
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
async fn best_available_looks_again_before_it_says_taken() {
    let scene = rows_of_two(40).await;
    let (bo, cy) = (scene.buyer(2).await, scene.buyer(3).await);
    let mut held = Vec::new();
    for row in 1..=40 {
        let wish = seats(&[&format!("A-{row}-1"), &format!("A-{row}-2")]);
        let buyer = if row < 25 { &bo } else { &cy };
        let hold = scene.hold(buyer, &format!("row {row}"), &wish).await;
        held.push(hold.unwrap());
    }
    // Everything is held on the map that everybody sees this second.
    scene.clock.advance(1_000);
    let map = scene.app.seat_map(&scene.stage.show, &scene.stage.layout);
    assert_eq!(map.await.unwrap().counts().free, 0);
    let show = scene.stage.show.id;
    scene
        .app
        .release_hold(&bo, show, held[6].hold_id)
        .await
        .unwrap();
    let ana = scene.buyer(1).await;
    let found = scene.hold(&ana, "k", &best(2)).await.unwrap();
    assert_eq!(found.seats[0].0, "A-7-1");
    let next = scene.hold(&ana, "k2", &best(2)).await;
    assert_eq!(next, Err(Error::SeatsTaken(vec![])), "now it is true");
}

/// Just before every claim, somebody swaps what they hold for what is free.
fn swap_before_each_claim(scene: Scene, held: Vec<PlaceIndex>, free: Vec<PlaceIndex>) {
    let faults = scene.faults.clone();
    faults.before_next("write BLK", async move {
        let (layout, show, now) = (&scene.stage.layout, scene.stage.show.id, scene.app.now());
        let cell = Cell {
            expiry: now + 600_000,
            hold: HoldId::from_bytes([9; 16]),
        };
        for group in by_block(layout, &held) {
            scene.app.store.release(show, &group, cell).await.unwrap();
        }
        let wanted = by_block(layout, &free);
        let claimed = scene.app.store.claim(show, &wanted, cell, now).await;
        assert_eq!(claimed.unwrap(), CellsWrite::Done);
        swap_before_each_claim(scene, free, held);
    });
}

#[tokio::test]
async fn whoever_is_always_too_late_before_a_floor_is_told_that_it_is_taken() {
    let scene = Scene::new(Plan {
        rows: vec![1],
        floor: 32,
        cap: 50,
        ..Plan::default()
    })
    .await;
    let places = (1..33).map(PlaceIndex);
    let (even, odd): (Vec<_>, Vec<_>) = places.partition(|place| place.0 % 2 == 0);
    let ana = scene.buyer(1).await;
    let floor = Wish::General {
        section: "Floor".into(),
        quantity: 17,
    };
    swap_before_each_claim(scene.clone(), even, odd);
    let refused = scene.hold(&ana, "k", &floor).await;
    assert_eq!(refused, Err(Error::SeatsTaken(vec![])), "never 17 are free");
    let floor = Wish::General {
        section: "Floor".into(),
        quantity: 16,
    };
    let refused = scene.hold(&ana, "k2", &floor).await;
    assert_eq!(refused, Err(Error::SeatsTaken(vec![])), "16 are, elsewhere");
}

#[tokio::test]
async fn whoever_is_always_too_late_for_the_best_seats_is_asked_to_come_back() {
    let scene = rows_of_two(2).await;
    let (first, second) = ([0, 1].map(PlaceIndex), [2, 3].map(PlaceIndex));
    // On the map of this second one row is free; just before each claim it is the other.
    let cell = Cell {
        expiry: scene.app.now() + 601_000,
        hold: HoldId::from_bytes([9; 16]),
    };
    let (show, layout) = (scene.stage.show.id, &scene.stage.layout);
    let wanted = by_block(layout, &first);
    let claimed = scene.app.store.claim(show, &wanted, cell, scene.app.now());
    assert_eq!(claimed.await.unwrap(), CellsWrite::Done);
    scene.clock.advance(1_000);
    let ana = scene.buyer(1).await;
    swap_before_each_claim(scene.clone(), first.to_vec(), second.to_vec());
    let refused = scene.hold(&ana, "k", &best(2)).await;
    assert_eq!(refused, Err(Error::OthersWereFaster));
    assert!(scene.buyer_item(&ana).await.entries.is_empty());
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
