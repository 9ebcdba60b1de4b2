//! What a mail costs, read from the consumed capacity of every answer.

use onsale_domain::account::Email;
use onsale_domain::announcement::{News, OrderNews};
use onsale_domain::ids::{AccountId, OrderId, ShowId, TicketId};
use onsale_domain::language::Language;
use onsale_domain::letter::{
    Composed, Letter, Letterhead, OrderLine, ShowLine, TEMPLATES, TicketLine,
};
use onsale_domain::mail::{Mail, Recipient};
use onsale_domain::money::{Cents, Currency, Money};
use onsale_domain::ticket_code::CODE_LEN;
use onsale_store::Versioned;

use crate::contract::{NOW, fresh};
use crate::order_cost::counted;

/// The confirmation of an order of so many seats, and what it says.
fn confirmation(seats: u8) -> (Mail, Composed) {
    let order_id = OrderId::from_bytes(fresh());
    let show_id = ShowId::from_bytes(fresh());
    let account_id = AccountId::from_bytes(fresh());
    let total = Money {
        amount: Cents(5_900 * u64::from(seats)),
        currency: Currency::parse("EUR").unwrap(),
    };
    let seats: Vec<String> = (1..=seats).map(|n| format!("A-12-{n}")).collect();
    let news = News::OrderConfirmed(OrderNews {
        order_id,
        show_id,
        account_id,
        seats: seats.clone(),
        total,
        reason: None,
    });
    let id = format!("OrderConfirmed:{order_id}");
    let to = Recipient::Account(account_id);
    let mail = Mail::due(&id, NOW, news, to, NOW, NOW + 1_000_000_000);
    let tickets = seats.iter().map(|seat| TicketLine {
        ticket_id: TicketId::from_bytes(fresh()),
        seat: seat.clone(),
        price: Cents(5_900),
        code: "A".repeat(CODE_LEN),
    });
    let letter = Letter::Confirmation {
        name: "Ana Schaefer".to_owned(),
        show: ShowLine {
            show_id,
            title: "Night Flight and Friends, an Evening by the Sea".to_owned(),
            venue: "Harbour Hall".to_owned(),
            city: "Hamburg".to_owned(),
            timezone: "Europe/Berlin".to_owned(),
            starts_at: NOW + 1_000_000,
        },
        tickets: tickets.collect(),
        order: OrderLine {
            order_id,
            seats,
            total,
        },
    };
    let composed = Composed {
        to: Email::parse("ana.schaefer@example.org").unwrap(),
        language: Language::En,
        letter,
        templates: TEMPLATES,
        at: NOW,
        head: Some(Letterhead {
            sender_name: "Onsale".to_owned(),
            sender: Email::parse("tickets@onsale.example").unwrap(),
            base_url: "https://tickets.onsale.example".to_owned(),
            reset_key: None,
        }),
    };
    (mail, composed)
}

#[tokio::test]
async fn a_confirmation_takes_ten_write_units_for_one_seat_and_twelve_for_two() {
    // Due: itself and both indexes. Sending: the letter, and another place in one index.
    // Sent: the letter again, and out of that index. Two tickets make it more than 2 KB.
    for (seats, expected) in [(1, [3.0, 4.0, 3.0]), (2, [3.0, 5.0, 4.0])] {
        let (store, recorder) = counted().await;
        let (due, composed) = confirmation(seats);
        recorder.take();
        store.create(&due).await.unwrap();
        let mut units = vec![recorder.take().write_units];
        let sending = due.sending(composed, NOW + 1);
        let sent = sending.sent("0".repeat(64), NOW + 2);
        for (version, value) in (1..).zip([sending, sent]) {
            let next = Versioned { version, value };
            store.replace(&next).await.unwrap();
            units.push(recorder.take().write_units);
        }
        assert_eq!(units, expected, "{seats} seats");
    }
}
