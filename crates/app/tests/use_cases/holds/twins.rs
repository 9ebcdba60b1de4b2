//! The same request twice at the same time, and what a retry finds.

use onsale_app::Error;
use onsale_domain::block::Cell;
use onsale_domain::buyer::EntryState;
use onsale_test_support::stage::Plan;

use crate::holds::scene::{Scene, best, best_or_fewer, seats};

#[tokio::test]
async fn a_twin_that_loses_the_version_race_gives_the_recorded_answer_and_keeps_its_cells() {
    let scene = Scene::new(Plan::default()).await;
    let ana = scene.buyer(1).await;
    let wish = seats(&["A-1-3", "A-1-4"]);
    let twin = scene.clone();
    let twin_wish = wish.clone();
    scene.faults.before_next("write BUY", async move {
        twin.clock.advance(50);
        twin.hold(&ana, "k", &twin_wish).await.unwrap();
    });
    let held = scene.hold(&ana, "k", &wish).await.unwrap();
    assert!(
        scene.owns(&held).await,
        "the loser must not free what the winner recorded"
    );
    assert_eq!(scene.buyer_item(&ana).await.entries.len(), 1);
}

#[tokio::test]
async fn a_twin_that_claimed_other_seats_frees_exactly_those() {
    let scene = Scene::new(Plan::default()).await;
    let ana = scene.buyer(1).await;
    let twin = scene.clone();
    scene.faults.before_next("write BUY", async move {
        // Two seconds later the map shows the first claim, so the twin chooses others.
        twin.clock.advance(2_000);
        twin.hold(&ana, "k", &best(3)).await.unwrap();
    });
    let held = scene.hold(&ana, "k", &best(3)).await.unwrap();
    assert!(scene.owns(&held).await);
    assert_eq!(scene.cells().await.len(), 3, "the first claim was freed");
}

#[tokio::test]
async fn a_twin_finds_the_cells_of_its_own_hold_also_after_a_conflict() {
    // The twin knows of a crowd by then, and would otherwise pick one of many rows.
    for n in 0..8 {
        let scene = Scene::new(Plan {
            rows: vec![20; 30],
            ..Plan::default()
        })
        .await;
        let (ana, bo) = (scene.buyer(1).await, scene.buyer(2).await);
        let (twin, elsewhere) = (scene.clone(), scene.another_process());
        let key = format!("k{n}");
        let twin_key = key.clone();
        scene.faults.before_next("write BUY", async move {
            let front = elsewhere.hold(&bo, "front", &best(2)).await.unwrap();
            let cy = twin.buyer(3).await;
            twin.hold(&cy, "late", &best(2)).await.unwrap();
            let held = twin.hold(&ana, &twin_key, &best(2)).await.unwrap();
            assert_ne!(held.seats, front.seats);
        });
        scene.faults.arm(None);
        let held = scene.hold(&ana, &key, &best(2)).await.unwrap();
        assert!(scene.owns(&held).await);
        assert_eq!(scene.cells().await.len(), 6);
        let calls = scene.faults.calls();
        let lost = calls.iter().rposition(|call| call == "update BUY").unwrap();
        let given_back = calls[lost..].iter().any(|call| call == "update BLK");
        assert!(!given_back, "nothing to give back: {calls:?}");
    }
}

#[tokio::test]
async fn a_twin_leaves_the_cells_of_a_hold_that_is_being_locked() {
    let scene = Scene::new(Plan::default()).await;
    let ana = scene.buyer(1).await;
    let wish = seats(&["A-1-3", "A-1-4"]);
    let (twin, twin_wish) = (scene.clone(), wish.clone());
    scene.faults.before_next("write BUY", async move {
        let held = twin.hold(&ana, "k", &twin_wish).await.unwrap();
        // The entry is locked, its cells still carry the old expiry.
        assert!(twin.lock_entry(&ana, held.hold_id).await);
    });
    scene.hold(&ana, "k", &wish).await.unwrap();
    assert_eq!(scene.cells().await.len(), 2);
}

#[tokio::test]
async fn cells_listed_as_given_back_are_never_recorded() {
    let scene = Scene::new(Plan {
        cap: 2,
        ..Plan::default()
    })
    .await;
    let ana = scene.buyer(1).await;
    let wish = seats(&["A-1-3", "A-1-4"]);
    // While the first request has claimed, another hold uses the cap up …
    let rival = scene.clone();
    scene.faults.before_next("write BUY", async move {
        rival
            .hold(&ana, "rival", &seats(&["A-1-9", "A-1-10"]))
            .await
            .unwrap();
    });
    // … so the first lists its cells as given back. Before it frees them the cap is free
    // again, and a twin that finds the cells still there is served.
    let (twin, twin_wish) = (scene.clone(), wish.clone());
    let answer = std::sync::Arc::new(std::sync::Mutex::new(None));
    let slot = answer.clone();
    // After its own claim and that of its rival.
    scene.faults.before_next("write BLK", async {});
    scene.faults.before_next("write BLK", async {});
    scene.faults.before_next("write BLK", async move {
        let rival = onsale_domain::ids::HoldId::for_key(ana.account, twin.stage.show.id, "rival");
        twin.app
            .release_hold(&ana, twin.stage.show.id, rival)
            .await
            .unwrap();
        *slot.lock().unwrap() = Some(twin.hold(&ana, "k", &twin_wish).await.unwrap());
    });
    let first = scene.hold(&ana, "k", &wish).await;
    assert!(matches!(first, Err(Error::LimitExceeded { .. })));
    let served = answer.lock().unwrap().clone().unwrap();
    assert!(
        scene.owns(&served).await,
        "an acknowledged hold keeps its cells"
    );
}

#[tokio::test]
async fn a_repeated_request_that_takes_fewer_gets_what_the_cap_leaves_by_then() {
    let scene = Scene::new(Plan {
        cap: 6,
        ..Plan::default()
    })
    .await;
    let ana = scene.buyer(1).await;
    let rival = scene.clone();
    scene.faults.before_next("write BUY", async move {
        rival.hold(&ana, "rival", &best(4)).await.unwrap();
    });
    let refused = scene.hold(&ana, "k", &best_or_fewer(4)).await;
    assert!(matches!(refused, Err(Error::LimitExceeded { .. })));
    // The process still remembers the four places of the first attempt.
    let held = scene.hold(&ana, "k", &best_or_fewer(4)).await.unwrap();
    assert_eq!(held.seats.len(), 2);
    assert!(scene.owns(&held).await);
    assert_eq!(scene.cells().await.len(), 6);
}

#[tokio::test]
async fn cells_given_back_are_freed_when_the_cap_is_exceeded() {
    let scene = Scene::new(Plan {
        cap: 2,
        ..Plan::default()
    })
    .await;
    let ana = scene.buyer(1).await;
    let rival = scene.clone();
    scene.faults.before_next("write BUY", async move {
        rival.hold(&ana, "rival", &seats(&["A-1-9"])).await.unwrap();
    });
    let refused = scene.hold(&ana, "k", &seats(&["A-1-3", "A-1-4"])).await;
    assert!(matches!(
        refused,
        Err(Error::LimitExceeded { limit: 2, .. })
    ));
    assert_eq!(
        scene.cells().await.len(),
        1,
        "only the rival's seat is taken"
    );
}

#[tokio::test]
async fn a_retry_after_a_crash_adopts_the_expiry_in_its_cells() {
    let scene = Scene::new(Plan::default()).await;
    let ana = scene.buyer(1).await;
    let wish = seats(&["A-1-3", "A-1-4"]);
    // The process dies between claim and record.
    scene
        .faults
        .before_next("write BUY", std::future::pending());
    tokio::select! {
        biased;
        _ = scene.hold(&ana, "k", &wish) => panic!("it should have died"),
        () = tokio::task::yield_now() => {}
    }
    let claimed = scene.cells().await["A-1-3"];
    scene.clock.advance(7_000);
    let held = scene.hold(&ana, "k", &wish).await.unwrap();
    assert_eq!(
        held.expires_at, claimed.expiry,
        "the stored cell counts, not the wish"
    );
    assert!(scene.owns(&held).await);
}

#[tokio::test]
async fn a_key_whose_hold_has_ended_never_claims_again() {
    for ending in ["released", "expired", "refunded"] {
        let scene = Scene::new(Plan::default()).await;
        let ana = scene.buyer(1).await;
        let wish = seats(&["A-1-3", "A-1-4"]);
        let held = scene.hold(&ana, "k", &wish).await.unwrap();
        match ending {
            "released" => {
                scene
                    .app
                    .release_hold(&ana, scene.stage.show.id, held.hold_id)
                    .await
                    .unwrap();
            }
            "expired" => {
                scene.clock.advance(606_000);
                for message in scene.queue.take_due() {
                    scene.app.expire_hold(&message).await.unwrap();
                }
            }
            _ => {
                assert!(scene.sell(&ana, held.hold_id).await);
                scene.refund(&ana, held.hold_id).await;
            }
        }
        assert!(scene.cells().await.is_empty(), "{ending}");
        let again = scene.hold(&ana, "k", &wish).await.unwrap();
        assert_eq!(
            (again.hold_id, &again.seats),
            (held.hold_id, &held.seats),
            "{ending}"
        );
        assert!(
            scene.cells().await.is_empty(),
            "{ending}: a replay must not claim"
        );
        let other = scene.hold(&ana, "k", &seats(&["A-1-5"])).await;
        assert_eq!(other, Err(Error::IdempotencyMismatch), "{ending}");
        scene.hold(&ana, "another key", &wish).await.unwrap();
    }
}

#[tokio::test]
async fn a_refusal_is_not_remembered() {
    let scene = Scene::new(Plan::default()).await;
    let (ana, bo) = (scene.buyer(1).await, scene.buyer(2).await);
    let theirs = scene.hold(&bo, "k", &seats(&["A-1-3"])).await.unwrap();
    assert!(scene.hold(&ana, "k", &seats(&["A-1-3"])).await.is_err());
    scene
        .app
        .release_hold(&bo, scene.stage.show.id, theirs.hold_id)
        .await
        .unwrap();
    scene.hold(&ana, "k", &seats(&["A-1-3"])).await.unwrap();
}

#[tokio::test]
async fn a_release_cut_off_after_the_entry_is_finished_by_the_expiry_message() {
    let scene = Scene::new(Plan::default()).await;
    let ana = scene.buyer(1).await;
    let held = scene.hold(&ana, "k", &seats(&["A-1-3"])).await.unwrap();
    scene
        .faults
        .before_next("write BLK", std::future::pending());
    tokio::select! {
        biased;
        _ = scene.app.release_hold(&ana, scene.stage.show.id, held.hold_id) => panic!("it should have died"),
        () = tokio::task::yield_now() => {}
    }
    let cell = Cell {
        expiry: held.expires_at,
        hold: held.hold_id,
    };
    assert_eq!(scene.cells().await.get("A-1-3"), Some(&cell));
    scene.clock.advance(606_000);
    for message in scene.queue.take_due() {
        scene.app.expire_hold(&message).await.unwrap();
    }
    assert!(scene.cells().await.is_empty());
    let read = scene
        .app
        .hold(&ana, scene.stage.show.id, held.hold_id)
        .await
        .unwrap();
    assert_eq!(read.state, EntryState::Released);
}

#[tokio::test]
async fn a_key_reused_for_other_seats_never_frees_the_recorded_hold() {
    let scene = Scene::new(Plan::default()).await;
    let ana = scene.buyer(1).await;
    let (recorded, other) = (seats(&["A-1-3"]), seats(&["A-1-3", "A-1-4"]));
    let twin = scene.clone();
    let answer = std::sync::Arc::new(std::sync::Mutex::new(None));
    let slot = answer.clone();
    // Both pass the first look; the other body claims first and loses the record.
    scene.faults.before_next("write BLK", async move {
        *slot.lock().unwrap() = Some(twin.hold(&ana, "k", &recorded).await.unwrap());
    });
    let refused = scene.hold(&ana, "k", &other).await;
    assert!(refused.is_err(), "{refused:?}");
    let held = answer.lock().unwrap().clone().unwrap();
    assert!(scene.owns(&held).await);
    assert_eq!(scene.cells().await.len(), 1);
}

#[tokio::test]
async fn another_body_that_had_claimed_gives_back_only_its_own_cells() {
    let scene = Scene::new(Plan::default()).await;
    let ana = scene.buyer(1).await;
    let twin = scene.clone();
    let answer = std::sync::Arc::new(std::sync::Mutex::new(None));
    let slot = answer.clone();
    scene.faults.before_next("write BUY", async move {
        *slot.lock().unwrap() = Some(twin.hold(&ana, "k", &seats(&["A-1-9"])).await.unwrap());
    });
    let refused = scene.hold(&ana, "k", &seats(&["A-1-3", "A-1-4"])).await;
    assert_eq!(refused, Err(Error::IdempotencyMismatch));
    let held = answer.lock().unwrap().clone().unwrap();
    assert!(scene.owns(&held).await);
    assert_eq!(
        scene.cells().await.len(),
        1,
        "the refused claim is free again"
    );
}

#[tokio::test]
async fn giving_back_loses_a_race_and_still_lists_before_it_frees() {
    let scene = Scene::new(Plan {
        cap: 2,
        ..Plan::default()
    })
    .await;
    let ana = scene.buyer(1).await;
    let hold = move |scene: Scene, key: &'static str, seat: &'static str| async move {
        scene.hold(&ana, key, &seats(&[seat])).await.unwrap();
    };
    // The record loses to a rival that fills the cap; the listing loses to a release
    // that makes room again: then the claim is recorded after all.
    let rivals = scene.clone();
    scene.faults.before_next("write BUY", async move {
        hold(rivals.clone(), "r1", "A-1-9").await;
        hold(rivals, "r2", "A-1-10").await;
    });
    let release = scene.clone();
    scene.faults.before_next("write BUY", async {});
    scene.faults.before_next("write BUY", async {});
    scene.faults.before_next("write BUY", async move {
        for key in ["r1", "r2"] {
            let rival =
                onsale_domain::ids::HoldId::for_key(ana.account, release.stage.show.id, key);
            release
                .app
                .release_hold(&ana, release.stage.show.id, rival)
                .await
                .unwrap();
        }
    });
    let held = scene
        .hold(&ana, "k", &seats(&["A-1-3", "A-1-4"]))
        .await
        .unwrap();
    assert!(scene.owns(&held).await);
    assert_eq!(scene.cells().await.len(), 2);
}

#[tokio::test]
async fn a_claim_over_several_blocks_is_given_back_in_all_of_them() {
    let scene = Scene::new(Plan {
        cap: 2,
        ..Plan::default()
    })
    .await;
    let ana = scene.buyer(1).await;
    let rival = scene.clone();
    scene.faults.before_next("write BUY", async move {
        rival.hold(&ana, "rival", &seats(&["A-1-9"])).await.unwrap();
    });
    // The second row has two blocks, 1–20 and 21–40.
    assert!(
        scene
            .hold(&ana, "k", &seats(&["A-2-20", "A-2-21"]))
            .await
            .is_err()
    );
    assert_eq!(scene.cells().await.len(), 1);
}

#[tokio::test]
async fn a_release_frees_what_is_left_when_part_of_it_moved_on() {
    let scene = Scene::new(Plan {
        hold_seconds: 2,
        ..Plan::default()
    })
    .await;
    let (ana, bo) = (scene.buyer(1).await, scene.buyer(2).await);
    let held = scene
        .hold(&ana, "k", &seats(&["A-1-3", "A-1-4"]))
        .await
        .unwrap();
    scene.clock.advance(7_001);
    let theirs = scene.hold(&bo, "k", &seats(&["A-1-3"])).await.unwrap();
    scene
        .app
        .release_hold(&ana, scene.stage.show.id, held.hold_id)
        .await
        .unwrap();
    assert!(scene.owns(&theirs).await);
    assert_eq!(scene.cells().await.len(), 1, "the other seat is free");
}
