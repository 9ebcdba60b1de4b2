//! Orders and tickets as the tests of several modules need them.

use onsale_domain::buyer::Entry;
use onsale_domain::checkout_saga::{Charged, Moved};
use onsale_domain::ids::{AccountId, HoldId, ShowId, TicketId};
use onsale_domain::layout::PlaceIndex;
use onsale_domain::money::{Cents, Currency};
use onsale_domain::order::{Attempt, Order, RefundTerms};
use onsale_domain::payment::{PaymentId, PaymentMethod};
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::show::default_refund_policy;
use onsale_domain::ticket::{Ticket, TicketState};
use onsale_domain::time::Millis;

use super::fresh;

pub(crate) fn attempt(key: &str) -> Attempt {
    Attempt::new(
        &IdempotencyKey::parse(key).unwrap(),
        RequestHash([200; 16]),
        PaymentMethod::parse("pm_card_visa").unwrap(),
    )
}

/// A new order of so many seats under this id.
pub(crate) fn order_of(seats: u32, id: [u8; 16], account: AccountId, created: Millis) -> Order {
    let places: Vec<_> = (0..seats).map(|n| PlaceIndex(40_000 + n)).collect();
    let entry = Entry::held(
        HoldId::from_bytes(id),
        created + 600_000,
        RequestHash([1; 16]),
        places,
        vec![Cents(12_500); seats as usize],
        created,
    );
    Order::begin(
        &entry,
        |place| format!("Parkett-12-{}", place.0 % 100),
        ShowId::from_bytes(fresh()),
        account,
        Currency::parse("EUR").unwrap(),
        attempt("5f0c2b1e-3a77-4c55-9d3e-1f2a3b4c5d6e"),
        created,
    )
    .under(RefundTerms {
        policy: default_refund_policy(),
        starts_at: created + 30 * 24 * 3_600_000,
    })
}

/// A new order of two seats.
pub(crate) fn order(account: AccountId, created: Millis) -> Order {
    order_of(2, fresh(), account, created)
}

/// The order after each step of its checkout, from the lock to the confirmation.
pub(crate) fn steps_to_confirmed(order: &Order) -> Vec<Order> {
    let now = order.created + 1;
    let payment = PaymentId("pi_3PqXkL2eZvKYlo2C1a2b3c4d".to_owned());
    let locked = order.locked(Moved::Done, now);
    let opened = locked.payment_opened(payment, now);
    let charged = opened.charged(Charged::Authorised, now);
    let sold = charged.sold(Moved::Done, now);
    let captured = sold.captured(true, now);
    let issued = captured.tickets_issued(now);
    let confirmed = issued.announced(now);
    vec![locked, opened, charged, sold, captured, issued, confirmed]
}

pub(crate) fn confirmed(order: &Order) -> Order {
    steps_to_confirmed(order).pop().unwrap()
}

/// The valid tickets of an order, with codes as long as real ones.
pub(crate) fn tickets(order: &Order) -> Vec<Ticket> {
    let ticket = |seat: &onsale_domain::order::OrderedSeat| Ticket {
        id: TicketId::of(order.id, seat.place),
        order_id: order.id,
        show_id: order.show_id,
        account: order.account,
        place: seat.place,
        seat: seat.seat.clone(),
        serial: 0,
        code: "A".repeat(onsale_domain::ticket_code::CODE_LEN),
        state: TicketState::Valid,
        issued: order.created,
        changed: Default::default(),
        admissions: Default::default(),
        hands: Default::default(),
        put_back: None,
    };
    order.seats.iter().map(ticket).collect()
}
