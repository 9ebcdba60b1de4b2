//! The sandbox lives through everything that can happen to a payment.

use std::time::Duration;

use crate::world::{ACTION, AUTHORISED, NOW, ORDER, World, declined, total};
use onsale_app::ports::{
    Authorisation, Capture, Clock, Opened, PaymentFailure, Payments, Refund, Void,
};
use onsale_domain::ids::OrderId;
use onsale_domain::money::Cents;
use onsale_domain::payment::{Action, PaymentId, PaymentMethod, PaymentState};
use onsale_payments::Pace;

#[tokio::test]
async fn a_decline_leaves_room_for_another_method() {
    let world = World::new().await;
    assert_eq!(
        world.authorise(1, "pm_card_chargeDeclined").await,
        declined()
    );
    assert_eq!(world.state().await, PaymentState::Open);
    assert_eq!(world.authorise(2, "pm_card_visa").await, AUTHORISED);
    assert_eq!(world.state().await, PaymentState::Authorised);
}

#[tokio::test]
async fn an_unknown_method_is_refused() {
    let world = World::new().await;
    let answer = world.authorise(1, "pm_card_mastercard").await.unwrap();
    let Authorisation::Refused(reason) = answer else {
        panic!("{answer:?}");
    };
    assert!(reason.starts_with("unknown payment method"), "{reason}");
}

#[tokio::test]
async fn an_action_is_confirmed_once_and_a_repetition_agrees() {
    let world = World::new().await;
    let confirm = || world.sandbox.confirm_action(&world.payment);
    assert_eq!(confirm().await, Ok(false), "nothing was asked for");
    assert_eq!(
        world.authorise(1, "pm_sandbox_requires_action").await,
        ACTION
    );
    let waiting = PaymentState::ActionRequired(Action::ConfirmInSandbox);
    assert_eq!(world.state().await, waiting);
    assert!(matches!(world.capture().await, Capture::Refused(_)));
    assert_eq!(confirm().await, Ok(true));
    assert_eq!(world.state().await, PaymentState::Authorised);
    assert_eq!(confirm().await, Ok(true));
    assert_eq!(world.capture().await, Capture::Captured);
    assert_eq!(confirm().await, Ok(true));
    assert_eq!(
        world.state().await,
        PaymentState::Captured { refunded: Cents(0) }
    );
}

#[tokio::test]
async fn an_action_that_comes_after_the_void_authorises_nothing() {
    let world = World::new().await;
    world
        .authorise(1, "pm_sandbox_requires_action")
        .await
        .unwrap();
    assert_eq!(world.void().await, Void::Voided);
    assert_eq!(
        world.sandbox.confirm_action(&world.payment).await,
        Ok(false)
    );
    assert_eq!(world.state().await, PaymentState::Voided);
    let missing = PaymentId("pi_sandbox_none".into());
    assert_eq!(world.sandbox.confirm_action(&missing).await, Ok(false));
}

#[tokio::test]
async fn a_capture_can_fail_after_the_authorisation() {
    let world = World::new().await;
    assert_eq!(
        world.authorise(1, "pm_sandbox_capture_fails").await,
        AUTHORISED
    );
    for _ in 0..2 {
        assert!(matches!(world.capture().await, Capture::Refused(_)));
    }
    assert_eq!(world.void().await, Void::Voided);
}

#[tokio::test(start_paused = true)]
async fn a_slow_method_is_authorised_after_ten_seconds_unless_it_was_voided() {
    let world = World::at_pace(Pace::default()).await;
    let before = tokio::time::Instant::now();
    assert_eq!(world.authorise(1, "pm_sandbox_slow").await, AUTHORISED);
    assert_eq!(before.elapsed().as_secs(), 10);
    assert_eq!(world.authorise(1, "pm_sandbox_slow").await, AUTHORISED);
    assert_eq!(before.elapsed().as_secs(), 10, "a repetition does not wait");

    let world = World::at_pace(Pace::default()).await;
    let void = async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        world.void().await
    };
    let (answer, void) = tokio::join!(world.authorise(1, "pm_sandbox_slow"), void);
    assert_eq!(void, Void::Voided);
    assert!(
        matches!(answer, Ok(Authorisation::Refused(_))),
        "{answer:?}"
    );
    assert_eq!(world.state().await, PaymentState::Voided);
}

#[tokio::test]
async fn after_a_void_nothing_can_be_authorised_or_captured() {
    let world = World::new().await;
    world.authorise(1, "pm_card_visa").await.unwrap();
    for _ in 0..2 {
        assert_eq!(world.void().await, Void::Voided);
    }
    let answer = world.authorise(2, "pm_card_visa").await;
    assert!(
        matches!(answer, Ok(Authorisation::Refused(_))),
        "{answer:?}"
    );
    assert!(matches!(world.capture().await, Capture::Refused(_)));
    assert!(matches!(world.refund(1).await, Refund::Refused(_)));
    assert_eq!(world.state().await, PaymentState::Voided);
    assert_eq!(
        world.sandbox.open(ORDER, total()).await,
        Ok(Opened::Payment(world.payment.clone()))
    );
    assert_eq!(
        world.state().await,
        PaymentState::Voided,
        "opening revives nothing"
    );
}

#[tokio::test]
async fn captured_money_goes_back_once_and_only_by_a_refund() {
    let world = World::new().await;
    world.authorise(1, "pm_card_visa").await.unwrap();
    for _ in 0..2 {
        assert_eq!(world.capture().await, Capture::Captured);
    }
    assert_eq!(world.void().await, Void::Captured);
    assert!(matches!(world.refund(4201).await, Refund::Refused(_)));
    for _ in 0..2 {
        assert_eq!(world.refund(4000).await, Refund::Refunded);
        let refunded = Cents(4000);
        assert_eq!(world.state().await, PaymentState::Captured { refunded });
    }
    assert!(matches!(world.refund(4200).await, Refund::Refused(_)));
    assert_eq!(world.void().await, Void::Captured);
}

#[tokio::test]
async fn money_goes_back_in_parts_each_of_them_once() {
    let world = World::new().await;
    world.authorise(1, "pm_card_visa").await.unwrap();
    world.capture().await;
    let refund = async |already, amount| {
        let (already, amount) = (Cents(already), Cents(amount));
        let refund = world.sandbox.refund(&world.payment, ORDER, already, amount);
        refund.await.unwrap()
    };
    let parts = [(0, 1500), (1500, 1500), (3000, 1200)];
    for (already, amount) in parts {
        // A part whose turn has not come would leave a gap.
        assert!(matches!(
            refund(already + 1, amount).await,
            Refund::Refused(_)
        ));
        for _ in 0..2 {
            assert_eq!(refund(already, amount).await, Refund::Refunded);
            let refunded = Cents(already + amount);
            assert_eq!(world.state().await, PaymentState::Captured { refunded });
        }
        // Told again, however late, an earlier one changes nothing.
        assert_eq!(refund(0, 1500).await, Refund::Refunded);
    }
    assert!(matches!(refund(4200, 1).await, Refund::Refused(_)));
}

#[tokio::test]
async fn a_payment_answers_only_to_its_own_order() {
    let world = World::new().await;
    let other = OrderId::from_bytes([8; 16]);
    let visa = PaymentMethod::parse("pm_card_visa").unwrap();
    let sandbox = &world.sandbox;
    let ours = |failure| matches!(failure, PaymentFailure::Ours(_));
    let answer = sandbox.authorise(&world.payment, other, 1, &visa).await;
    assert!(ours(answer.unwrap_err()));
    assert!(ours(
        sandbox.capture(&world.payment, other).await.unwrap_err()
    ));
    let missing = PaymentId("pi_sandbox_none".into());
    assert!(ours(sandbox.void(&missing, ORDER).await.unwrap_err()));
    assert_eq!(sandbox.look_up(&missing).await, Ok(None));
}

#[tokio::test]
async fn the_list_has_every_payment_since_then_page_by_page() {
    let world = World::new().await;
    for number in 0..250u32 {
        let mut bytes = [9; 16];
        bytes[12..].copy_from_slice(&number.to_be_bytes());
        *world.clock.0.lock().unwrap() = NOW + 1000 + u64::from(number);
        world
            .sandbox
            .open(OrderId::from_bytes(bytes), total())
            .await
            .unwrap();
    }
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = world
            .sandbox
            .list(NOW + 1000, after.as_deref())
            .await
            .unwrap();
        found.extend(page.items.into_iter().map(|payment| payment.created));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    assert_eq!(found.len(), 250, "and not the one before");
    assert!(found.is_sorted());
    assert_eq!(found.last(), Some(&world.clock.now()));
}
