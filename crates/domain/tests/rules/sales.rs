//! What was sold comes out the same however the lines come in, and to the cent.

use std::collections::BTreeMap;

use onsale_domain::buyer::Entry;
use onsale_domain::checkout_saga::{Charged, Moved};
use onsale_domain::ids::{AccountId, HoldId, OrderId, ShowId};
use onsale_domain::layout::PlaceIndex;
use onsale_domain::money::{Cents, Currency};
use onsale_domain::order::{Attempt, Order, Why};
use onsale_domain::payment::{PaymentId, PaymentMethod};
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::sales::{
    FOLD_AFTER_MS, Figures, LineKind, MINUTES_KEPT, SaleLine, SalesBook, before,
};
use onsale_domain::time::{CLOCK_SKEW_MS, Millis};
use proptest::prelude::*;

const NOW: Millis = Millis(1_800_000_000_000);

/// An order whose money was just taken, of seats in the sections A and B by turns.
fn captured(prices: &[u64]) -> Order {
    let places: Vec<_> = (0..prices.len() as u32).map(PlaceIndex).collect();
    let entry = Entry::held(
        HoldId::from_bytes([1; 16]),
        NOW + 600_000,
        RequestHash::of(b"hold"),
        places,
        prices.iter().copied().map(Cents).collect(),
        NOW,
    );
    let key = IdempotencyKey::parse("k").unwrap();
    let method = PaymentMethod::parse("pm_card_visa").unwrap();
    let attempt = Attempt::new(&key, RequestHash::of(b"pay"), method);
    let seat = |place: PlaceIndex| format!("{}-1-{}", ["A", "B b"][place.at() % 2], place.0);
    let (show, account) = (ShowId::from_bytes([2; 16]), AccountId::from_bytes([3; 16]));
    let euro = Currency::parse("EUR").unwrap();
    Order::begin(&entry, seat, show, account, euro, attempt, NOW)
        .locked(Moved::Done, NOW)
        .payment_opened(PaymentId("pi_1".into()), NOW)
        .charged(Charged::Authorised, NOW)
        .sold(Moved::Done, NOW)
        .captured(true, NOW)
}

fn ended(order: &Order, percent: u8, at: Millis) -> Order {
    let called_off = order.call_off(Why::Buyer, percent, at).unwrap();
    called_off
        .tickets_revoked(at)
        .refunded(at)
        .seats_returned(at)
}

fn sum(lines: &[SaleLine]) -> Figures {
    SalesBook::begin(ShowId::from_bytes([2; 16]), 0)
        .with(lines)
        .total()
}

#[test]
fn a_line_stays_where_it_is_whatever_happens_to_its_order_later() {
    let sold = captured(&[4_501, 3_000]).tickets_issued(NOW + 7);
    let first = sold.sale_lines();
    assert_eq!(first.len(), 1);
    assert_eq!(first[0].at, NOW + 7);
    let later = sold.put_off(NOW + 90_000).announced(NOW + 90_001);
    assert_eq!(later.sale_lines(), first);
    let ended = ended(&later, 50, NOW + 100_000).put_off(NOW + 200_000);
    let lines = ended.sale_lines();
    assert_eq!(lines[0], first[0]);
    assert_eq!(
        (lines[1].kind, lines[1].at),
        (LineKind::Ended, NOW + 100_000)
    );
    assert!(!lines[1].first);
    let total = sum(&lines);
    assert_eq!((total.tickets, total.returned), (2, 2));
    assert_eq!((total.gross, total.refunds), (Cents(7_501), Cents(3_751)));
    assert_eq!(total.net(), Cents(3_750));
}

#[test]
fn money_that_came_and_went_before_there_were_tickets_is_told_at_the_end() {
    let order = ended(&captured(&[4_500]), 100, NOW + 5);
    let lines = order.sale_lines();
    assert_eq!(lines.len(), 1);
    assert!(lines[0].first);
    let total = sum(&lines);
    assert_eq!((total.gross, total.net()), (Cents(4_500), Cents(0)));
    assert_eq!((total.tickets, total.returned), (1, 1));
}

#[test]
fn an_order_that_was_never_paid_has_no_line() {
    let begun = captured(&[4_500]);
    let refused = begun.captured(false, NOW).voided(false, NOW);
    let unpaid = Order {
        captured: false,
        ..refused.seats_returned(NOW)
    };
    assert_eq!(unpaid.sale_lines(), []);
}

#[test]
fn a_place_sorts_by_time_and_begins_at_its_time() {
    let mut line = captured(&[1])
        .tickets_issued(Millis(999))
        .sale_lines()
        .remove(0);
    let early = line.place();
    line.at = Millis(1_000);
    assert!(early < before(Millis(1_000)) && before(Millis(1_000)) < line.place());
    line.kind = LineKind::Ended;
    assert_ne!(early, line.place());
}

#[test]
fn a_line_is_late_as_soon_as_any_clock_may_have_closed_the_book() {
    let line = captured(&[1]).tickets_issued(NOW).sale_lines().remove(0);
    let last_moment = NOW + (FOLD_AFTER_MS - CLOCK_SKEW_MS - 1);
    assert!(!line.came_late(last_moment));
    assert!(line.came_late(last_moment + 1));
    // Whoever folds then, with the clock that is most ahead, leaves the line out.
    let book = SalesBook::begin(ShowId::from_bytes([2; 16]), 0);
    assert!(book.may_fold_until(last_moment + CLOCK_SKEW_MS) <= line.at);
}

fn lines() -> impl Strategy<Value = Vec<SaleLine>> {
    let figures = (0..3u64, 0..3u64, 0..10_000_000u64, 0..10_000u64);
    let figures = figures.prop_map(|(tickets, returned, gross, refunds)| Figures {
        tickets,
        returned,
        gross: Cents(gross),
        refunds: Cents(refunds),
    });
    let sections = proptest::collection::btree_map("[A-C]", figures, 1..3);
    let line = (0..400u64 * 60_000, any::<bool>(), sections);
    proptest::collection::vec(line, 0..300).prop_map(|lines| {
        let line = |(n, (at, is_end, sections)): (usize, (u64, bool, BTreeMap<_, _>))| SaleLine {
            at: NOW + at,
            order: OrderId::from_bytes((n as u128).to_be_bytes()),
            kind: if is_end {
                LineKind::Ended
            } else {
                LineKind::Sold
            },
            first: true,
            sections,
        };
        lines.into_iter().enumerate().map(line).collect()
    })
}

proptest! {
    /// The book is closed at any times, and each reading names lines in any order, again
    /// and again.
    #[test]
    fn folding_in_any_steps_gives_what_counting_everything_gives(
        lines in lines(),
        mut closings in proptest::collection::vec(0..400u64 * 60_000, 0..6),
        turn in any::<usize>(),
    ) {
        let show = ShowId::from_bytes([2; 16]);
        let expected = SalesBook::begin(show, 0).with(&lines);
        closings.sort_unstable();
        let mut book = SalesBook::begin(show, 0);
        for closing in closings {
            let mut read = [lines.clone(), lines.clone()].concat();
            let middle = turn % read.len().max(1);
            read.rotate_left(middle);
            prop_assert_eq!(&book.with(&read), &expected);
            book = book.fold(&read, NOW + closing);
        }
        prop_assert_eq!(&book.with(&lines), &expected);
        let text = serde_json::to_string(&book).unwrap();
        prop_assert_eq!(serde_json::from_str::<SalesBook>(&text).unwrap(), book);
        prop_assert!(expected.minutes.len() <= MINUTES_KEPT);
    }

    /// Sections add up to the whole, and a refund is shared out to the cent.
    #[test]
    fn every_cent_is_in_one_section(
        prices in proptest::collection::vec(0..1_000_000_000u64, 1..50),
        percent in 0..=100u8,
    ) {
        let order = captured(&prices).tickets_issued(NOW);
        let ended = ended(&order, percent, NOW + 1);
        let lines = ended.sale_lines();
        let total = sum(&lines);
        prop_assert_eq!(total.gross, order.total().amount);
        prop_assert_eq!(total.refunds, ended.refund().unwrap().amount);
        let sections = &lines[1].sections;
        for (section, figures) in sections {
            let paid = lines[0].sections[section].gross;
            prop_assert!(figures.refunds <= paid, "{section}");
        }
    }
}
