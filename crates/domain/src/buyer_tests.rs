use super::*;
use crate::ids::{OrderId, TicketId};

const NOW: Millis = Millis(1_000_000_000);
const CAP: usize = 6;

fn id(n: u8) -> HoldId {
    HoldId::from_bytes([n; 16])
}

fn request(n: u8) -> RequestHash {
    RequestHash([n; 16])
}

fn entry(n: u8, places: u32) -> Entry {
    let places = (0..places).map(PlaceIndex).collect();
    Entry::held(
        id(n),
        NOW + 600_000,
        request(n),
        places,
        vec![Cents(4500)],
        NOW,
    )
}

fn with(entries: &[(u8, u32)]) -> Buyer {
    entries.iter().fold(Buyer::default(), |buyer, (n, places)| {
        buyer.record(entry(*n, *places), 100, NOW).unwrap()
    })
}

#[test]
fn the_cap_counts_live_places_only() {
    let buyer = with(&[(1, 4), (2, 2)]);
    assert_eq!(buyer.record(entry(3, 1), CAP, NOW), Err(Refusal::OverCap));
    let released = buyer.release(id(2), NOW).unwrap();
    assert!(released.record(entry(3, 2), CAP, NOW).is_ok());
    assert_eq!(
        released.record(entry(3, 3), CAP, NOW),
        Err(Refusal::OverCap)
    );
    // Lapsed holds stop counting without any message, once they have lapsed for every clock.
    assert_eq!(buyer.live_places(NOW + 605_000), 6);
    assert_eq!(buyer.live_places(NOW + 605_001), 0);
}

#[test]
fn open_entries_are_held_or_being_paid_and_the_newest_comes_first() {
    let buyer = with(&[(1, 1), (2, 1), (3, 1), (4, 1), (5, 1)]);
    let buyer = buyer.release(id(1), NOW).unwrap();
    let buyer = buyer.lock(id(2), 1, NOW).unwrap();
    let buyer = buyer.lock(id(4), 1, NOW).unwrap();
    let buyer = buyer.sell(id(4), 1, NOW).unwrap();
    let open = |now| -> Vec<_> { buyer.open_entries(now).map(|entry| entry.hold).collect() };
    assert_eq!(open(NOW), [id(5), id(3), id(2)]);
    assert_eq!(open(NOW + 600_000), [id(2)], "what lapsed is over");
}

#[test]
fn paying_and_sold_count_past_their_expiry() {
    let buyer = with(&[(1, 4)]).lock(id(1), 1, NOW).unwrap();
    assert_eq!(buyer.live_places(NOW + 2_000_000), 4);
    let sold = buyer.sell(id(1), 1, NOW).unwrap();
    assert_eq!(sold.live_places(NOW + 2_000_000), 4);
    assert_eq!(sold.undo(id(1), NOW).unwrap().live_places(NOW), 0);
}

#[test]
fn a_listed_id_never_claims_again() {
    let buyer = with(&[(1, 2)]);
    let ended = [
        buyer.release(id(1), NOW).unwrap(),
        buyer.expire(id(1), NOW + 605_001).unwrap(),
        buyer.lock(id(1), 1, NOW).unwrap().undo(id(1), NOW).unwrap(),
        buyer.clone(),
    ];
    for buyer in ended {
        let answer = buyer.may_begin(id(1), request(1), 2, CAP, NOW);
        assert!(matches!(answer, Err(Refusal::AlreadyRecorded(e)) if e.places.len() == 2));
        assert_eq!(
            buyer.may_begin(id(1), request(9), 2, CAP, NOW),
            Err(Refusal::OtherRequest)
        );
    }
}

#[test]
fn an_ended_hold_is_forgotten_after_a_day_unless_checkout_began() {
    let day_later = NOW + ENDED_KEPT_MS + 1;
    let released = with(&[(1, 2)]).release(id(1), NOW).unwrap();
    let next = released.record(entry(2, 1), CAP, day_later).unwrap();
    assert!(next.entry(id(1)).is_none());
    let refunded = with(&[(1, 2)])
        .lock(id(1), 1, NOW)
        .unwrap()
        .undo(id(1), NOW)
        .unwrap();
    let next = refunded.record(entry(2, 1), CAP, day_later).unwrap();
    assert!(next.entry(id(1)).is_some());
}

#[test]
fn given_back_cells_are_never_recorded() {
    let buyer = Buyer::default().give_back(id(1), NOW + 600_000, NOW);
    assert_eq!(buyer.record(entry(1, 2), CAP, NOW), Err(Refusal::GivenBack));
    let mut again = entry(1, 2);
    again.expiry = NOW + 600_001;
    assert!(buyer.record(again, CAP, NOW).is_ok());
}

#[test]
fn expiry_acts_on_held_entries_after_the_skew_only() {
    let buyer = with(&[(1, 2)]);
    assert_eq!(
        buyer.expire(id(1), NOW + 605_000),
        Err(MoveRefusal::NotYetLapsed)
    );
    assert!(buyer.expire(id(1), NOW + 605_001).is_ok());
    let paying = buyer.lock(id(1), 1, NOW).unwrap();
    assert_eq!(
        paying.expire(id(1), NOW + 9_000_000),
        Err(MoveRefusal::Is(EntryState::Paying))
    );
    assert_eq!(
        paying.release(id(1), NOW),
        Err(MoveRefusal::Is(EntryState::Paying))
    );
    assert_eq!(
        buyer.lock(id(1), 1, NOW + 600_000),
        Err(MoveRefusal::Is(EntryState::Expired))
    );
    assert_eq!(buyer.expire(id(7), NOW), Err(MoveRefusal::Unknown));
}

#[test]
fn a_buyer_who_churns_is_stopped_for_the_day() {
    let mut buyer = Buyer::default();
    for n in 0..MAX_ENDED {
        let mut entry = entry(1, 1);
        entry.hold = HoldId::from_bytes([n as u8; 16]);
        let hold = entry.hold;
        buyer = buyer
            .record(entry, CAP, NOW)
            .unwrap()
            .release(hold, NOW)
            .unwrap();
    }
    let fresh = HoldId::from_bytes([255; 16]);
    assert_eq!(
        buyer.may_begin(fresh, request(1), 1, CAP, NOW),
        Err(Refusal::TooManyEnded(NOW + ENDED_KEPT_MS))
    );
    assert!(
        buyer
            .may_begin(fresh, request(1), 1, CAP, NOW + ENDED_KEPT_MS + 1)
            .is_ok()
    );
}

#[test]
fn a_buyer_reads_back_and_stays_under_one_write_unit() {
    let mut buyer = with(&[(1, 6), (2, 6)]).release(id(1), NOW).unwrap();
    buyer = buyer.give_back(id(9), NOW, NOW);
    let bytes = buyer.encode();
    assert_eq!(Buyer::decode(buyer.version, &bytes), Some(buyer));
    let busy: Vec<(u8, u32)> = (1..=12).map(|n| (n, 8)).collect();
    let size = with(&busy).encode().len();
    assert!(size < 900, "{size}");
    assert_eq!(Buyer::decode(1, &[]), None);
    assert_eq!(Buyer::decode(1, &[1, 255, 255]), None);
}

#[test]
fn a_listed_id_is_answered_even_when_the_cap_is_full() {
    let buyer = with(&[(1, 6)]);
    let again = buyer.record(entry(1, 6), CAP, NOW);
    assert!(
        matches!(again, Err(Refusal::AlreadyRecorded(_))),
        "{again:?}"
    );
}

#[test]
fn the_steps_of_a_checkout_follow_each_other_only() {
    let held = with(&[(1, 2)]);
    assert_eq!(
        held.sell(id(1), 1, NOW),
        Err(MoveRefusal::Is(EntryState::Held))
    );
    let paying = held.lock(id(1), 1, NOW).unwrap();
    let entry = paying.entry(id(1)).unwrap();
    assert_eq!((entry.expiry, entry.attempt), (NOW + 600_000 + PAY_MS, 1));
    assert_eq!(paying.lock(id(1), 1, NOW), Err(MoveRefusal::AlreadyDone));
    assert_eq!(
        paying.lock(id(1), 2, NOW),
        Err(MoveRefusal::Is(EntryState::Paying))
    );
    let sold = paying.sell(id(1), 1, NOW).unwrap();
    assert_eq!(sold.sell(id(1), 1, NOW), Err(MoveRefusal::AlreadyDone));
    let undone = sold.undo(id(1), NOW).unwrap();
    assert_eq!(undone.undo(id(1), NOW), Err(MoveRefusal::AlreadyDone));
    for refused in [undone.sell(id(1), 1, NOW), undone.lock(id(1), 2, NOW)] {
        assert_eq!(refused, Err(MoveRefusal::Is(EntryState::Undone)));
    }
}

#[test]
fn a_refused_attempt_gives_the_hold_back_until_the_same_expiry() {
    let mut buyer = with(&[(1, 2)]);
    let until = NOW + 600_000 + PAY_MS;
    for attempt in 1..=3 {
        let later = NOW + u64::from(attempt) * 60_000;
        buyer = buyer.lock(id(1), attempt, later).unwrap();
        buyer = buyer.decline(id(1), attempt, later).unwrap();
        let entry = buyer.entry(id(1)).unwrap();
        assert_eq!((entry.state, entry.expiry), (EntryState::Held, until));
    }
    assert_eq!(
        buyer.lock(id(1), 4, until),
        Err(MoveRefusal::Is(EntryState::Expired))
    );
}

#[test]
fn a_worker_of_an_old_attempt_moves_nothing() {
    let first = with(&[(1, 2)]).lock(id(1), 1, NOW).unwrap();
    let declined = first.decline(id(1), 1, NOW).unwrap();
    // Its lock comes late, when the attempt is over: the hold is not locked again.
    assert_eq!(
        declined.lock(id(1), 1, NOW),
        Err(MoveRefusal::Is(EntryState::Held))
    );
    let second = declined.lock(id(1), 2, NOW).unwrap();
    assert_eq!(
        second.decline(id(1), 1, NOW),
        Err(MoveRefusal::Is(EntryState::Paying))
    );
    assert_eq!(
        second.sell(id(1), 1, NOW),
        Err(MoveRefusal::Is(EntryState::Paying))
    );
}

#[test]
fn an_undone_order_ends_a_hold_that_was_not_locked_yet() {
    let undone = with(&[(1, 2)]).undo(id(1), NOW).unwrap();
    assert_eq!(
        undone.lock(id(1), 1, NOW),
        Err(MoveRefusal::Is(EntryState::Undone))
    );
}

#[test]
fn checkouts_that_end_are_kept_for_ever_so_their_number_is_limited() {
    let mut buyer = Buyer::default();
    for n in 0..MAX_CHECKOUTS {
        let hold = HoldId::derived(&[&n.to_be_bytes()]);
        let mut next = entry(1, 1);
        next.hold = hold;
        buyer = buyer.record(next, CAP, NOW).unwrap();
        buyer = buyer.lock(hold, 1, NOW).unwrap();
        buyer = buyer.undo(hold, NOW).unwrap();
    }
    assert_eq!(
        buyer.record(entry(9, 1), CAP, NOW),
        Err(Refusal::TooManyCheckouts)
    );
    assert!(buyer.encode().len() < 64 * 1024);
}

#[test]
fn every_place_keeps_its_own_price() {
    let places: Vec<_> = (0..3).map(PlaceIndex).collect();
    let prices = vec![Cents(100), Cents(250), Cents(100)];
    let mixed = Entry::held(id(1), NOW, request(1), places.clone(), prices.clone(), NOW);
    assert_eq!(mixed.total(), Cents(450));
    assert_eq!(
        mixed.priced().map(|(_, price)| price).collect::<Vec<_>>(),
        prices
    );
    let equal = Entry::held(id(1), NOW, request(1), places, vec![Cents(7); 3], NOW);
    assert_eq!(equal.total(), Cents(21));
}

#[test]
fn a_hold_that_a_slow_clock_could_still_pay_counts_against_the_cap() {
    // The first hold ends at 600 s. A clock 4.5 s ahead must not give its places away
    // while another clock can still lock it.
    let buyer = with(&[(1, 6)]);
    let ahead = NOW + 600_500;
    assert_eq!(buyer.record(entry(2, 6), CAP, ahead), Err(Refusal::OverCap));
    assert!(buyer.lock(id(1), 1, NOW + 599_000).is_ok());
}

#[test]
fn who_ended_too_many_holds_is_told_when_the_first_is_forgotten() {
    let mut buyer = Buyer::default();
    for n in 0..MAX_ENDED {
        let mut next = entry(1, 1);
        next.hold = HoldId::derived(&[&n.to_be_bytes()]);
        buyer = buyer.record(next, MAX_ENDED, NOW).unwrap();
    }
    // No message ever came: each of them ended when its time was up.
    let lapsed = NOW + 700_000;
    let until = NOW + 600_000 + ENDED_KEPT_MS;
    assert_eq!(
        buyer.record(entry(9, 1), CAP, lapsed),
        Err(Refusal::TooManyEnded(until))
    );
    assert!(buyer.record(entry(9, 1), CAP, until + 1).is_ok());
}

#[test]
fn a_buyer_remembers_the_last_pass_through_everything_that_follows() {
    let pass = |n: u8| Some(PassId([n; 16]));
    let buyer = with(&[(1, 2)]).under_pass(pass(1));
    let buyer = buyer.record(entry(2, 2), CAP, NOW).unwrap();
    assert_eq!(buyer.under_pass(None).last_pass, pass(1));
    let buyer = with(&[(1, 2)]).under_pass(pass(1)).under_pass(pass(2));
    let paid = buyer.lock(id(1), 1, NOW).unwrap();
    let paid = paid.sell(id(1), 1, NOW).unwrap();
    assert_eq!(paid.last_pass, pass(2));
    let given_back = paid.give_back(id(3), NOW, NOW);
    assert_eq!(given_back.last_pass, pass(2));
    let bytes = given_back.encode();
    assert_eq!(Buyer::decode(given_back.version, &bytes), Some(given_back));
    let busy: Vec<_> = (0..12).map(|n| (n, 8)).collect();
    let size = with(&busy).under_pass(pass(1)).encode().len();
    assert!(
        size < 950,
        "{size} bytes with keys and version stay under 1 KB"
    );
}

#[test]
fn a_buyer_from_before_there_were_passes_is_read() {
    // One hold of two places, as the first version wrote it.
    let mut bytes = vec![1];
    let buyer = with(&[(1, 2)]);
    let parts = (&buyer.entries, &buyer.given_back);
    bytes.extend(postcard::to_allocvec(&parts).unwrap());
    assert_eq!(Buyer::decode(buyer.version, &bytes), Some(buyer.clone()));
    assert_eq!(buyer.encode(), bytes, "and without a pass is written so");
    assert_eq!(Buyer::decode(1, &[2, 0, 0]), None, "half a buyer");
    assert_eq!(Buyer::decode(1, &[3, 0, 0]), None, "from the future");
}

fn resale(place: u32, price: u64) -> Resale {
    let (place, from) = (PlaceIndex(place), OrderId::of(id(9)));
    Resale {
        place,
        ticket: TicketId::of(from, place),
        from,
        price: Cents(price),
    }
}

fn prices(entry: &Entry) -> Vec<Cents> {
    entry.priced().map(|(_, price)| price).collect()
}

#[test]
fn a_place_that_somebody_put_back_costs_what_was_paid_for_it() {
    let mixed = entry(1, 3).buying(&[resale(1, 3_000)]);
    assert_eq!(prices(&mixed), [Cents(4_500), Cents(3_000), Cents(4_500)]);
    assert_eq!(mixed.total(), Cents(12_000));
    assert_eq!(mixed.face_value(PlaceIndex(1)), Some(Cents(3_000)));
    assert_eq!(mixed.face_value(PlaceIndex(0)), None);
    let all = entry(1, 2).buying(&[resale(0, 3_000), resale(1, 3_000)]);
    assert_eq!(prices(&all), [Cents(3_000); 2]);
    // At the price of now it is told apart all the same.
    let same = entry(1, 2).buying(&[resale(1, 4_500)]);
    assert_eq!(prices(&same), [Cents(4_500); 2]);
    assert_eq!(same.face_values, [(PlaceIndex(1), Cents(4_500))]);
    let others = entry(1, 2).buying(&[resale(7, 3_000)]);
    assert_eq!(others, entry(1, 2));
    assert_eq!(entry(1, 2).buying(&[]), entry(1, 2));
}

#[test]
fn face_values_are_kept_with_a_hold_as_long_as_it_has_the_places() {
    let bought = [resale(0, 3_000), resale(2, 3_100)];
    let mixed = entry(1, 3).at_point(Some(7)).buying(&bought);
    let buyer = with(&[(2, 2)]).record(mixed.clone(), CAP, NOW).unwrap();
    let under_pass = mixed.under_pass(Some(PassId([1; 16])));
    let passed = with(&[(2, 2)]).record(under_pass, CAP, NOW).unwrap();
    for buyer in [&buyer, &passed] {
        let read = Buyer::decode(buyer.version, &buyer.encode());
        assert_eq!(read.as_ref(), Some(buyer));
    }
    let paid = buyer.lock(id(1), 1, NOW).unwrap();
    let paid = paid.sell(id(1), 1, NOW).unwrap();
    let resold = paid.resell(id(1), &[PlaceIndex(0)], NOW).unwrap();
    let left = resold.entry(id(1)).unwrap();
    assert_eq!(left.face_values, [(PlaceIndex(2), Cents(3_100))]);
    assert_eq!(left.total(), Cents(7_600));
}

#[test]
fn a_buyer_from_before_there_were_face_values_is_read() {
    let pass = PassId([1; 16]);
    let points: Vec<(u32, u32)> = Vec::from([(0, 7)]);
    let passes: Vec<(u32, PassId)> = Vec::from([(0, pass)]);
    let held = entry(1, 2).at_point(Some(7));
    let buyer = Buyer::default().record(held.clone(), CAP, NOW).unwrap();
    let (entries, given_back) = (&buyer.entries, &buyer.given_back);
    let parts = (entries, given_back, buyer.last_pass, &points);
    let mut bytes = vec![3];
    bytes.extend(postcard::to_allocvec(&parts).unwrap());
    assert_eq!(Buyer::decode(buyer.version, &bytes), Some(buyer.clone()));
    assert_eq!(buyer.encode(), bytes, "and without any is written so");
    let held = held.under_pass(Some(pass));
    let buyer = Buyer::default().record(held, CAP, NOW).unwrap();
    let buyer = buyer.under_pass(Some(pass));
    let (entries, given_back) = (&buyer.entries, &buyer.given_back);
    let parts = (entries, given_back, buyer.last_pass, points, passes);
    let mut bytes = vec![4];
    bytes.extend(postcard::to_allocvec(&parts).unwrap());
    assert_eq!(Buyer::decode(buyer.version, &bytes), Some(buyer.clone()));
    assert_eq!(buyer.encode(), bytes);
}
