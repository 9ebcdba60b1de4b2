//! Orders that are called off.

use onsale_app::Error;
use onsale_domain::money::Cents;
use onsale_domain::order::{OrderStatus, Stage, Why, refund_percent, share};
use onsale_domain::payment::{PaymentId, PaymentState};
use onsale_domain::show::default_refund_policy;
use onsale_domain::time::Millis;

use crate::checkout::scene::{HOUR, Scene};

#[tokio::test]
async fn cancelling_gives_back_what_the_policy_says_at_that_moment() {
    for (hours_before, percent) in [(25, 100), (24, 100), (5, 50), (4, 50), (1, 0)] {
        let scene = Scene::new().await;
        let hold = scene.hold(&scene.ana, "h", &["A-1-1"]).await.hold_id;
        let id = scene.check_out(hold, "pay", "pm_card_visa").await.unwrap();
        scene.settle().await;
        scene.wait_until_hours_before(hours_before);
        let answer = scene.app.cancel_order(&scene.ana, id).await.unwrap();
        assert_eq!(answer.percent, percent, "{hours_before} h before");
        assert_eq!(answer.refund.amount, Cents(45 * u64::from(percent)));
        // The percentage is fixed: later the policy would say less.
        scene.world.clock.advance(30 * 60_000);
        scene.settle().await;
        assert_eq!(scene.app.cancel_order(&scene.ana, id).await, Ok(answer));
        scene.settle().await;
        let refunded = Cents(45 * u64::from(percent));
        assert_eq!(
            scene.payments().await[0].state,
            PaymentState::Captured { refunded }
        );
        let ends = if percent == 0 {
            OrderStatus::Cancelled
        } else {
            OrderStatus::Refunded
        };
        assert_eq!(scene.order(id).await.status(), ends);
        scene
            .assert_consistent(id, &format!("{hours_before} h before"))
            .await;
    }
}

#[tokio::test]
async fn a_refunded_seat_is_free_at_once_and_its_key_never_claims_again() {
    let scene = Scene::new().await;
    let hold = scene.hold(&scene.ana, "h", &["A-1-1"]).await.hold_id;
    let id = scene.check_out(hold, "pay", "pm_card_visa").await.unwrap();
    scene.settle().await;
    scene.app.cancel_order(&scene.ana, id).await.unwrap();
    scene.settle().await;
    let again = scene.hold(&scene.ana, "h", &["A-1-1"]).await;
    assert_eq!(again.hold_id, hold);
    assert!(again.state.is_ended(), "the old answer, and no new claim");
    let ben = scene.show.buyer(2).await.unwrap();
    scene.hold(&ben, "h", &["A-1-1"]).await;
}

#[tokio::test]
async fn an_order_cannot_be_cancelled_once_somebody_went_in_or_the_show_began() {
    use onsale_domain::ticket_code::{TicketKey, TicketKeys};
    let scene = Scene::new().await;
    let hold = scene.hold(&scene.ana, "h", &["A-1-1"]).await.hold_id;
    let id = scene.check_out(hold, "pay", "pm_card_visa").await.unwrap();
    scene.settle().await;
    let keys = TicketKeys::new(vec![TicketKey::from_bytes(&[7; 32]).public()]).unwrap();
    let organiser = scene.show.organiser().await.unwrap();
    let code = scene.app.tickets_of(&scene.ana, id).await.unwrap()[0]
        .code
        .clone();
    let show = scene.show.show.id;
    let scan = scene
        .app
        .scan(&organiser, show, &keys, &code, "north", None);
    assert!(matches!(
        scan.await,
        Ok(onsale_app::tickets::ScanAnswer::Admitted(_))
    ));
    assert!(matches!(
        scene.app.cancel_order(&scene.ana, id).await,
        Err(Error::Conflict(_))
    ));
    let scene = Scene::new().await;
    let hold = scene.hold(&scene.ana, "h", &["A-1-1"]).await.hold_id;
    let id = scene.check_out(hold, "pay", "pm_card_visa").await.unwrap();
    scene.settle().await;
    scene.world.clock.advance(30 * 24 * HOUR);
    assert!(matches!(
        scene.app.cancel_order(&scene.ana, id).await,
        Err(Error::Conflict(_))
    ));
}

#[tokio::test]
async fn a_charge_back_kills_the_tickets_and_pays_nothing_twice() {
    let scene = Scene::new().await;
    let id = scene.started("pm_card_visa").await;
    let stranger = PaymentId("pi_other".into());
    scene.settle().await;
    scene.app.charge_back(id, &stranger).await.unwrap();
    assert_eq!(scene.order(id).await.status(), OrderStatus::Confirmed);
    let payment = scene.order(id).await.payment.unwrap();
    for _ in 0..2 {
        scene.app.charge_back(id, &payment).await.unwrap();
        scene.settle().await;
    }
    let order = scene.order(id).await;
    assert_eq!(order.status(), OrderStatus::Cancelled);
    assert_eq!(order.undo.as_ref().unwrap().why, Why::ChargedBack);
    scene.assert_consistent(id, "charged back").await;
    assert!(matches!(
        scene.app.cancel_order(&scene.ana, id).await,
        Err(Error::Conflict(_))
    ));
}

/// The bank is ahead of our own saga: the provider is asked to tell us again.
#[tokio::test]
async fn a_charge_back_before_the_capture_is_known_is_heard_later() {
    let scene = Scene::new().await;
    let id = scene.started("pm_card_visa").await;
    scene.world.faults.fail_always("capture", true);
    let message = onsale_app::ports::Drive::Order {
        order_id: id,
        tries: 0,
    };
    scene.app.drive(&message).await.unwrap();
    let payment = scene.order(id).await.payment.unwrap();
    assert_eq!(
        scene.app.charge_back(id, &payment).await,
        Err(Error::Unavailable)
    );
}

/// An hour before the show nothing goes back for what was sold. This was never sold: the
/// money was taken, the order did not get to know, and its buyer called it off.
#[tokio::test]
async fn money_that_was_taken_for_nothing_goes_back_in_full_whatever_the_policy_says() {
    let scene = Scene::new().await;
    scene.wait_until_hours_before(1);
    let id = scene.stopped_at("capture").await;
    let order = scene.order(id).await;
    assert_eq!(order.stage, Stage::Capturing);
    let payment = order.payment.unwrap();
    scene.app.payments.capture(&payment, id).await.unwrap();
    scene.app.cancel_order(&scene.ana, id).await.unwrap();
    scene.settle().await;
    assert_eq!(scene.order(id).await.status(), OrderStatus::Refunded);
    let refunded = Cents(9_000);
    assert_eq!(
        scene.payments().await[0].state,
        PaymentState::Captured { refunded }
    );
    scene.assert_consistent(id, "taken for nothing").await;
}

#[tokio::test]
async fn cancelling_again_gives_the_first_answer_whatever_the_provider_says_later() {
    let scene = Scene::new().await;
    let id = scene.stopped_at("capture").await;
    let payment = scene.order(id).await.payment.unwrap();
    scene.app.payments.capture(&payment, id).await.unwrap();
    let first = scene.app.cancel_order(&scene.ana, id).await.unwrap();
    assert_eq!((first.refund.amount, first.percent), (Cents(0), 0));
    scene.settle().await;
    assert_eq!(scene.app.cancel_order(&scene.ana, id).await, Ok(first));
}

#[tokio::test]
async fn a_refund_is_asked_for_once_by_each_worker_that_comes_to_it() {
    let scene = Scene::new().await;
    let id = scene.paid("pay", &["A-1-1", "A-2-1"]).await;
    scene.app.cancel_order(&scene.ana, id).await.unwrap();
    for broken in [true, false] {
        scene.world.faults.fail_always("refund", broken);
        scene.world.faults.arm(None);
        scene.drive(id).await;
        assert_eq!(scene.world.faults.calls_of("refund"), 1);
    }
    assert_eq!(scene.order(id).await.status(), OrderStatus::Refunded);
    scene.world.faults.arm(None);
    scene.drive(id).await;
    scene.settle().await;
    assert_eq!(scene.world.faults.calls_of("refund"), 0, "it is done");
}

#[test]
fn shares_are_exact_in_cents() {
    assert_eq!(share(Cents(4_500), 50), Cents(2_250));
    assert_eq!(
        share(Cents(4_501), 50),
        Cents(2_251),
        "half a cent is the buyer's"
    );
    assert_eq!(share(Cents(999), 33), Cents(330));
    assert_eq!(share(Cents(u64::MAX), 100), Cents(u64::MAX));
    assert_eq!(share(Cents(1), 0), Cents(0));
}

#[test]
fn a_policy_is_read_from_far_to_near() {
    let policy = default_refund_policy();
    let starts = Millis(1_000 * HOUR);
    let percent = |before: u64| refund_percent(&policy, starts, Millis(starts.0 - before));
    assert_eq!(percent(24 * HOUR), 100);
    assert_eq!(percent(24 * HOUR - 1), 50);
    assert_eq!(percent(4 * HOUR), 50);
    assert_eq!(percent(4 * HOUR - 1), 0);
    assert_eq!(refund_percent(&policy, starts, starts + 1), 0);
}
