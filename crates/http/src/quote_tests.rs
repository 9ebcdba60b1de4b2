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
