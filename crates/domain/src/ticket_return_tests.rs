use proptest::prelude::*;

use super::*;
use crate::buyer::Entry;
use crate::checkout_saga::{Charged, Moved, Step};
use crate::gate::{Admission, Admissions};
use crate::ids::{AccountId, ShowId, TransferId};
use crate::money::Currency;
use crate::order::{Attempt, OrderStatus, Stage, Why};
use crate::payment::{PaymentId, PaymentMethod};
use crate::request_hash::IdempotencyKey;
use crate::resale::Repayment;
use crate::ticket::Scan;
use crate::time::CLOCK_SKEW_MS;
use crate::transfer::{Hands, Transfer};

const NOW: Millis = Millis(1_800_000_000_000);
const STARTS: Millis = Millis(1_800_000_000_000 + 86_400_000);
const BUYER: OrderId = OrderId::from_bytes([9; 16]);

fn order(prices: &[u64]) -> Order {
    let entry = Entry::held(
        HoldId::from_bytes([1; 16]),
        NOW + 600_000,
        RequestHash::of(b"hold"),
        (0..prices.len() as u32).map(PlaceIndex).collect(),
        prices.iter().copied().map(Cents).collect(),
        NOW,
    );
    let key = IdempotencyKey::parse("k").unwrap();
    let method = PaymentMethod::parse("pm_card_visa").unwrap();
    let attempt = Attempt::new(&key, RequestHash::of(b"pay"), method);
    let seat = |place: PlaceIndex| format!("A-1-{}", place.0);
    let (show, account) = (ShowId::from_bytes([2; 16]), AccountId::from_bytes([3; 16]));
    let euro = Currency::parse("EUR").unwrap();
    Order::begin(&entry, seat, show, account, euro, attempt, NOW)
        .locked(Moved::Done, NOW)
        .payment_opened(PaymentId("pi_1".into()), NOW)
        .charged(Charged::Authorised, NOW)
        .sold(Moved::Done, NOW)
        .captured(true, NOW)
        .tickets_issued(NOW)
        .announced(NOW)
}

fn ticket(order: &Order, n: usize) -> Ticket {
    let seat = &order.seats[n];
    Ticket {
        id: TicketId::of(order.id, seat.place),
        order_id: order.id,
        show_id: order.show_id,
        account: order.account,
        place: seat.place,
        seat: seat.seat.clone(),
        serial: 0,
        code: "CODE".into(),
        state: TicketState::Valid,
        issued: NOW,
        changed: Millis(0),
        admissions: Admissions::default(),
        hands: Hands::default(),
        put_back: None,
    }
}

fn put_back(order: &Order, n: usize) -> Ticket {
    let ticket = ticket(order, n);
    ticket.put_back_for(order, None, STARTS, NOW).unwrap()
}

fn promise(until: u64) -> Promise {
    Promise {
        hold: BUYER.hold(),
        until: NOW + until,
    }
}

fn admission() -> Admission {
    Admission {
        scan: "s".into(),
        at: NOW + 5,
        gate: "north".into(),
        by: None,
        device: None,
        undone: None,
    }
}

#[test]
fn a_ticket_that_was_put_back_is_good_and_costs_what_it_cost() {
    let order = order(&[4_501, 3_000]);
    let ticket = put_back(&order, 0);
    assert!(ticket.is_valid() && ticket.is_put_back());
    let resale = ticket.for_sale(NOW).unwrap();
    assert_eq!((resale.price, resale.from), (Cents(4_501), order.id));
    let mine = ticket.taken_back(NOW + 1).unwrap().unwrap();
    assert!(mine.is_valid() && !mine.is_put_back());
    assert_eq!(mine.taken_back(NOW + 2), Ok(None));
    assert_eq!(mine.for_sale(NOW + 2), None);
}

#[test]
fn what_is_not_its_owners_to_sell_is_not_put_back() {
    let order = order(&[4_500]);
    let good = ticket(&order, 0);
    let refused = |ticket: &Ticket, order: &Order, now| {
        ticket.put_back_for(order, None, STARTS, now).unwrap_err()
    };
    let Scan::Admitted(used) = good.scan(0, admission()) else {
        unreachable!("a valid ticket admits");
    };
    assert_eq!(refused(&used, &order, NOW), ReturnRefusal::Used);
    let revoked = good.revoked(NOW).unwrap();
    assert_eq!(refused(&revoked, &order, NOW), ReturnRefusal::Revoked);
    assert_eq!(refused(&good, &order, STARTS), ReturnRefusal::Begun);
    let undone = order.call_off(Why::Buyer, 100, NOW).unwrap();
    assert_eq!(refused(&good, &undone, NOW), ReturnRefusal::Undone);
}

/// A reader is told `confirmed` as soon as there are tickets, before the bus has heard of them.
#[test]
fn a_ticket_of_an_order_that_is_being_announced_is_put_back_and_resold() {
    let mut order = order(&[4_500]);
    order.stage = Stage::Announcing;
    let ticket = put_back(&order, 0);
    let sold = order.with_resold(&[ticket], NOW + 1).unwrap();
    assert_eq!((sold.stage, sold.resold.len()), (Stage::Announcing, 1));
}

#[test]
fn a_promise_keeps_others_away_until_it_lapsed_for_every_clock() {
    let ticket = put_back(&order(&[4_500]), 0);
    let kept = ticket.promised(promise(1_000), NOW).unwrap();
    assert!(kept.is_valid());
    let other = Promise {
        hold: HoldId::from_bytes([7; 16]),
        until: NOW + 90_000,
    };
    assert_eq!(kept.promised(other, NOW + 1_000 + CLOCK_SKEW_MS), None);
    let lapsed = NOW + 1_001 + CLOCK_SKEW_MS;
    assert_eq!(kept.promised(other, lapsed).unwrap().promise(), Some(other));
    assert_eq!(kept.promise_released(other.hold), None);
    assert_eq!(kept.promise_released(BUYER.hold()), Some(ticket));
}

#[test]
fn it_is_sold_to_whom_it_was_promised_just_so_and_to_nobody_else() {
    let kept = put_back(&order(&[4_500]), 0)
        .promised(promise(1_000), NOW)
        .unwrap();
    assert_eq!(kept.resold(promise(2_000), BUYER, NOW), None);
    let extended = kept.promise_moved(promise(1_000), promise(2_000)).unwrap();
    assert_eq!(extended.promise_moved(promise(1_000), promise(9)), None);
    let sold = extended.resold(promise(2_000), BUYER, NOW + 7).unwrap();
    assert!(matches!(sold.state, TicketState::Revoked { .. }));
    assert!(sold.is_resold_to(BUYER) && !sold.is_put_back());
    assert_eq!(sold.scan(0, admission()), Scan::Revoked);
    assert_eq!(sold.taken_back(NOW + 8), Err(ReturnRefusal::Resold));
    assert_eq!(sold.changed, NOW + 7, "gates have to hear of it");
}

#[test]
fn whatever_else_is_done_with_the_ticket_ends_the_return() {
    let order = order(&[4_500]);
    let kept = put_back(&order, 0).promised(promise(1_000), NOW).unwrap();
    let Scan::Admitted(used) = kept.scan(0, admission()) else {
        unreachable!("a valid ticket admits");
    };
    let revoked = kept.revoked(NOW).unwrap();
    let id = TransferId::from_bytes([5; 16]);
    let to = crate::account::Email::parse("bo@example.org").unwrap();
    let offer = Transfer::offer(id, &kept, &order, to, None, STARTS, NOW);
    let (_, offered) = offer.unwrap();
    for ticket in [*used, revoked, offered] {
        assert!(!ticket.is_put_back());
        assert_eq!(ticket.resold(promise(1_000), BUYER, NOW), None);
        assert_eq!(ticket.for_sale(STARTS), None);
    }
}

#[test]
fn an_order_owes_what_was_resold_and_is_open_until_it_is_paid() {
    let order = order(&[4_501, 3_000, 2_000]);
    let sold = order.with_resold(&[ticket(&order, 1)], NOW).unwrap();
    assert!(sold.is_open() && !order.is_open());
    assert_eq!(sold.next_step(NOW), Some(Step::Repay));
    let due = sold.repayment().unwrap();
    assert_eq!((due.already, due.amount), (Cents(0), Cents(3_000)));
    assert_eq!(
        sold.with_resold(&[ticket(&order, 1)], NOW),
        None,
        "only once"
    );
    let repaid = sold.repaid(&due, NOW + 1);
    assert!(!repaid.is_open());
    assert_eq!(repaid.status(), OrderStatus::Confirmed);
    // What is cancelled later is only what is left.
    let cancelled = repaid.call_off(Why::Buyer, 50, NOW + 2).unwrap();
    assert_eq!(cancelled.refund_due(), Cents(3_251));
    assert_eq!(cancelled.repaid_amount(), Cents(3_000));
    assert_eq!(cancelled.with_resold(&[ticket(&order, 0)], NOW), None);
}

#[test]
fn what_a_bank_took_back_is_not_paid_a_second_time() {
    let order = order(&[4_500]);
    let sold = order.with_resold(&[ticket(&order, 0)], NOW).unwrap();
    let charged_back = sold.call_off(Why::ChargedBack, 0, NOW).unwrap();
    assert_eq!(charged_back.repayment(), None);
    assert_eq!(charged_back.next_step(NOW), Some(Step::RevokeTickets));
}

proptest! {
    /// In whatever order places are resold and paid back, and whatever is cancelled in
    /// the end: no cent is paid twice, none is forgotten, and the books say the same.
    #[test]
    fn every_cent_goes_back_once(
        prices in proptest::collection::vec(0u64..100_000, 1..8),
        picks in proptest::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..12),
        percent in proptest::option::of(0u8..=100),
    ) {
        let begun = order(&prices);
        let mut order = begun.clone();
        let mut paid = 0;
        let mut pay = |order: &mut Order, due: Repayment| {
            assert_eq!(due.already, Cents(paid));
            paid += due.amount.0;
            *order = order.repaid(&due, NOW);
        };
        for (pick, pays) in picks {
            let n = pick.index(prices.len());
            if let Some(next) = order.with_resold(&[ticket(&begun, n)], NOW) {
                order = next;
            }
            if let Some(due) = order.repayment().filter(|_| pays) {
                pay(&mut order, due);
            }
        }
        while let Some(due) = order.repayment() {
            pay(&mut order, due);
        }
        let total: u64 = prices.iter().sum();
        prop_assert_eq!(paid + order.kept_amount().0, total);
        let mut back = paid;
        let any_left = order.kept().count() > 0;
        if let Some(percent) = percent.filter(|_| any_left) {
            order = order.call_off(Why::Buyer, percent, NOW).unwrap();
            back += order.refund_due().0;
            order = order.tickets_revoked(NOW).refunded(NOW).seats_returned(NOW + 1);
        }
        prop_assert!(back <= total);
        let lines = order.sale_lines();
        let places: std::collections::BTreeSet<_> = lines.iter().map(|l| l.place()).collect();
        prop_assert_eq!(places.len(), lines.len());
        let book = crate::sales::SalesBook::begin(order.show_id, 0).with(&lines).total();
        prop_assert_eq!((book.gross.0, book.refunds.0), (total, back));
        let left = order.kept().count() as u64 * u64::from(order.undo.is_none());
        prop_assert_eq!(book.tickets - book.returned, left);
    }
}
