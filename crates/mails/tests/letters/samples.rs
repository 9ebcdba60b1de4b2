//! One letter of every kind, and every reason for which an order can end.

use onsale_domain::ids::{HoldId, OrderId, ResetId, ShowId, TicketId, TransferId, WaitlistId};
use onsale_domain::letter::{Letter, OrderLine, ShowLine, TicketLine};
use onsale_domain::money::{Cents, Currency, Money};
use onsale_domain::order::Why;
use onsale_domain::time::Millis;

fn euros(amount: u64) -> Money {
    Money {
        amount: Cents(amount),
        currency: Currency::parse("EUR").unwrap(),
    }
}

fn time(text: &str) -> Millis {
    Millis::parse_rfc3339(text).unwrap()
}

pub(crate) fn all() -> Vec<(String, Letter)> {
    with_texts("Night Flight & Friends", "Ana Schäfer")
}

/// The same with this text wherever a stranger may write one.
pub(crate) fn with_text(text: &str) -> Vec<(String, Letter)> {
    with_texts(text, text)
}

pub(crate) fn with_texts(title: &str, person: &str) -> Vec<(String, Letter)> {
    let name = || person.to_owned();
    let show = || ShowLine {
        show_id: ShowId::from_bytes([0x11; 16]),
        title: title.to_owned(),
        venue: "Harbour Hall".to_owned(),
        city: "Hamburg".to_owned(),
        timezone: "Europe/Berlin".to_owned(),
        starts_at: time("2027-06-12T18:00:00Z"),
    };
    let order_id = OrderId::from_bytes([0x22; 16]);
    let seats = ["Stalls-6-19", "Stalls-6-20", "Floor-GA-7"];
    let order = || OrderLine {
        order_id,
        seats: seats.map(str::to_owned).to_vec(),
        total: euros(123_450),
    };
    let ticket = |n: u8, seat: &str| TicketLine {
        ticket_id: TicketId::from_bytes([n; 16]),
        seat: seat.to_owned(),
        price: Cents(41_150),
        code: format!("ONSALE-SAMPLE-CODE-{n}"),
    };
    let until = time("2027-06-01T10:30:00Z");
    let mut letters = vec![
        (
            "confirmation".to_owned(),
            Letter::Confirmation {
                name: name(),
                show: show(),
                order: order(),
                tickets: (1..).zip(seats).map(|(n, seat)| ticket(n, seat)).collect(),
            },
        ),
        (
            "decline".to_owned(),
            Letter::Decline {
                name: name(),
                show: show(),
                order: order(),
                reason: Some("The card was declined.".to_owned()),
                pay_until: until,
            },
        ),
        (
            "offer".to_owned(),
            Letter::Offer {
                name: name(),
                show: show(),
                hold_id: HoldId::from_bytes([0x33; 16]),
                seats: vec!["Stalls-6-19".to_owned(), "Stalls-6-20".to_owned()],
                expires_at: until,
            },
        ),
        (
            "offer_lapsed".to_owned(),
            Letter::OfferLapsed {
                name: name(),
                show: show(),
                waitlist_id: WaitlistId::from_bytes([0x44; 16]),
            },
        ),
        (
            "resold".to_owned(),
            Letter::Resold {
                name: name(),
                show: show(),
                seat: "Stalls-6-19".to_owned(),
                refund: euros(41_150),
            },
        ),
        (
            "show_changed".to_owned(),
            Letter::ShowChanged {
                name: name(),
                show: ShowLine {
                    starts_at: time("2027-06-13T17:30:00Z"),
                    ..show()
                },
                was: show(),
            },
        ),
        (
            "show_cancelled".to_owned(),
            Letter::ShowCancelled {
                name: name(),
                show: show(),
            },
        ),
        (
            "transfer".to_owned(),
            Letter::Transfer {
                from: name(),
                show: show(),
                transfer_id: TransferId::from_bytes([0x55; 16]),
                seat: "Stalls-6-19".to_owned(),
            },
        ),
        (
            "ticket_lost".to_owned(),
            Letter::TicketLost {
                name: name(),
                show: show(),
                seats: vec!["Stalls-6-19".to_owned()],
            },
        ),
        (
            "password_reset".to_owned(),
            Letter::PasswordReset {
                name: name(),
                reset_id: ResetId::from_bytes([0x66; 16]),
                minutes: 30,
            },
        ),
        (
            "invitation".to_owned(),
            Letter::Invitation {
                name: name(),
                reset_id: ResetId::from_bytes([0x77; 16]),
            },
        ),
        (
            "log_in_link".to_owned(),
            Letter::LogInLink {
                name: name(),
                reset_id: ResetId::from_bytes([0x88; 16]),
                minutes: 30,
            },
        ),
        (
            "address_proof".to_owned(),
            Letter::ProveAddress {
                name: name(),
                reset_id: ResetId::from_bytes([0x99; 16]),
                minutes: 60,
            },
        ),
        (
            "your_turn".to_owned(),
            Letter::YourTurn {
                show: show(),
                enter_by: until,
            },
        ),
    ];
    let ends = [
        (Why::Buyer, true),
        (Why::Buyer, false),
        (Why::ShowCancelled, true),
        (Why::ChargedBack, false),
        (Why::HoldExpired, false),
        (Why::SeatsLost, true),
        (Why::SeatsLost, false),
        (Why::CaptureRefused, false),
    ];
    for (why, refunded) in ends {
        let kind = if refunded { "refund" } else { "cancellation" };
        letters.push((
            format!("{kind}_{}", why.as_str()),
            Letter::Cancellation {
                name: name(),
                show: show(),
                order: order(),
                why,
                refund: refunded.then(|| euros(61_725)),
            },
        ));
    }
    letters
}
