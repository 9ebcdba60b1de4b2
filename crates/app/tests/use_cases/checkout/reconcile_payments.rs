//! Reconciling money: every payment is compared with the order that opened it.

use onsale_app::Error;
use onsale_app::ports::Versioned;
use onsale_app::reconcile::Report;
use onsale_domain::cancellation::Cancellation;
use onsale_domain::ids::OrderId;
use onsale_domain::money::{Cents, Money};
use onsale_domain::order::{OrderStatus, Why};
use onsale_domain::payment::{PaymentId, PaymentState};

use crate::checkout::scene::{Scene, method};

const NOTHING: [String; 0] = [];

fn nobody(n: u8) -> OrderId {
    OrderId::from_bytes([n; 16])
}

/// A payment that names an order which does not exist.
async fn orphan(scene: &Scene, n: u8) -> PaymentId {
    let total = Money {
        amount: Cents(4_500),
        currency: scene.show.show.currency,
    };
    let opened = scene.app.payments.open(nobody(n), total).await;
    opened.unwrap().payment().unwrap()
}

async fn charged_orphan(scene: &Scene, n: u8, captured: bool) -> PaymentId {
    let payment = orphan(scene, n).await;
    let payments = &scene.app.payments;
    let card = method("pm_card_visa");
    let charge = payments.authorise(&payment, nobody(n), 1, &card);
    charge.await.unwrap();
    if captured {
        payments.capture(&payment, nobody(n)).await.unwrap();
    }
    payment
}

async fn reconcile(scene: &Scene) -> Report {
    scene.app.reconcile_all().await.unwrap()
}

async fn states(scene: &Scene) -> Vec<PaymentState> {
    let payments = scene.payments().await.into_iter();
    payments.map(|payment| payment.state).collect()
}

#[tokio::test]
async fn a_payment_without_an_order_is_found_and_paid_back() {
    let scene = Scene::new().await;
    charged_orphan(&scene, 1, false).await;
    charged_orphan(&scene, 2, true).await;
    let report = reconcile(&scene).await;
    assert_eq!(report.repairs.len(), 2, "{report}");
    assert_eq!(report.orphan_payments, 0);
    let refunded = Cents(4_500);
    assert_eq!(
        states(&scene).await,
        [PaymentState::Voided, PaymentState::Captured { refunded }]
    );
    assert_eq!(reconcile(&scene).await.repairs, NOTHING);
}

/// A worker may be about to store the payment that it has just opened.
#[tokio::test]
async fn an_open_payment_without_an_order_is_voided_once_it_is_an_hour_old() {
    let scene = Scene::new().await;
    orphan(&scene, 1).await;
    scene.world.clock.advance(59 * 60_000);
    assert_eq!(reconcile(&scene).await.repairs, NOTHING);
    assert_eq!(states(&scene).await, [PaymentState::Open]);
    scene.world.clock.advance(2 * 60_000);
    assert_eq!(reconcile(&scene).await.repairs.len(), 1);
    assert_eq!(states(&scene).await, [PaymentState::Voided]);
}

#[tokio::test]
async fn more_than_25_payments_without_an_order_are_not_paid_back_unseen() {
    let scene = Scene::new().await;
    for n in 1..=26 {
        charged_orphan(&scene, n, true).await;
    }
    let report = reconcile(&scene).await;
    assert_eq!(report.repairs.len(), 25);
    assert_eq!((report.alarms.len(), report.orphan_payments), (1, 1));
    let kept = PaymentState::Captured { refunded: Cents(0) };
    let left = states(&scene).await.into_iter().filter(|s| *s == kept);
    assert_eq!(left.count(), 1, "the 26th waits for somebody to look");
}

#[tokio::test]
async fn an_order_that_was_cancelled_by_its_policy_needs_no_repair() {
    for (hours_before, refunded) in [(5, Cents(2_250)), (1, Cents(0))] {
        let scene = Scene::new().await;
        // Paid so late that the payment is on the list.
        scene.wait_until_hours_before(hours_before);
        let id = scene.paid("one", &["A-1-1"]).await;
        scene.app.cancel_order(&scene.ana, id).await.unwrap();
        scene.settle().await;
        let report = reconcile(&scene).await;
        assert_eq!(report.payments, 1);
        assert_eq!(report.repairs, NOTHING, "{hours_before} h before");
        assert_eq!(report.alarms, NOTHING, "{hours_before} h before");
        assert_eq!(
            states(&scene).await,
            [PaymentState::Captured { refunded }],
            "{hours_before} h before"
        );
    }
}

/// An order that ended while the provider had its money reserved: a worker that comes
/// back late may take it. An hour before the show the policy would give nothing back.
async fn ended_with_money_reserved(scene: &Scene) -> (OrderId, PaymentId) {
    scene.wait_until_hours_before(1);
    let id = scene.stopped_at("write BLK").await;
    let now = scene.app.now();
    let Versioned { version, value } = scene.stored(id).await;
    let ended = value.call_off(Why::Buyer, 0, now).unwrap();
    let ended = ended.voided(false, now).seats_returned(now);
    let value = ended.end_announced(now);
    let payment = value.payment.clone().unwrap();
    let ended = Versioned { version, value };
    scene.world.store.replace(&ended).await.unwrap();
    (id, payment)
}

#[tokio::test]
async fn money_that_was_taken_behind_an_ended_orders_back_goes_back_in_full() {
    let scene = Scene::new().await;
    let (id, payment) = ended_with_money_reserved(&scene).await;
    scene.app.payments.capture(&payment, id).await.unwrap();
    let report = reconcile(&scene).await;
    assert_eq!(
        report.repairs,
        [format!("refunded 9000 of payment {payment}")]
    );
    let refunded = Cents(9_000);
    assert_eq!(states(&scene).await, [PaymentState::Captured { refunded }]);
    assert_eq!(reconcile(&scene).await.repairs, NOTHING);
}

#[tokio::test]
async fn money_that_is_still_reserved_for_an_ended_order_is_released() {
    let scene = Scene::new().await;
    let (_, payment) = ended_with_money_reserved(&scene).await;
    assert_eq!(states(&scene).await, [PaymentState::Authorised]);
    let report = reconcile(&scene).await;
    assert_eq!(report.repairs, [format!("voided payment {payment}")]);
    assert_eq!(states(&scene).await, [PaymentState::Voided]);
}

#[tokio::test]
async fn a_confirmed_order_whose_money_went_back_raises_an_alarm() {
    let scene = Scene::new().await;
    let id = scene.paid("one", &["A-1-1"]).await;
    let payment = scene.order(id).await.payment.unwrap();
    let refund = scene
        .app
        .payments
        .refund(&payment, id, Cents(0), Cents(100));
    refund.await.unwrap();
    let report = reconcile(&scene).await;
    assert_eq!(
        report.alarms,
        [format!("order {id} is confirmed, but 100 went back")]
    );
    assert_eq!(report.repairs, NOTHING);
    assert_eq!(scene.order(id).await.status(), OrderStatus::Confirmed);
}

#[tokio::test]
async fn a_payment_without_an_order_that_somebody_refunded_in_part_is_left_to_them() {
    let scene = Scene::new().await;
    let payment = charged_orphan(&scene, 1, true).await;
    let refund = scene
        .app
        .payments
        .refund(&payment, nobody(1), Cents(0), Cents(100));
    refund.await.unwrap();
    scene.world.faults.arm(None);
    let report = reconcile(&scene).await;
    assert_eq!((report.alarms.len(), report.orphan_payments), (1, 1));
    assert_eq!(report.repairs, NOTHING);
    assert_eq!(scene.world.faults.calls_of("refund"), 0, "nobody asked");
    let refunded = Cents(100);
    assert_eq!(states(&scene).await, [PaymentState::Captured { refunded }]);
}

/// The provider's books are not ours: an order may name a payment that is not in them.
#[tokio::test]
async fn a_confirmed_order_whose_payment_the_provider_does_not_know_raises_an_alarm() {
    let scene = Scene::new().await;
    let id = scene.paid("one", &["A-1-1"]).await;
    let mut order = scene.stored(id).await;
    order.value.payment = Some(PaymentId("pi_lost".into()));
    scene.world.store.replace(&order).await.unwrap();
    let report = reconcile(&scene).await;
    let alarm = format!("order {id} is confirmed, but the provider has no money for it");
    assert!(report.alarms.contains(&alarm), "{report}");
}

#[tokio::test]
async fn a_provider_that_lists_nothing_is_an_alarm_and_the_rest_is_looked_at() {
    let scene = Scene::new().await;
    scene.paid("one", &["A-1-1"]).await;
    scene.world.faults.fail_always("list", true);
    let report = reconcile(&scene).await;
    assert_eq!((report.shows, report.sold), (1, 1));
    assert_eq!(report.alarms.len(), 1, "{report}");
    assert!(report.alarms[0].starts_with("payments cannot be listed"));
}

#[tokio::test]
async fn a_part_that_cannot_be_looked_at_keeps_no_payment_from_being_compared() {
    let scene = Scene::new().await;
    charged_orphan(&scene, 1, true).await;
    let new = Cancellation::begin(scene.show.show.id, scene.app.now());
    scene.world.store.create(&new).await.unwrap();
    scene.world.faults.fail_always("get CXL", true);
    let report = reconcile(&scene).await;
    assert_eq!((report.missed, report.alarms.len()), (1, 1), "{report}");
    assert!(report.alarms[0].starts_with("open cancellations"));
    let refunded = Cents(4_500);
    assert_eq!(states(&scene).await, [PaymentState::Captured { refunded }]);
}

/// The bank of the buyer does not take the money, days after the order has ended.
#[tokio::test]
async fn a_refund_that_the_bank_sent_back_is_missed() {
    let scene = Scene::new().await;
    let id = scene.paid("one", &["A-1-1"]).await;
    let payment = scene.order(id).await.payment.unwrap();
    let look = || scene.app.look_at_refund(id, &payment);
    assert_eq!(look().await, Ok(Cents(0)), "nothing is owed");
    scene.wait_until_hours_before(1);
    scene.app.cancel_order(&scene.ana, id).await.unwrap();
    assert_eq!(look().await, Err(Error::Unavailable), "it is not over");
    scene.settle().await;
    assert_eq!(
        look().await,
        Ok(Cents(0)),
        "nothing went back, and nothing is owed"
    );
    let mut owing = scene.stored(id).await;
    owing.value.undo.as_mut().unwrap().refund = Cents(4_500);
    scene.world.store.replace(&owing).await.unwrap();
    assert_eq!(look().await, Ok(Cents(4_500)));
    let stranger = PaymentId("pi_other".into());
    let other = scene.app.look_at_refund(id, &stranger).await;
    assert_eq!(other, Ok(Cents(0)), "another payment says nothing about it");
}
