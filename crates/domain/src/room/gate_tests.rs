use super::*;
use proptest::prelude::*;

const NOW: Millis = Millis(1_800_000_000_000);
const LOT: Lot = Lot([8; 16]);
const OTHER: Lot = Lot([16; 16]);

fn grant(version: u64, slots: u32, entries: u64) -> Grant {
    Grant {
        version,
        slots,
        entries,
        ended: vec![],
        ended_from: 0,
    }
}

fn gate(slots: u32, entries: u64) -> Gate {
    let mut gate = Gate::new(GateIndex::of_lot(LOT));
    gate.apply(&grant(1, slots, entries), NOW);
    gate
}

fn enter(gate: &mut Gate, lot: Lot, now: Millis) -> Result<Entered, NotEntered> {
    gate.enter(&wish(lot, 300), now, lot.0)
}

fn wish(lot: Lot, pass_seconds: u32) -> Enter {
    Enter {
        lot,
        pass_seconds,
        may_begin: true,
    }
}

#[test]
fn a_pass_is_renewed_though_it_is_nobody_s_turn_and_none_begins() {
    let mut gate = gate(2, 2);
    let first = enter(&mut gate, LOT, NOW).unwrap();
    let renewal = |lot| Enter {
        may_begin: false,
        ..wish(lot, 300)
    };
    let again = gate.enter(&renewal(LOT), NOW + 200_000, [9; 16]).unwrap();
    assert_eq!((again.pass, again.expires), (first.pass, NOW + 500_000));
    let refused = gate.enter(&renewal(OTHER), NOW + 200_000, [9; 16]);
    assert_eq!(refused, Err(NotEntered::NotYet));
    let report = gate.report(NOW + 200_001);
    assert_eq!((report.entered, report.waiting), (1, 0));
    gate.leave(LOT, NOW + 200_002);
    let spent = gate.enter(&renewal(LOT), NOW + 200_003, [9; 16]);
    assert_eq!(spent, Err(NotEntered::Spent));
}

#[test]
fn the_same_lot_gets_the_same_pass_renewed() {
    let mut gate = gate(1, 1);
    let first = enter(&mut gate, LOT, NOW).unwrap();
    assert_eq!(first.expires, NOW + 300_000);
    let again = gate.enter(&wish(LOT, 300), NOW + 200_000, [9; 16]).unwrap();
    assert_eq!((again.pass, again.expires), (first.pass, NOW + 500_000));
    let shorter = gate.enter(&wish(LOT, 10), NOW + 200_001, [9; 16]).unwrap();
    assert_eq!(
        shorter.expires,
        NOW + 500_000,
        "what was signed stays signed"
    );
    assert_eq!(gate.report(NOW + 200_001).entered, 1);
}

#[test]
fn a_pass_ends_fifteen_minutes_after_its_start_and_the_lot_is_spent() {
    let mut gate = gate(1, 9);
    enter(&mut gate, LOT, NOW).unwrap();
    let late = gate.enter(&wish(LOT, 900), NOW + 290_000, LOT.0).unwrap();
    assert_eq!(late.expires, NOW + MAX_PASS_MS);
    let last = enter(&mut gate, LOT, NOW + (MAX_PASS_MS - 1)).unwrap();
    assert_eq!(last.expires, NOW + MAX_PASS_MS);
    assert_eq!(
        enter(&mut gate, LOT, NOW + MAX_PASS_MS),
        Err(NotEntered::Spent)
    );
    assert_eq!(
        enter(&mut gate, LOT, NOW + 9 * MAX_PASS_MS),
        Err(NotEntered::Spent)
    );
}

#[test]
fn a_slot_counts_for_twice_the_skew_after_the_last_expiry() {
    let mut gate = gate(1, 9);
    enter(&mut gate, LOT, NOW).unwrap();
    assert_eq!(
        enter(&mut gate, OTHER, NOW + 309_999),
        Err(NotEntered::Full)
    );
    assert!(enter(&mut gate, OTHER, NOW + 310_000).is_ok());
    assert_eq!(enter(&mut gate, LOT, NOW + 310_001), Err(NotEntered::Full));
    assert!(
        enter(&mut gate, LOT, NOW + 620_000).is_ok(),
        "a lapsed pass may come back"
    );
}

#[test]
fn leaving_frees_the_slot_at_once_and_spends_the_lot() {
    let mut gate = gate(1, 9);
    let pass = enter(&mut gate, LOT, NOW).unwrap().pass;
    assert_eq!(
        gate.leave(LOT, NOW + 40_000).map(|e| (e.pass, e.closed)),
        Some((pass, true))
    );
    assert_eq!(enter(&mut gate, LOT, NOW + 40_001), Err(NotEntered::Spent));
    assert!(enter(&mut gate, OTHER, NOW + 40_001).is_ok());
    gate.leave(LOT, NOW + 40_002);
    let report = gate.report(NOW + 40_002);
    assert_eq!((report.live, report.returned), (1, 1));
    assert_eq!(gate.leave(Lot([1; 16]), NOW), None);
}

#[test]
fn entries_are_limited_but_renewals_are_not() {
    let mut gate = gate(9, 1);
    enter(&mut gate, LOT, NOW).unwrap();
    assert_eq!(enter(&mut gate, OTHER, NOW), Err(NotEntered::TooFast));
    assert!(enter(&mut gate, LOT, NOW).is_ok());
    assert_eq!(gate.report(NOW).waiting, 1);
    gate.apply(&grant(1, 9, 2), NOW);
    assert!(enter(&mut gate, OTHER, NOW).is_ok());
    assert_eq!(gate.report(NOW).waiting, 0);
}

#[test]
fn whoever_does_not_come_back_stops_waiting() {
    let mut gate = gate(0, 9);
    assert_eq!(enter(&mut gate, LOT, NOW), Err(NotEntered::Full));
    assert_eq!(gate.report(NOW + (WAITING_MS - 1)).waiting, 1);
    assert_eq!(gate.report(NOW + WAITING_MS).waiting, 0);
}

#[test]
fn old_and_repeated_grants_change_nothing() {
    let mut gate = gate(5, 5);
    gate.apply(&grant(3, 2, 9), NOW);
    gate.apply(&grant(2, 7, 4), NOW);
    gate.apply(&grant(3, 4, 4), NOW);
    let report = gate.report(NOW);
    assert_eq!((report.version, report.slots), (3, 2));
    assert_eq!(gate.books().entries, 9);
}

#[test]
fn a_smaller_grant_is_reported_as_large_as_it_is_taken() {
    let mut gate = gate(2, 9);
    enter(&mut gate, LOT, NOW).unwrap();
    enter(&mut gate, OTHER, NOW).unwrap();
    gate.apply(&grant(2, 1, 9), NOW);
    assert_eq!(gate.report(NOW).slots, 2);
    assert!(
        enter(&mut gate, LOT, NOW).is_ok(),
        "shoppers go on shopping"
    );
    gate.leave(OTHER, NOW);
    assert_eq!(gate.report(NOW).slots, 1);
    assert_eq!(enter(&mut gate, Lot([24; 16]), NOW), Err(NotEntered::Full));
}

#[test]
fn ended_passes_are_closed_once_and_in_order() {
    let mut gate = gate(9, 9);
    let first = enter(&mut gate, LOT, NOW).unwrap().pass;
    let second = enter(&mut gate, OTHER, NOW).unwrap().pass;
    let ended = |from, ended| Grant {
        ended,
        ended_from: from,
        ..grant(1, 9, 9)
    };
    assert_eq!(gate.apply(&ended(1, vec![second]), NOW), []);
    assert_eq!(gate.report(NOW).ended, 0, "number 0 has not come yet");
    assert_eq!(
        gate.apply(&ended(0, vec![first, second]), NOW),
        [LOT, OTHER]
    );
    assert_eq!(gate.apply(&ended(0, vec![first, second]), NOW), []);
    let report = gate.report(NOW);
    assert_eq!((report.ended, report.live, report.returned), (2, 0, 2));
    assert_eq!(enter(&mut gate, LOT, NOW), Err(NotEntered::Spent));
}

#[test]
fn a_clock_that_goes_back_takes_no_slot_back() {
    let mut gate = gate(1, 9);
    enter(&mut gate, LOT, NOW).unwrap();
    gate.report(NOW + 310_000);
    let restored = Gate::restore(*gate.books(), gate.entries.clone());
    for mut gate in [gate, restored] {
        assert_eq!(gate.report(NOW).live, 0);
        let entered = enter(&mut gate, OTHER, NOW).unwrap();
        assert_eq!(entered.issued, NOW + 310_000);
    }
}

proptest! {
    #[test]
    fn a_gate_never_holds_more_than_it_was_granted_and_survives_a_restart(
        steps in prop::collection::vec((0u8..5, 0u8..12, 0u64..200_000), 1..120),
    ) {
        let mut gate = gate(4, 1_000);
        let mut now = NOW;
        for (what, who, wait) in steps {
            now = now + wait;
            let lot = Lot([who << 3; 16]);
            match what {
                0 => { gate.leave(lot, now); }
                1 => gate = Gate::restore(*gate.books(), gate.entries.clone()),
                _ => { let _ = enter(&mut gate, lot, now); }
            }
            let alive = |e: &&Entry| !e.closed && e.expires + 2 * CLOCK_SKEW_MS > now;
            let live = gate.entries.values().filter(alive).count();
            prop_assert!(live <= 4);
            prop_assert_eq!(gate.report(now).live as usize, live);
            for entry in gate.entries.values() {
                prop_assert!(entry.expires <= entry.start + MAX_PASS_MS);
            }
        }
    }
}
