//! The sandbox does every call once, whatever is repeated, lost or done at the same time.

use crate::world::{ACTION, AUTHORISED, NOW, ORDER, World, declined, is_unavailable, total};
use futures_util::future::join_all;
use onsale_app::ports::{Authorisation, Capture, Opened, PaymentFailure, Payments, Refund, Void};
use onsale_domain::money::{Cents, Money};
use onsale_domain::payment::PaymentState;
use onsale_payments::Pace;
use onsale_table::faults::Fault;

#[tokio::test]
async fn opening_again_finds_the_same_payment() {
    let world = World::new().await;
    assert_eq!(world.payment.0, format!("pi_sandbox_{}", ORDER.simple()));
    assert_eq!(
        world.sandbox.open(ORDER, total()).await,
        Ok(Opened::Payment(world.payment.clone()))
    );
    let found = world
        .sandbox
        .look_up(&world.payment)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found.order, Some(ORDER));
    assert_eq!((found.total, found.created), (total(), NOW));
    assert_eq!(found.state, PaymentState::Open);
    assert_eq!(world.writes().await, 1);
    let other = Money {
        amount: Cents(1),
        ..total()
    };
    let answer = world.sandbox.open(ORDER, other).await;
    assert!(matches!(answer, Err(PaymentFailure::Ours(_))));
}

#[tokio::test]
async fn an_old_attempt_gives_its_first_answer_and_changes_nothing() {
    let world = World::new().await;
    world.authorise(1, "pm_card_chargeDeclined").await.unwrap();
    world
        .authorise(2, "pm_sandbox_requires_action")
        .await
        .unwrap();
    let writes = world.writes().await;
    assert_eq!(
        world.authorise(1, "pm_card_chargeDeclined").await,
        declined()
    );
    assert_eq!(world.authorise(1, "pm_card_visa").await, declined());
    assert_eq!(
        world.authorise(2, "pm_sandbox_requires_action").await,
        ACTION
    );
    assert_eq!(world.writes().await, writes);
    world.authorise(3, "pm_card_visa").await.unwrap();
    world.capture().await;
    assert_eq!(
        world.authorise(2, "pm_sandbox_requires_action").await,
        ACTION
    );
    assert_eq!(
        world.state().await,
        PaymentState::Captured { refunded: Cents(0) }
    );
}

#[tokio::test]
async fn an_attempt_that_was_overtaken_charges_nothing() {
    let world = World::new().await;
    world.authorise(2, "pm_card_chargeDeclined").await.unwrap();
    let late = world.authorise(1, "pm_card_visa").await;
    assert!(matches!(late, Ok(Authorisation::Refused(_))), "{late:?}");
    assert_eq!(world.state().await, PaymentState::Open);
}

#[tokio::test(start_paused = true)]
async fn a_lost_reply_hides_an_authorisation_until_it_is_asked_for_again() {
    let world = World::at_pace(Pace::default()).await;
    let before = tokio::time::Instant::now();
    assert!(is_unavailable(
        &world.authorise(1, "pm_sandbox_lost_reply").await
    ));
    assert_eq!(before.elapsed().as_secs(), 1);
    assert_eq!(world.state().await, PaymentState::Authorised);
    assert_eq!(
        world.authorise(1, "pm_sandbox_lost_reply").await,
        AUTHORISED
    );
    assert_eq!(world.capture().await, Capture::Captured);
}

#[tokio::test]
async fn calls_at_the_same_time_are_done_once() {
    let world = World::new().await;
    let answers = join_all((0..8).map(|_| world.authorise(1, "pm_sandbox_lost_reply"))).await;
    assert_eq!(answers.iter().filter(|a| is_unavailable(a)).count(), 1);
    assert_eq!(answers.iter().filter(|a| **a == AUTHORISED).count(), 7);
    join_all((0..8).map(|_| world.capture())).await;
    join_all((0..8).map(|_| world.refund(1000))).await;
    let refunded = Cents(1000);
    assert_eq!(world.state().await, PaymentState::Captured { refunded });
    assert_eq!(world.writes().await, 4, "open, authorise, capture, refund");
}

#[tokio::test]
async fn capture_and_void_at_the_same_time_agree_on_one_outcome() {
    for _ in 0..50 {
        let world = World::new().await;
        world.authorise(1, "pm_card_visa").await.unwrap();
        let (capture, void) = tokio::join!(world.capture(), world.void());
        let taken = capture == Capture::Captured;
        assert_eq!(taken, void == Void::Captured, "{capture:?} {void:?}");
        let captured = matches!(world.state().await, PaymentState::Captured { .. });
        assert_eq!(taken, captured);
    }
}

#[tokio::test]
async fn a_write_whose_reply_was_lost_is_found_by_the_repetition() {
    let world = World::new().await;
    let faults = &world.ledger.faults;
    let lose_next = || faults.at_next("update SBX", Fault::FailAfter);
    lose_next();
    assert!(is_unavailable(&world.authorise(1, "pm_card_visa").await));
    assert_eq!(world.authorise(1, "pm_card_visa").await, AUTHORISED);
    lose_next();
    assert!(is_unavailable(
        &world.sandbox.capture(&world.payment, ORDER).await
    ));
    assert_eq!(world.capture().await, Capture::Captured);
    lose_next();
    let amount = Cents(4000);
    assert!(is_unavailable(
        &world
            .sandbox
            .refund(&world.payment, ORDER, Cents(0), amount)
            .await
    ));
    assert_eq!(world.refund(4000).await, Refund::Refunded);
    assert_eq!(world.writes().await, 4, "open, authorise, capture, refund");
}
