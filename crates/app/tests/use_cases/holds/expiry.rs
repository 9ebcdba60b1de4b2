//! Expiry: by comparison, by message, and by messages in any order.

use std::collections::HashMap;

use onsale_app::Caller;
use onsale_app::holds::{Expiry, HoldView};
use onsale_app::ports::{ExpireHold, MAX_DELAY_S};
use onsale_domain::block::Cell;
use onsale_domain::buyer::EntryState;
use onsale_test_support::stage::Plan;
use proptest::prelude::*;

use crate::holds::scene::{Scene, seats};

#[tokio::test]
async fn a_lapsed_hold_can_be_claimed_by_someone_else_without_any_message() {
    let scene = Scene::new(Plan {
        hold_seconds: 2,
        ..Plan::default()
    })
    .await;
    let (ana, bo) = (scene.buyer(1).await, scene.buyer(2).await);
    let wish = seats(&["A-1-3"]);
    scene.hold(&ana, "k", &wish).await.unwrap();
    scene.clock.advance(7_000);
    assert!(
        scene.hold(&bo, "k", &wish).await.is_err(),
        "the skew is not over"
    );
    scene.clock.advance(1);
    let held = scene.hold(&bo, "k", &wish).await.unwrap();
    assert!(scene.owns(&held).await);
}

#[tokio::test]
async fn the_message_frees_the_places_and_the_cap() {
    let scene = Scene::new(Plan {
        hold_seconds: 2,
        cap: 1,
        ..Plan::default()
    })
    .await;
    let ana = scene.buyer(1).await;
    scene.hold(&ana, "k", &seats(&["A-1-3"])).await.unwrap();
    scene.clock.advance(8_000);
    let due = scene.queue.take_due();
    assert_eq!(due.len(), 1);
    assert_eq!(scene.app.expire_hold(&due[0]).await, Ok(Expiry::Ended));
    assert!(scene.cells().await.is_empty());
    scene.hold(&ana, "l", &seats(&["A-1-3"])).await.unwrap();
}

#[tokio::test]
async fn a_message_that_comes_early_waits_the_rest_and_never_longer_than_a_queue_can() {
    let scene = Scene::new(Plan {
        hold_seconds: 900,
        ..Plan::default()
    })
    .await;
    let ana = scene.buyer(1).await;
    let held = scene.hold(&ana, "k", &seats(&["A-1-3"])).await.unwrap();
    // 900 s and the skew exceed what a queue can wait.
    let (due, message) = scene.queue.waiting()[0].clone();
    assert_eq!(due, scene.app.now() + u64::from(MAX_DELAY_S) * 1_000);
    scene.clock.advance(900_000);
    assert_eq!(scene.queue.take_due(), vec![message.clone()]);
    assert_eq!(scene.app.expire_hold(&message).await, Ok(Expiry::Requeued));
    assert_eq!(scene.cells().await.len(), 1);
    let (due, again) = scene.queue.waiting()[0].clone();
    assert_eq!(again, message);
    assert!(due > held.expires_at + 5_000 && due <= held.expires_at + 7_000);
    scene.clock.advance(due.0 - scene.app.now().0);
    for message in scene.queue.take_due() {
        assert_eq!(scene.app.expire_hold(&message).await, Ok(Expiry::Ended));
    }
    assert!(scene.cells().await.is_empty());
}

#[tokio::test]
async fn a_message_for_nothing_is_left_alone() {
    let scene = Scene::new(Plan::default()).await;
    let ana = scene.buyer(1).await;
    let message = ExpireHold {
        show_id: scene.stage.show.id,
        account_id: ana.account,
        hold_id: onsale_domain::ids::HoldId::from_bytes([7; 16]),
    };
    assert_eq!(scene.app.expire_hold(&message).await, Ok(Expiry::LeftAlone));
    let nowhere = ExpireHold {
        show_id: onsale_domain::ids::ShowId::from_bytes([7; 16]),
        ..message
    };
    assert_eq!(scene.app.expire_hold(&nowhere).await, Ok(Expiry::LeftAlone));
}

#[tokio::test]
async fn a_message_leaves_a_hold_that_is_being_paid_alone() {
    let scene = Scene::new(Plan {
        hold_seconds: 2,
        ..Plan::default()
    })
    .await;
    let ana = scene.buyer(1).await;
    let held = scene.hold(&ana, "k", &seats(&["A-1-3"])).await.unwrap();
    let message = scene.queue.waiting()[0].1.clone();
    assert!(scene.lock(&ana, held.hold_id).await);
    scene.clock.advance(400_000);
    assert_eq!(scene.app.expire_hold(&message).await, Ok(Expiry::LeftAlone));
    assert_eq!(scene.cells().await.len(), 1);
}

#[tokio::test]
async fn a_lock_that_comes_between_reading_and_expiring_wins() {
    let scene = Scene::new(Plan {
        hold_seconds: 2,
        ..Plan::default()
    })
    .await;
    let ana = scene.buyer(1).await;
    let held = scene.hold(&ana, "k", &seats(&["A-1-3"])).await.unwrap();
    let message = scene.queue.waiting()[0].1.clone();
    scene.clock.advance(7_001);
    // Another clock, seven seconds behind, lets the buyer begin to pay just now.
    let behind = scene.clone();
    scene.faults.before_next("write BUY", async move {
        let buyer = behind.buyer_item(&ana).await;
        let then = onsale_domain::time::Millis(behind.app.now().0 - 7_001);
        let paying = buyer.lock(held.hold_id, 1, then).unwrap();
        behind.put_buyer(&ana, &paying).await;
    });
    assert_eq!(scene.app.expire_hold(&message).await, Ok(Expiry::LeftAlone));
    assert_eq!(scene.cells().await.len(), 1, "its cells were not freed");
}

#[derive(Debug, Clone)]
enum Act {
    Hold { buyer: usize, seat: u8 },
    Release { nth: usize },
    Sell { nth: usize },
    Refund { nth: usize },
    Deliver { nth: usize },
    Wait { ms: u64 },
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => (0usize..2, 1u8..4).prop_map(|(buyer, seat)| Act::Hold { buyer, seat }),
        1 => (0usize..8).prop_map(|nth| Act::Release { nth }),
        2 => (0usize..8).prop_map(|nth| Act::Sell { nth }),
        1 => (0usize..8).prop_map(|nth| Act::Refund { nth }),
        4 => (0usize..8).prop_map(|nth| Act::Deliver { nth }),
        3 => prop_oneof![Just(500u64), Just(2_000), Just(5_001), Just(7_100)].prop_map(|ms| Act::Wait { ms }),
    ]
}

/// Every hold that its owner believes in owns its cells.
async fn check(scene: &Scene, holds: &[(Caller, HoldView)]) -> Result<(), TestCaseError> {
    let cells = scene.cells().await;
    let mut owner: HashMap<String, onsale_domain::ids::HoldId> = HashMap::new();
    for (caller, hold) in holds {
        let read = scene
            .app
            .hold(caller, scene.stage.show.id, hold.hold_id)
            .await
            .unwrap();
        let cell = match read.state {
            EntryState::Held => Cell {
                expiry: read.expires_at,
                hold: hold.hold_id,
            },
            EntryState::Sold => Cell::sold(hold.hold_id),
            _ => continue,
        };
        for (seat, _) in &read.seats {
            prop_assert_eq!(
                cells.get(seat),
                Some(&cell),
                "{} of a hold that is {:?}",
                seat,
                read.state
            );
            prop_assert_eq!(
                owner.insert(seat.clone(), hold.hold_id),
                None,
                "{} has two owners",
                seat
            );
        }
    }
    Ok(())
}

async fn play(acts: Vec<Act>) -> Result<(), TestCaseError> {
    let scene = Scene::new(Plan {
        hold_seconds: 2,
        cap: 50,
        ..Plan::default()
    })
    .await;
    let buyers = [scene.buyer(1).await, scene.buyer(2).await];
    let mut holds: Vec<(Caller, HoldView)> = Vec::new();
    for (n, act) in acts.into_iter().enumerate() {
        match act {
            Act::Hold { buyer, seat } => {
                let wish = seats(&[&format!("A-1-{seat}")]);
                if let Ok(held) = scene.hold(&buyers[buyer], &format!("key-{n}"), &wish).await {
                    holds.push((buyers[buyer], held));
                }
            }
            Act::Release { nth } => {
                if let Some((caller, hold)) = holds.get(nth) {
                    // Refused when it is paid: then nothing may have changed.
                    let _ = scene
                        .app
                        .release_hold(caller, scene.stage.show.id, hold.hold_id)
                        .await;
                }
            }
            Act::Sell { nth } => {
                if let Some((caller, hold)) = holds.get(nth) {
                    scene.sell(caller, hold.hold_id).await;
                }
            }
            Act::Refund { nth } => {
                if let Some((caller, hold)) = holds.get(nth) {
                    let state = scene
                        .buyer_item(caller)
                        .await
                        .entry(hold.hold_id)
                        .unwrap()
                        .state;
                    if state == EntryState::Sold {
                        scene.refund(caller, hold.hold_id).await;
                    }
                }
            }
            Act::Deliver { nth } => {
                // Any message, any time, any number of times.
                if let Some((caller, hold)) = holds.get(nth) {
                    let (show_id, hold_id) = (scene.stage.show.id, hold.hold_id);
                    let message = ExpireHold {
                        show_id,
                        account_id: caller.account,
                        hold_id,
                    };
                    scene.app.expire_hold(&message).await.unwrap();
                }
            }
            Act::Wait { ms } => scene.clock.advance(ms),
        }
        check(&scene, &holds).await?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn late_repeated_and_reordered_messages_never_touch_another_claim_or_a_sale(
        acts in prop::collection::vec(act(), 1..40),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(play(acts))?;
    }
}
