use super::*;
use crate::room::draw::Draw;
use crate::room::opening::Bucket;

const NOW: Millis = Millis(1_800_000_000_000);

fn place(n: u32) -> Place {
    Place {
        bucket: Bucket(0),
        draw: Draw(u64::from(n)),
    }
}

/// Those at the door of each gate stand one behind the other, from the front on.
fn report(number: u64, version: u64, slots: u32, live: u32, waiting: u32) -> Report {
    Report {
        number,
        version,
        slots,
        live,
        waiting,
        knockers: (0..waiting).map(place).collect(),
        ..Report::default()
    }
}

/// Deals slots as the controller does.
fn deal(gates: &mut [Allotment], capacity: u32) {
    let door = at_door(gates, NOW);
    deal_slots(gates, capacity, &door);
}

fn ceilings(gates: &[Allotment]) -> Vec<u32> {
    gates.iter().map(Allotment::ceiling).collect()
}

fn settle(gates: &mut [Allotment], number: u64, live: &[u32], waiting: &[u32]) {
    for (i, gate) in gates.iter_mut().enumerate() {
        let grant = gate.grant(0, None);
        gate.hear(
            report(
                number,
                grant.version,
                grant.slots.max(live[i]),
                live[i],
                waiting[i],
            ),
            NOW,
        );
    }
}

#[test]
fn slots_are_dealt_evenly_and_follow_the_people() {
    let mut gates = vec![Allotment::default(); 2];
    deal(&mut gates, 10);
    assert_eq!(ceilings(&gates), [5, 5]);
    settle(&mut gates, 1, &[1, 5], &[0, 3]);
    deal(&mut gates, 10);
    assert_eq!(gates[0].grant(0, None).slots, 1, "taken from the one");
    assert_eq!(ceilings(&gates), [5, 5], "but not given to the other yet");
    settle(&mut gates, 2, &[1, 5], &[0, 3]);
    deal(&mut gates, 10);
    assert_eq!(gates[1].grant(0, None).slots, 9);
    assert_eq!(ceilings(&gates), [1, 9]);
}

#[test]
fn a_grant_under_way_is_neither_changed_nor_forgotten() {
    let mut gates = vec![Allotment::default(); 2];
    deal(&mut gates, 10);
    settle(&mut gates, 1, &[0, 0], &[0, 0]);
    deal(&mut gates, 4);
    assert_eq!(
        gates[0].grant(0, None),
        Grant {
            version: 2,
            slots: 2,
            entries: 0,
            turn: None,
            step: 0,
            ended: vec![],
            ended_from: 0
        }
    );
    // A report about the old version changes nothing, however new it is.
    gates[0].hear(report(2, 1, 5, 0, 0), NOW);
    assert_eq!(gates[0].ceiling(), 5);
    deal(&mut gates, 100);
    assert_eq!(gates[0].grant(0, None).version, 2);
    // Nor does an old report that comes late.
    gates[0].hear(report(4, 2, 3, 3, 0), NOW);
    assert_eq!(gates[0].ceiling(), 3);
    gates[0].hear(report(3, 2, 2, 2, 0), NOW);
    assert_eq!(gates[0].ceiling(), 3);
}

#[test]
fn too_many_alive_are_cut_in_proportion_and_nothing_is_given() {
    let mut gates = vec![Allotment::default(); 2];
    deal(&mut gates, 12);
    settle(&mut gates, 1, &[6, 6], &[9, 0]);
    deal(&mut gates, 4);
    settle(&mut gates, 2, &[6, 5], &[9, 0]);
    deal(&mut gates, 4);
    let slots: u32 = gates.iter().map(|g| g.grant(0, None).slots).sum();
    assert!(slots <= 4);
}

#[test]
fn entries_go_where_people_wait_and_never_beyond_what_was_earned() {
    let mut gates = vec![Allotment::default(); 2];
    gates[1].hear(report(1, 0, 0, 0, 30), NOW);
    assert_eq!(deal_entries(&mut gates, 25, 20.0, Phase(0)), 25);
    let entries: Vec<u64> = gates.iter().map(|g| g.grant(0, None).entries).collect();
    assert_eq!(entries.iter().sum::<u64>(), 25);
    assert!(entries[1] > entries[0], "{entries:?}");
    assert_eq!(
        deal_entries(&mut gates, 1_000, 20.0, Phase(0)),
        45,
        "two steps' worth for each gate and one for each who waits"
    );
    assert_eq!(deal_entries(&mut gates, 1_000, 20.0, Phase(0)), 0);
}

#[test]
fn who_waits_comes_before_what_is_kept_in_stock() {
    let mut gates = vec![Allotment::default(); 8];
    gates[2].hear(report(1, 0, 0, 0, 1), NOW);
    for step in 0..8 {
        let mut dealt = gates.clone();
        assert_eq!(deal_entries(&mut dealt, 1, 1.0, Phase::of_step(step)), 1);
        assert_eq!(dealt[2].grant(0, None).entries, 1, "step {step}");
    }
}

#[test]
fn single_entries_go_round_by_how_many_wait_where() {
    let mut gates = vec![Allotment::default(); 8];
    for (i, waiting) in [300, 300, 300, 300, 300, 300, 300, 600].iter().enumerate() {
        gates[i].hear(report(1, 0, 0, 0, *waiting), NOW);
    }
    for step in 0..900 {
        deal_entries(&mut gates, 1, 1.0, Phase::of_step(step));
    }
    let entries: Vec<u64> = gates.iter().map(|g| g.grant(0, None).entries).collect();
    assert!(
        entries[..7].iter().all(|n| n.abs_diff(100) <= 5),
        "{entries:?}"
    );
    assert!(entries[7].abs_diff(200) <= 10, "{entries:?}");
}

#[test]
fn slots_go_to_the_gates_of_those_who_stand_in_front() {
    let mut gates = vec![Allotment::default(); 8];
    deal(&mut gates, 2);
    let slots = |gates: &[Allotment]| -> Vec<u32> { gates.iter().map(|g| g.slots).collect() };
    let mut waiting = [0; 8];
    waiting[6] = 1;
    waiting[7] = 3;
    for step in 1..4 {
        settle(&mut gates, step, &[0; 8], &waiting);
        deal(&mut gates, 2);
    }
    assert_eq!(slots(&gates), [0, 0, 0, 0, 0, 0, 1, 1]);
}

fn calling(free_slots: u64, earned: f64) -> Calling {
    Calling {
        free_slots,
        earned,
        settled: Place::LAST,
    }
}

/// Two gates with all their slots free and these people at their doors.
fn door(slots: [u32; 2], knockers: [&[u32]; 2]) -> Vec<Allotment> {
    let mut gates = vec![Allotment::default(); 2];
    for (i, gate) in gates.iter_mut().enumerate() {
        gate.set_slots(slots[i]);
        let knockers: Vec<Place> = knockers[i].iter().map(|n| place(*n)).collect();
        let report = Report {
            waiting: knockers.len() as u32,
            knockers,
            ..report(1, gate.version, slots[i], 0, 0)
        };
        gate.hear(report, NOW);
    }
    gates
}

#[test]
fn those_at_the_door_are_called_in_the_order_of_the_line_whichever_gate_they_stand_at() {
    let mut gates = door([9, 9], [&[1, 4, 5], &[2, 3, 6]]);
    let knockers = at_door(&gates, NOW);
    let called = call(&mut gates, &knockers, &calling(18, 4.0));
    assert_eq!((called.turn, called.people), (Some(place(4)), 4));
    let entries: Vec<u64> = gates.iter().map(|gate| gate.entries).collect();
    assert_eq!(entries, [2, 2]);
    // Whoever was called and has not come yet is not paid for again.
    let again = call(&mut gates, &knockers, &calling(18, 1.0));
    assert_eq!((again.turn, again.spent), (Some(place(5)), 1.0));
}

#[test]
fn nobody_is_called_before_somebody_whose_slot_is_on_its_way() {
    let mut gates = door([9, 0], [&[1, 4], &[2, 3]]);
    let knockers = at_door(&gates, NOW);
    let called = call(&mut gates, &knockers, &calling(9, 9.0));
    assert_eq!(called.turn, Some(place(1)));
}

#[test]
fn nobody_is_called_behind_the_settled_frontier_or_for_slots_that_are_not_there() {
    let mut gates = door([9, 9], [&[1, 4], &[2, 3]]);
    let knockers = at_door(&gates, NOW);
    let called = call(&mut gates, &knockers, &calling(2, 9.0));
    assert_eq!(called.turn, Some(place(2)));
    let settled = Calling {
        settled: place(1),
        ..calling(9, 9.0)
    };
    assert_eq!(call(&mut gates, &knockers, &settled).turn, Some(place(1)));
}

#[test]
fn a_gate_that_is_silent_holds_nobody_up() {
    let gates = door([9, 9], [&[1], &[2]]);
    assert_eq!(at_door(&gates, NOW + (SILENT_MS - 1)).len(), 2);
    assert_eq!(at_door(&gates, NOW + SILENT_MS), []);
}

#[test]
fn ended_passes_are_sent_until_they_are_closed() {
    let mut gate = Allotment::default();
    let pass = |n: u8| PassId([n; 16]);
    (0..3).for_each(|n| gate.end(pass(n), 1));
    assert_eq!(gate.grant(0, None).ended.len(), 3);
    gate.hear(
        Report {
            ended: 2,
            ..report(1, 0, 0, 0, 0)
        },
        NOW,
    );
    assert_eq!(
        (gate.grant(0, None).ended_from, gate.grant(0, None).ended),
        (2, vec![pass(2)])
    );
    gate.hear(
        Report {
            ended: 3,
            ..report(2, 0, 0, 0, 0)
        },
        NOW,
    );
    assert_eq!(
        (gate.grant(0, None).ended_from, gate.grant(0, None).ended),
        (3, vec![])
    );
}

#[test]
fn an_increase_under_way_counts_until_it_is_reported() {
    let mut gates = vec![Allotment::default(); 2];
    deal(&mut gates, 10);
    settle(&mut gates, 1, &[0, 0], &[0, 0]);
    deal(&mut gates, 100);
    gates[0].hear(report(2, 1, 5, 0, 0), NOW);
    assert_eq!(gates[0].ceiling(), 50);
}

fn numbered(n: u32) -> PassId {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&n.to_be_bytes());
    PassId(bytes)
}

#[test]
fn a_pass_that_the_cloud_names_again_is_sent_once() {
    let mut gate = Allotment::default();
    for cursor in [1_000, 2_000, 16_000, 31_000] {
        gate.forget_ended(cursor);
        gate.end(numbered(7), cursor);
        gate.end(numbered(7), cursor);
    }
    assert_eq!(gate.grant(0, None).ended, [numbered(7)]);
    gate.hear(
        Report {
            ended: 1,
            ..report(1, 0, 0, 0, 0)
        },
        NOW,
    );
    // It was sent and closed; the next briefing still has it.
    gate.end(numbered(7), 31_000);
    assert_eq!(
        (gate.grant(0, None).ended_from, gate.grant(0, None).ended),
        (1, vec![])
    );
    // What is remembered is stored along with the rest.
    let stored = postcard::to_allocvec(&gate).unwrap();
    let mut restored: Allotment = postcard::from_bytes(&stored).unwrap();
    restored.end(numbered(7), 31_000);
    assert_eq!(restored.grant(0, None).ended, []);
}

#[test]
fn passes_are_remembered_for_as_long_as_they_may_be_named_again() {
    let mut gate = Allotment::default();
    gate.end(numbered(7), 1_000);
    gate.forget_ended(31_000);
    assert_eq!(gate.remembered.len(), 1);
    gate.forget_ended(31_001);
    assert_eq!(gate.remembered.len(), 0);
}

#[test]
fn a_gate_remembers_the_latest_passes_and_no_more_than_it_should() {
    let mut gate = Allotment::default();
    for n in 0..5_000 {
        gate.end(numbered(n), u64::from(n));
    }
    assert_eq!(gate.remembered.len(), MAX_REMEMBERED);
    let queued = gate.ended.len();
    gate.end(numbered(4_999), 5_000);
    assert_eq!(gate.ended.len(), queued);
}
