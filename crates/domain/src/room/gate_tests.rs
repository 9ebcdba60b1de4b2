use super::*;
use crate::room::draw::Draw;
use crate::room::opening::Bucket;
use proptest::prelude::*;

const NOW: Millis = Millis(1_800_000_000_000);
const LOT: Lot = Lot([8; 16]);
const OTHER: Lot = Lot([16; 16]);

fn grant(version: u64, slots: u32, entries: u64) -> Grant {
    Grant {
        version,
        slots,
        entries,
        turn: Some(Place::LAST),
        step: 0,
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

/// The higher the lot, the further back.
fn place(lot: Lot) -> Place {
    Place {
        bucket: Bucket(0),
        draw: Draw(u64::from(lot.0[0])),
    }
}

fn knock(gate: &mut Gate, lot: Lot, now: Millis) -> Knocked {
    let knock = Knock {
        lot,
        place: place(lot),
        may_begin: true,
    };
    gate.knock(&knock, now)
}

fn restarted(gate: &Gate) -> Gate {
    let (entries, reserved) = (gate.entries.clone(), gate.reserved.clone());
    let mut restarted = Gate::restore(*gate.books(), entries, reserved);
    restarted.turn = gate.turn;
    restarted
}

fn wish(lot: Lot, pass_seconds: u32) -> Enter {
    Enter {
        lot,
        place: place(lot),
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
        Err(NotEntered::Door)
    );
    assert!(enter(&mut gate, OTHER, NOW + 310_000).is_ok());
    assert_eq!(enter(&mut gate, LOT, NOW + 310_001), Err(NotEntered::Door));
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

/// A lot whose pass has lapsed, and that was promised the only slot to come back.
fn coming_back() -> (Gate, PassId, Millis) {
    let mut gate = gate(1, 9);
    let pass = enter(&mut gate, LOT, NOW).unwrap().pass;
    let later = NOW + 310_000;
    assert_eq!(knock(&mut gate, LOT, later), Knocked::Admitted);
    (gate, pass, later)
}

#[test]
fn leaving_gives_back_the_slot_that_was_promised_to_a_lapsed_pass() {
    let (mut gate, _, later) = coming_back();
    gate.leave(LOT, later);
    assert_eq!(gate.reservation(LOT), None);
    assert_eq!(gate.report(later).live, 0);
    assert_eq!(knock(&mut gate, OTHER, later), Knocked::Admitted);
}

#[test]
fn an_ended_pass_gives_back_the_slot_that_was_promised_to_it() {
    let (mut gate, pass, later) = coming_back();
    let ended = Grant {
        ended: vec![pass],
        ..grant(1, 1, 9)
    };
    assert_eq!(gate.apply(&ended, later), [LOT]);
    assert_eq!(gate.reservation(LOT), None);
    assert_eq!(knock(&mut gate, OTHER, later), Knocked::Admitted);
}

#[test]
fn entries_are_limited_but_renewals_are_not() {
    let mut gate = gate(9, 1);
    enter(&mut gate, LOT, NOW).unwrap();
    assert_eq!(enter(&mut gate, OTHER, NOW), Err(NotEntered::Door));
    assert!(enter(&mut gate, LOT, NOW).is_ok());
    assert_eq!(gate.report(NOW).waiting, 1);
    gate.apply(&grant(1, 9, 2), NOW);
    assert!(enter(&mut gate, OTHER, NOW).is_ok());
    assert_eq!(gate.report(NOW).waiting, 0);
}

#[test]
fn whoever_does_not_come_back_stops_waiting() {
    let mut gate = gate(0, 9);
    assert_eq!(enter(&mut gate, LOT, NOW), Err(NotEntered::Door));
    assert_eq!(gate.report(NOW + (WAITING_MS - 1)).waiting, 1);
    assert_eq!(gate.report(NOW + WAITING_MS).waiting, 0);
}

#[test]
fn admitted_is_a_promise_for_ten_seconds_that_survives_a_restart() {
    let mut gate = gate(1, 9);
    assert_eq!(knock(&mut gate, LOT, NOW), Knocked::Admitted);
    assert_eq!(gate.report(NOW).live, 1, "it takes a slot");
    assert_eq!(knock(&mut gate, OTHER, NOW), Knocked::Door);
    assert_eq!(enter(&mut gate, OTHER, NOW), Err(NotEntered::Door));
    let mut gate = restarted(&gate);
    gate.apply(&grant(2, 0, 9), NOW);
    let nobody_new = Enter {
        may_begin: false,
        ..wish(LOT, 300)
    };
    let entered = gate.enter(&nobody_new, NOW + RESERVED_MS, [9; 16]).unwrap();
    let inside = Knocked::Inside {
        expires: entered.expires,
    };
    assert_eq!(knock(&mut gate, LOT, NOW + RESERVED_MS), inside);
    let report = gate.report(NOW + RESERVED_MS);
    assert_eq!((report.live, report.entered), (1, 1));
}

#[test]
fn each_time_admitted_is_told_it_holds_for_ten_seconds() {
    let mut gate = gate(1, 9);
    assert_eq!(knock(&mut gate, LOT, NOW), Knocked::Admitted);
    let told = NOW + (RESERVED_MS - 1);
    assert_eq!(knock(&mut gate, LOT, told), Knocked::Admitted);
    // Whoever asks on and on does not keep it for ever.
    assert_eq!(knock(&mut gate, LOT, NOW + RESERVED_MS), Knocked::Door);
    assert!(enter(&mut gate, LOT, told + RESERVED_MS).is_ok());
}

#[test]
fn a_promise_that_lapsed_leads_back_to_the_door_and_the_next_gets_the_slot() {
    let mut gate = gate(1, 9);
    assert_eq!(knock(&mut gate, LOT, NOW), Knocked::Admitted);
    let later = NOW + RESERVED_MS + RESERVED_GRACE_MS;
    assert_eq!(knock(&mut gate, LOT, later), Knocked::Door);
    assert_eq!(gate.take_lapsed(), [LOT]);
    assert_eq!(knock(&mut gate, OTHER, later), Knocked::Admitted);
    gate.leave(OTHER, later);
    // By entering they are in as soon as there is a slot, before those behind them.
    let much_later = later + RESERVED_MS + RESERVED_GRACE_MS;
    assert_eq!(knock(&mut gate, LOT, much_later), Knocked::Admitted);
    assert!(enter(&mut gate, LOT, much_later).is_ok());
}

#[test]
fn slots_go_to_those_at_the_door_in_the_order_of_the_line_and_no_further_than_called() {
    let mut gate = gate(0, 9);
    let lots = [Lot([24; 16]), OTHER, LOT];
    for lot in lots {
        assert_eq!(knock(&mut gate, lot, NOW), Knocked::Door);
    }
    let report = gate.report(NOW);
    assert_eq!(report.knockers, [LOT, OTHER, lots[0]].map(place));
    assert_eq!((report.waiting, report.counts.knocked), (3, 3));
    gate.apply(&grant(2, 2, 9), NOW);
    let told: Vec<_> = lots.iter().map(|lot| knock(&mut gate, *lot, NOW)).collect();
    assert_eq!(told, [Knocked::Door, Knocked::Admitted, Knocked::Admitted]);
    let called = Grant {
        turn: Some(place(OTHER)),
        ..grant(3, 9, 9)
    };
    gate.apply(&called, NOW);
    assert_eq!(knock(&mut gate, lots[0], NOW), Knocked::Door);
    gate.apply(&grant(3, 9, 9), NOW);
    assert_eq!(knock(&mut gate, lots[0], NOW), Knocked::Admitted);
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
    assert_eq!(enter(&mut gate, Lot([24; 16]), NOW), Err(NotEntered::Door));
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
    let restored = restarted(&gate);
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
                1 => gate = restarted(&gate),
                2 => { knock(&mut gate, lot, now); }
                _ => { let _ = enter(&mut gate, lot, now); }
            }
            let alive = |e: &&Entry| !e.closed && e.expires + 2 * CLOCK_SKEW_MS > now;
            let live = gate.entries.values().filter(alive).count();
            let taken = gate.report(now).live as usize;
            prop_assert!(live <= taken && taken <= 4);
            prop_assert_eq!(taken, live + gate.reserved.len());
            for entry in gate.entries.values() {
                prop_assert!(entry.expires <= entry.start + MAX_PASS_MS);
            }
        }
    }
}
