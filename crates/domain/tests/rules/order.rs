//! What an order refuses, at the very moment it begins to.

use onsale_domain::buyer::{Entry, PAY_MS};
use onsale_domain::checkout_saga::{Charged, Moved, Step};
use onsale_domain::ids::{AccountId, HoldId, ShowId};
use onsale_domain::layout::PlaceIndex;
use onsale_domain::money::{Cents, Currency};
use onsale_domain::order::{
    AlreadyUndone, Attempt, CheckoutRefusal, MAX_ATTEMPTS, Order, RefundTerms, Stage, Why,
};
use onsale_domain::payment::{PaymentId, PaymentMethod};
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::show::default_refund_policy;
use onsale_domain::time::Millis;

const NOW: Millis = Millis(1_000_000);
const HELD_UNTIL: Millis = Millis(1_600_000);
const PAY_UNTIL: Millis = Millis(1_600_000 + PAY_MS);

fn attempt(key: &str) -> Attempt {
    let method = PaymentMethod::parse("pm_card_visa").unwrap();
    let key = IdempotencyKey::parse(key).unwrap();
    Attempt::new(&key, RequestHash::of(b"pm_card_visa"), method)
}

/// An order whose hold is locked.
fn begun() -> Order {
    let entry = Entry::held(
        HoldId::from_bytes([1; 16]),
        HELD_UNTIL,
        RequestHash::of(b"hold"),
        vec![PlaceIndex(0)],
        vec![Cents(4_500)],
        NOW,
    );
    let (show, account) = (ShowId::from_bytes([2; 16]), AccountId::from_bytes([3; 16]));
    let euro = Currency::parse("EUR").unwrap();
    let seat = |_| "A-1-1".to_owned();
    let order = Order::begin(&entry, seat, show, account, euro, attempt("one"), NOW);
    order.locked(Moved::Done, NOW)
}

fn declined(order: &Order) -> Order {
    let refused = Charged::Refused("no".to_owned());
    order.charged(refused, NOW).hold_given_back(NOW)
}

fn capturing() -> Order {
    let opened = begun().payment_opened(PaymentId("pi_1".into()), NOW);
    let authorised = opened.charged(Charged::Authorised, NOW);
    authorised.sold(Moved::Done, NOW)
}

#[test]
fn a_declined_order_can_be_paid_in_another_way_until_its_hold_lapses() {
    let order = declined(&begun());
    let last_moment = Millis(PAY_UNTIL.0 - 1);
    let again = order.try_again(attempt("two"), last_moment).unwrap();
    assert_eq!((again.stage, again.attempt()), (Stage::Locking, 2));
    assert_eq!(
        order.try_again(attempt("two"), PAY_UNTIL),
        Err(CheckoutRefusal::Gone(Why::HoldExpired))
    );
}

#[test]
fn an_order_takes_twenty_attempts() {
    let mut order = declined(&begun());
    for n in 2..=MAX_ATTEMPTS {
        let again = order.try_again(attempt(&format!("pay{n}")), NOW).unwrap();
        order = declined(&again.locked(Moved::Done, NOW));
    }
    assert_eq!(order.attempts.len(), 20);
    assert_eq!(
        order.try_again(attempt("pay21"), NOW),
        Err(CheckoutRefusal::TooManyAttempts)
    );
}

#[test]
fn an_order_is_called_off_once() {
    let order = capturing().captured(true, NOW).tickets_issued(NOW);
    let cancelled = order.call_off(Why::Buyer, 50, NOW).unwrap();
    assert_eq!(cancelled.refund_due(), Cents(2_250));
    assert_eq!(
        cancelled.call_off(Why::ShowCancelled, 100, NOW),
        Err(AlreadyUndone)
    );
    let ended = cancelled.tickets_revoked(NOW).refunded(NOW);
    let ended = ended.seats_returned(NOW).end_announced(NOW);
    assert_eq!(ended.call_off(Why::ChargedBack, 0, NOW), Err(AlreadyUndone));
}

#[test]
fn a_parked_order_has_no_next_step_until_it_is_let_go_on_or_called_off() {
    let order = capturing();
    assert_eq!(order.next_step(NOW), Some(Step::Capture));
    let parked = order.park("the bank is away".to_owned(), NOW);
    assert_eq!(parked.next_step(NOW), None);
    let resumed = parked.resume(None, NOW).unwrap();
    assert_eq!(resumed.next_step(NOW), Some(Step::Capture));
    assert_eq!(resumed.resume(None, NOW), None);
    let called_off = parked.call_off(Why::Buyer, 100, NOW).unwrap();
    assert_eq!(called_off.next_step(NOW), Some(Step::Void));
}

#[test]
fn an_order_keeps_its_terms_until_it_is_undone_and_one_of_old_is_read_without() {
    let terms = RefundTerms {
        policy: default_refund_policy(),
        starts_at: HELD_UNTIL,
    };
    let order = begun().under(terms.clone());
    let mut stored = serde_json::to_value(&order).unwrap();
    let read: Order = serde_json::from_value(stored.clone()).unwrap();
    assert_eq!(read, order);
    let undone = order.call_off(Why::Buyer, 100, NOW).unwrap();
    assert_eq!((read.terms, undone.terms), (Some(terms), None));
    stored.as_object_mut().unwrap().remove("terms").unwrap();
    let of_old: Order = serde_json::from_value(stored).unwrap();
    assert_eq!(of_old, begun());
}

#[test]
fn what_was_taken_for_nothing_goes_back_in_full() {
    let cancelled = capturing().call_off(Why::Buyer, 0, NOW).unwrap();
    assert_eq!(cancelled.refund_due(), Cents(0));
    assert_eq!(cancelled.voided(true, NOW).refund_due(), Cents(4_500));
    assert_eq!(cancelled.voided(false, NOW).refund_due(), Cents(0));
}

#[test]
fn before_the_hold_lapses_nobody_has_to_look_at_what_time_ends() {
    let ends = [
        Step::Lock,
        Step::OpenPayment,
        Step::Authorise,
        Step::LookUpAction,
    ];
    assert!(ends.into_iter().all(Step::ends_with_the_hold));
    let stays = [Step::Sell, Step::Capture, Step::Void, Step::Refund];
    assert!(!stays.into_iter().any(Step::ends_with_the_hold));
    let opened = begun().payment_opened(PaymentId("pi_1".into()), NOW);
    assert_eq!(opened.next_step(PAY_UNTIL), Some(Step::GiveUp));
}
