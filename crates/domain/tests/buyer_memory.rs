//! What a buyer item remembers, for how long, and how much of it.

#![allow(clippy::unwrap_used)]

use onsale_domain::buyer::{Buyer, ENDED_KEPT_MS, Entry, MAX_ENDED, Refusal};
use onsale_domain::ids::HoldId;
use onsale_domain::layout::PlaceIndex;
use onsale_domain::money::Cents;
use onsale_domain::request_hash::RequestHash;
use onsale_domain::time::Millis;

const NOW: Millis = Millis(1_800_000_000_000);
const EXPIRY: Millis = Millis(NOW.0 + 600_000);
const REQUEST: RequestHash = RequestHash([1; 16]);

fn id(n: usize) -> HoldId {
    HoldId::from_bytes((n as u128).to_be_bytes())
}

fn record(buyer: &Buyer, n: usize, now: Millis) -> Result<Buyer, Refusal> {
    let (places, prices) = (vec![PlaceIndex(0)], vec![Cents(4_500)]);
    let entry = Entry::held(id(n), now + 600_000, REQUEST, places, prices, now);
    buyer.record(entry, 1_000, now)
}

#[test]
fn cells_given_back_stay_listed_for_a_minute_after_their_expiry() {
    let buyer = Buyer::default().give_back(id(1), EXPIRY, NOW);
    let kept = record(&buyer, 2, EXPIRY + 60_000).unwrap();
    assert!(kept.is_given_back(id(1), EXPIRY));
    let forgotten = record(&buyer, 2, EXPIRY + 60_001).unwrap();
    assert_eq!(forgotten.given_back, [], "or the item would grow for ever");
}

#[test]
fn cells_given_back_twice_are_listed_once() {
    let buyer = Buyer::default().give_back(id(1), EXPIRY, NOW);
    let again = buyer.give_back(id(1), EXPIRY, NOW);
    assert_eq!(again.given_back, buyer.given_back);
}

#[test]
fn holds_that_lapsed_without_a_message_count_as_ended() {
    let lapsed = (0..MAX_ENDED).fold(Buyer::default(), |buyer, n| record(&buyer, n, NOW).unwrap());
    assert!(record(&lapsed, MAX_ENDED, EXPIRY.saturating_sub(1)).is_ok());
    assert!(matches!(
        record(&lapsed, MAX_ENDED, EXPIRY),
        Err(Refusal::TooManyEnded(_))
    ));
}

#[test]
fn a_hold_that_lapsed_without_a_message_is_remembered_for_a_day_from_its_expiry() {
    let lapsed = record(&Buyer::default(), 1, NOW).unwrap();
    let a_day_on = EXPIRY + ENDED_KEPT_MS;
    let kept = record(&lapsed, 2, a_day_on).unwrap();
    assert!(kept.entry(id(1)).is_some());
    let forgotten = record(&lapsed, 2, a_day_on + 1).unwrap();
    assert!(forgotten.entry(id(1)).is_none());
}
