//! A show is called off.

use onsale_app::Error;
use onsale_app::ports::Cancellations;
use onsale_domain::order::OrderStatus;
use onsale_domain::payment::PaymentState;
use onsale_memory::Fault;
use onsale_memory::stage::Plan;

use crate::scene::{Scene, key, seats};

const BUYERS: u8 = 12;

async fn sold_show() -> (Scene, Vec<onsale_domain::ids::OrderId>) {
    let scene = Scene::with(Plan {
        rows: vec![40; 3],
        ..Plan::default()
    })
    .await;
    let mut orders = Vec::new();
    for n in 0..BUYERS {
        let buyer = scene.show.buyer(n).await.unwrap();
        let (row, seat) = (n % 3 + 1, n + 1);
        let ids = [format!("A-{row}-{seat}"), format!("A-{row}-{}", seat + 20)];
        let hold = scene.hold(&buyer, "h", &[&ids[0], &ids[1]]).await.hold_id;
        let id = scene
            .check_out_as(&buyer, hold, "pay", "pm_card_visa")
            .await;
        orders.push(id.unwrap());
    }
    scene.settle().await;
    (scene, orders)
}

#[tokio::test]
async fn everyone_is_refunded_in_full_and_nothing_is_sold_any_more() {
    let (scene, orders) = sold_show().await;
    let organiser = scene.show.organiser().await.unwrap();
    let show = scene.show.show.id;
    // An hour before the show the policy would give nothing back.
    let wait = scene.app.now().until(scene.show.show.starts_at) - 3_600_000;
    scene.world.clock.advance(wait);
    let held = scene.hold(&scene.ana, "held", &["A-1-40"]).await;
    let due = scene.app.cancel_show(&organiser, show).await.unwrap();
    assert_eq!(due, u64::from(BUYERS));
    let before = scene
        .app
        .cancellation_progress(&organiser, show)
        .await
        .unwrap();
    assert_eq!((before.refunds_due, before.refunds_done), (due, 0));
    let late = scene.check_out(held.hold_id, "late", "pm_card_visa").await;
    assert!(matches!(late, Err(Error::NotOnSale { .. })), "{late:?}");
    scene.settle().await;
    let after = scene
        .app
        .cancellation_progress(&organiser, show)
        .await
        .unwrap();
    assert_eq!((after.refunds_due, after.refunds_done), (due, due));
    for id in orders {
        assert_eq!(scene.order(id).await.status(), OrderStatus::Refunded);
    }
    for payment in scene.payments().await {
        let refunded = payment.total.amount;
        assert_eq!(payment.state, PaymentState::Captured { refunded });
    }
    assert!(!scene.sold().await);
    let ben = scene.show.buyer(99).await.unwrap();
    let refused = scene
        .app
        .place_hold(&ben, show, &key("b"), &seats(&["A-1-1"]))
        .await;
    assert!(matches!(refused, Err(Error::NotOnSale { .. })));
    assert_eq!(
        scene.app.cancel_show(&organiser, show).await,
        Ok(due),
        "asked again"
    );
    let stored = scene.world.store.cancellation(show).await.unwrap().unwrap();
    assert!(!stored.value.is_open());
}

#[tokio::test]
async fn a_cancellation_that_dies_anywhere_is_carried_through() {
    let (scene, _) = sold_show().await;
    let organiser = scene.show.organiser().await.unwrap();
    let show = scene.show.show.id;
    scene.world.gate.arm(None);
    scene.app.cancel_show(&organiser, show).await.unwrap();
    for message in scene.world.saga_queue.take_due() {
        scene.app.drive(&message).await.unwrap();
    }
    let calls = scene.world.gate.calls();
    for nth in 0..calls.len() {
        for fault in [Fault::DieBefore, Fault::DieAfter] {
            let (scene, orders) = sold_show().await;
            let organiser = scene.show.organiser().await.unwrap();
            let show = scene.show.show.id;
            scene.world.gate.arm(Some((nth, fault)));
            let work = async {
                let _ = scene.app.cancel_show(&organiser, show).await;
                for message in scene.world.saga_queue.take_due() {
                    let _ = scene.app.drive(&message).await;
                }
            };
            Scene::until_death(work);
            let note = format!("{fault:?} at {nth} ({:?})", calls.get(nth));
            scene.world.gate.arm(None);
            if scene
                .world
                .store
                .cancellation(show)
                .await
                .unwrap()
                .is_none()
            {
                continue;
            }
            for _ in 0..4 {
                scene.world.clock.advance(125_000);
                scene.app.reconcile_open().await.unwrap();
                scene.settle().await;
            }
            for id in orders {
                assert_eq!(
                    scene.order(id).await.status(),
                    OrderStatus::Refunded,
                    "{note}"
                );
            }
            assert!(!scene.sold().await, "{note}");
            let done = scene
                .app
                .cancellation_progress(&organiser, show)
                .await
                .unwrap();
            assert_eq!(done.refunds_done, u64::from(BUYERS), "{note}");
            for payment in scene.payments().await {
                let refunded = payment.total.amount;
                assert_eq!(payment.state, PaymentState::Captured { refunded }, "{note}");
            }
        }
    }
}

#[tokio::test]
async fn only_its_organiser_cancels_a_show() {
    let (scene, _) = sold_show().await;
    let show = scene.show.show.id;
    let refused = scene.app.cancel_show(&scene.ana, show).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))));
    let organiser = scene.show.organiser().await.unwrap();
    assert_eq!(
        scene.app.cancellation_progress(&organiser, show).await,
        Err(Error::NotFound("cancellation"))
    );
    scene.world.clock.advance(30 * 24 * 3_600_000);
    assert!(matches!(
        scene.app.cancel_show(&organiser, show).await,
        Err(Error::Conflict(_))
    ));
}
