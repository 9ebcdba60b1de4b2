use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use onsale_domain::money::Currency;
use onsale_domain::time::Millis;

use super::*;
use crate::prices::{PricingMode, ReasonsView, SectionView};

fn signer(kid: &str, byte: u8) -> QuoteSigner {
    let seed = URL_SAFE_NO_PAD.encode([byte; 32]);
    QuoteSigner::parse(&format!("{kid}:{seed}")).unwrap()
}

fn eur(amount: u64) -> Money {
    Money {
        amount: Cents(amount),
        currency: Currency::parse("EUR").unwrap(),
    }
}

/// Half sold, nobody looking, a week ahead: the base price.
fn quote() -> Quote {
    let at = Millis(1_800_000_000_000);
    let nothing = ReasonsView {
        occupancy: 0.0,
        demand: 0.0,
        time: 0.0,
        bound: 0.0,
    };
    let point = PointView {
        sequence: 3,
        mode: PricingMode::Dynamic,
        formula: 1,
        at,
        starts_at: at + 168 * 3_600_000,
        floor: 0.7,
        ceiling: 3.0,
        views: 0,
        held: 0,
        places: 100,
        sections: vec![SectionView {
            section: "A".into(),
            base: eur(4_500),
            sold: 50,
            places: 100,
            multiplier: 1.0,
            price: eur(4_500),
            reasons: nothing,
        }],
    };
    let seat = |seat: &str| QuotedSeat {
        seat: seat.into(),
        section: "A".into(),
        price: eur(4_500),
        face_value: None,
    };
    let seats = vec![seat("A-1-1"), seat("A-1-2")];
    let (show, hold) = (ShowId::from_bytes([1; 16]), HoldId::from_bytes([2; 16]));
    Quote::new(show, hold, seats, eur(9_000), point)
}

#[test]
fn a_quote_is_read_by_its_key_alone() {
    let (ours, other) = (signer("k1", 1), signer("k1", 2));
    let token = ours.sign(&quote()).unwrap();
    assert_eq!(token, ours.sign(&quote()).unwrap(), "always the same");
    assert_eq!(ours.verifier().verify(&token), Some(quote()));
    assert_eq!(other.verifier().verify(&token), None);
    assert_eq!(QuoteVerifier::default().verify(&token), None);
    let half = token.rfind('.').unwrap();
    assert_eq!(ours.verifier().verify(&token[..=half]), None);
    let changed = token.replacen("e", "f", 1);
    assert_eq!(ours.verifier().verify(&changed), None);
}

#[test]
fn a_quote_that_does_not_follow_from_its_figures_is_told() {
    assert_eq!(quote().check(), Ok(()));
    let wrong = |change: fn(&mut Quote)| {
        let mut quote = quote();
        change(&mut quote);
        quote.check().unwrap_err()
    };
    assert!(wrong(|q| q.point.sections[0].price = eur(4_501)).contains("45.00 EUR"));
    assert!(wrong(|q| q.point.sections[0].sold = 90).contains("figures give"));
    assert!(wrong(|q| q.seats[0].price = eur(4_400)).contains("A-1-1"));
    assert!(wrong(|q| q.seats[0].section = "B".into()).contains("A-1-1"));
    assert!(wrong(|q| q.total = eur(8_999)).contains("total"));
    assert!(wrong(|q| q.point.ceiling = 9.0).contains("ceiling"));
}

/// The same with a third seat, which somebody paid less for and put back.
fn mixed() -> Quote {
    let mut quote = quote();
    quote.seats.push(QuotedSeat {
        seat: "A-1-3".into(),
        section: "A".into(),
        price: eur(3_600),
        face_value: Some(eur(3_600)),
    });
    quote.total = eur(12_600);
    quote
}

#[test]
fn a_seat_costs_its_face_value_or_what_its_section_costs() {
    assert_eq!(mixed().check(), Ok(()));
    let (by_demand, put_back) = ("A-1-1: not the price", "A-1-3: not its face value");
    // The totals are right, so that nothing but the price of one seat is wrong.
    let asked = |seat: usize, price: Money, total: u64| {
        let mut quote = mixed();
        quote.seats[seat].price = price;
        quote.total = eur(total);
        quote.check().unwrap_err()
    };
    assert!(asked(0, eur(4_400), 12_500).contains(by_demand));
    assert!(asked(0, eur(3_600), 11_700).contains(by_demand));
    assert!(asked(2, eur(3_700), 12_700).contains(put_back));
    assert!(asked(2, eur(4_500), 13_500).contains(put_back));
    let explained = |seat: usize, face_value: Option<Money>| {
        let mut quote = mixed();
        quote.seats[seat].face_value = face_value;
        quote.check().unwrap_err()
    };
    assert!(explained(2, None).contains("A-1-3: not the price"));
    assert!(explained(0, Some(eur(3_600))).contains("A-1-1: not its face value"));
    let mut quote = mixed();
    let francs = Money {
        amount: Cents(3_600),
        currency: Currency::parse("CHF").unwrap(),
    };
    quote.seats[2].price = francs;
    quote.seats[2].face_value = Some(francs);
    assert!(quote.check().unwrap_err().contains(put_back));
    quote = mixed();
    quote.seats[2].section = "B".into();
    assert!(quote.check().unwrap_err().contains("A-1-3"));
}

#[test]
fn a_quote_from_before_there_were_face_values_is_read() {
    let old = serde_json::to_string(&quote()).unwrap();
    assert!(!old.contains("face_value"), "and one without is written so");
    let read: Quote = serde_json::from_str(&old).unwrap();
    assert_eq!(read, quote());
    assert_eq!(read.check(), Ok(()));
    let signer = signer("k1", 1);
    let token = signer.sign(&mixed()).unwrap();
    assert_eq!(signer.verifier().verify(&token), Some(mixed()));
}
