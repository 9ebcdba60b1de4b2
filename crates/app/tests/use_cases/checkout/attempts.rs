//! Attempts to pay: the same one again, another one, and one too many.

use onsale_app::Error;
use onsale_app::holds::Expiry;
use onsale_domain::buyer::{EntryState, PAY_MS};
use onsale_domain::ids::OrderId;
use onsale_domain::order::{MAX_ATTEMPTS, OrderStatus};
use onsale_domain::payment::PaymentState;

use crate::checkout::scene::{Scene, method};

#[tokio::test]
async fn a_slower_twin_of_a_checkout_gets_the_same_answer() {
    let scene = Scene::new().await;
    let hold = scene.hold(&scene.ana, "h", &["A-1-1"]).await.hold_id;
    let other = scene.clone();
    scene.world.faults.before_next("write BLK", async move {
        other.check_out(hold, "pay", "pm_card_visa").await.unwrap();
        other.settle().await;
    });
    let id = OrderId::of(hold);
    assert_eq!(scene.check_out(hold, "pay", "pm_card_visa").await, Ok(id));
    assert_eq!(scene.order(id).await.status(), OrderStatus::Confirmed);
    scene
        .assert_consistent(id, "checked out twice at once")
        .await;
}

/// The twin pays between the reading of the order and that of its hold, at the first attempt
/// and at one after a decline.
#[tokio::test]
async fn a_twin_that_pays_between_two_readings_is_no_lapse() {
    for declined in [false, true] {
        let scene = Scene::new().await;
        let hold = scene.hold(&scene.ana, "h", &["A-1-1"]).await.hold_id;
        let id = OrderId::of(hold);
        if declined {
            let refused = scene.check_out(hold, "first", "pm_card_chargeDeclined");
            refused.await.unwrap();
            scene.settle().await;
            assert_eq!(scene.order(id).await.status(), OrderStatus::Declined);
        }
        let other = scene.clone();
        scene
            .world
            .faults
            .before_next("get_many SES+BUY", async move {
                other.check_out(hold, "pay", "pm_card_visa").await.unwrap();
            });
        assert_eq!(scene.check_out(hold, "pay", "pm_card_visa").await, Ok(id));
        scene.settle().await;
        assert_eq!(scene.order(id).await.status(), OrderStatus::Confirmed);
        scene.assert_consistent(id, "a twin between readings").await;
    }
}

#[tokio::test]
async fn a_key_that_was_answered_is_answered_again_after_the_order_was_cancelled() {
    let scene = Scene::new().await;
    let id = scene.started("pm_card_visa").await;
    scene.app.cancel_order(&scene.ana, id).await.unwrap();
    let hold = id.hold();
    assert_eq!(scene.check_out(hold, "pay", "pm_card_visa").await, Ok(id));
    scene.settle().await;
    assert_eq!(scene.check_out(hold, "pay", "pm_card_visa").await, Ok(id));
    assert!(matches!(
        scene.check_out(hold, "new", "pm_card_visa").await,
        Err(Error::Conflict(_))
    ));
}

/// The order is written, and then its hold lapses before it could be locked.
#[tokio::test]
async fn a_key_that_was_refused_with_its_hold_is_refused_again() {
    let scene = Scene::new().await;
    let hold = scene.hold(&scene.ana, "h", &["A-1-1"]).await.hold_id;
    let other = scene.clone();
    scene.world.faults.before_next("write BUY", async move {
        other.world.clock.advance(606_000);
        for message in other.world.queue.take_due() {
            let expired = other.app.expire_hold(&message).await;
            assert_eq!(expired, Ok(Expiry::Ended));
        }
    });
    for _ in 0..3 {
        let refused = scene.check_out(hold, "pay", "pm_card_visa").await;
        assert_eq!(refused, Err(Error::HoldExpired));
        scene.settle().await;
    }
    let order = scene.order(OrderId::of(hold)).await;
    assert_eq!(order.status(), OrderStatus::Failed);
    assert!(scene.payments().await.is_empty());
}

#[tokio::test]
async fn twenty_cards_may_be_declined_and_no_more() {
    let scene = Scene::new().await;
    let hold = scene.hold(&scene.ana, "h", &["A-1-1"]).await.hold_id;
    for n in 0..MAX_ATTEMPTS {
        let k = format!("pay{n}");
        let attempt = scene.check_out(hold, &k, "pm_card_chargeDeclined").await;
        assert!(attempt.is_ok(), "attempt {}: {attempt:?}", n + 1);
        scene.settle().await;
    }
    let refused = scene.check_out(hold, "pay21", "pm_card_visa").await;
    assert!(
        matches!(refused, Err(Error::LimitExceeded { limit: 20, .. })),
        "{refused:?}"
    );
    let order = scene.order(OrderId::of(hold)).await;
    assert_eq!(order.attempts.len(), 20);
    assert_eq!(order.status(), OrderStatus::Declined);
}

/// The buyer never came back from the bank, and the provider knows it.
#[tokio::test]
async fn a_confirmation_that_failed_at_the_bank_is_a_decline() {
    for left_open in [true, false] {
        let scene = Scene::new().await;
        let id = scene.started("pm_sandbox_requires_action").await;
        scene.settle().await;
        let order = scene.order(id).await;
        assert_eq!(order.status(), OrderStatus::RequiresAction);
        let payment = order.payment.unwrap();
        let payments = &scene.app.payments;
        let known = if left_open {
            let card = method("pm_card_chargeDeclined");
            payments.authorise(&payment, id, 2, &card).await.unwrap();
            PaymentState::Open
        } else {
            payments.void(&payment, id).await.unwrap();
            PaymentState::Voided
        };
        assert_eq!(scene.payments().await[0].state, known);
        scene.drive(id).await;
        let order = scene.order(id).await;
        assert_eq!(order.status(), OrderStatus::Declined, "{known:?}");
        assert_eq!(order.action, None);
        assert!(order.attempts[0].refusal.is_some());
        assert!(!scene.sold().await, "{known:?}");
        let entry = scene.entry(&scene.ana, id.hold()).await;
        assert_eq!(entry.state, EntryState::Held, "{known:?}");
    }
}

/// The message about the first expiry came while the hold was being paid, and is used up.
#[tokio::test]
async fn a_declined_hold_is_ended_by_a_message_of_its_own() {
    let scene = Scene::new().await;
    let id = scene.started("pm_card_chargeDeclined").await;
    scene.world.clock.advance(606_000);
    let first = scene.world.queue.take_due();
    assert_eq!(first.len(), 1);
    let expired = scene.app.expire_hold(&first[0]).await;
    assert_eq!(expired, Ok(Expiry::LeftAlone), "it is being paid");
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Declined);
    scene.world.clock.advance(PAY_MS);
    let second = scene.world.queue.take_due();
    assert_eq!(second.len(), 1);
    assert_eq!(scene.app.expire_hold(&second[0]).await, Ok(Expiry::Ended));
    assert_eq!(scene.cells().await, []);
}

/// The first request died between locking the hold and waking the saga.
#[tokio::test]
async fn asking_again_wakes_a_saga_that_nobody_woke() {
    let scene = Scene::new().await;
    let hold = scene.hold(&scene.ana, "h", &["A-1-1"]).await.hold_id;
    scene.world.faults.fail_always("send_drive", true);
    let id = scene.check_out(hold, "pay", "pm_card_visa").await.unwrap();
    scene.world.faults.fail_always("send_drive", false);
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Pending);
    assert_eq!(scene.check_out(hold, "pay", "pm_card_visa").await, Ok(id));
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Confirmed);
}
