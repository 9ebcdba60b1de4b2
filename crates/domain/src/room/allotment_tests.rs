use super::*;

fn report(number: u64, version: u64, slots: u32, live: u32, waiting: u32) -> Report {
    Report {
        number,
        version,
        slots,
        live,
        entered: 0,
        waiting,
        returned: 0,
        ended: 0,
    }
}

fn ceilings(gates: &[Allotment]) -> Vec<u32> {
    gates.iter().map(Allotment::ceiling).collect()
}

fn settle(gates: &mut [Allotment], number: u64, live: &[u32], waiting: &[u32]) {
    for (i, gate) in gates.iter_mut().enumerate() {
        let grant = gate.grant();
        gate.hear(report(
            number,
            grant.version,
            grant.slots.max(live[i]),
            live[i],
            waiting[i],
        ));
    }
}

#[test]
fn slots_are_dealt_evenly_and_follow_the_people() {
    let mut gates = vec![Allotment::default(); 2];
    deal_slots(&mut gates, 10, Phase(0));
    assert_eq!(ceilings(&gates), [5, 5]);
    settle(&mut gates, 1, &[1, 5], &[0, 3]);
    deal_slots(&mut gates, 10, Phase(0));
    assert_eq!(gates[0].grant().slots, 1, "taken from the one");
    assert_eq!(ceilings(&gates), [5, 5], "but not given to the other yet");
    settle(&mut gates, 2, &[1, 5], &[0, 3]);
    deal_slots(&mut gates, 10, Phase(0));
    assert_eq!(gates[1].grant().slots, 9);
    assert_eq!(ceilings(&gates), [1, 9]);
}

#[test]
fn a_grant_under_way_is_neither_changed_nor_forgotten() {
    let mut gates = vec![Allotment::default(); 2];
    deal_slots(&mut gates, 10, Phase(0));
    settle(&mut gates, 1, &[0, 0], &[0, 0]);
    deal_slots(&mut gates, 4, Phase(0));
    assert_eq!(
        gates[0].grant(),
        Grant {
            version: 2,
            slots: 2,
            entries: 0,
            ended: vec![],
            ended_from: 0
        }
    );
    // A report about the old version changes nothing, however new it is.
    gates[0].hear(report(2, 1, 5, 0, 0));
    assert_eq!(gates[0].ceiling(), 5);
    deal_slots(&mut gates, 100, Phase(0));
    assert_eq!(gates[0].grant().version, 2);
    // Nor does an old report that comes late.
    gates[0].hear(report(4, 2, 3, 3, 0));
    assert_eq!(gates[0].ceiling(), 3);
    gates[0].hear(report(3, 2, 2, 2, 0));
    assert_eq!(gates[0].ceiling(), 3);
}

#[test]
fn too_many_alive_are_cut_in_proportion_and_nothing_is_given() {
    let mut gates = vec![Allotment::default(); 2];
    deal_slots(&mut gates, 12, Phase(0));
    settle(&mut gates, 1, &[6, 6], &[9, 0]);
    deal_slots(&mut gates, 4, Phase(0));
    settle(&mut gates, 2, &[6, 5], &[9, 0]);
    deal_slots(&mut gates, 4, Phase(0));
    let slots: u32 = gates.iter().map(|g| g.grant().slots).sum();
    assert!(slots <= 4);
}

#[test]
fn entries_go_where_people_wait_and_never_beyond_what_was_earned() {
    let mut gates = vec![Allotment::default(); 2];
    gates[1].hear(report(1, 0, 0, 0, 30));
    assert_eq!(deal_entries(&mut gates, 25, 20.0, Phase(0)), 25);
    let entries: Vec<u64> = gates.iter().map(|g| g.grant().entries).collect();
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
    gates[2].hear(report(1, 0, 0, 0, 1));
    for step in 0..8 {
        let mut dealt = gates.clone();
        assert_eq!(deal_entries(&mut dealt, 1, 1.0, Phase::of_step(step)), 1);
        assert_eq!(dealt[2].grant().entries, 1, "step {step}");
    }
}

#[test]
fn single_entries_go_round_by_how_many_wait_where() {
    let mut gates = vec![Allotment::default(); 8];
    for (i, waiting) in [300, 300, 300, 300, 300, 300, 300, 600].iter().enumerate() {
        gates[i].hear(report(1, 0, 0, 0, *waiting));
    }
    for step in 0..900 {
        deal_entries(&mut gates, 1, 1.0, Phase::of_step(step));
    }
    let entries: Vec<u64> = gates.iter().map(|g| g.grant().entries).collect();
    assert!(
        entries[..7].iter().all(|n| n.abs_diff(100) <= 5),
        "{entries:?}"
    );
    assert!(entries[7].abs_diff(200) <= 10, "{entries:?}");
}

#[test]
fn a_free_slot_stays_where_somebody_waits_for_it() {
    let mut gates = vec![Allotment::default(); 8];
    deal_slots(&mut gates, 2, Phase(0));
    let slots = |gates: &[Allotment]| -> Vec<u32> { gates.iter().map(|g| g.slots).collect() };
    let first = slots(&gates);
    assert_eq!(first.iter().sum::<u32>(), 2);
    let owner = first.iter().position(|slots| *slots == 1).unwrap();
    let mut waiting = [1; 8];
    waiting[(owner + 1) % 8] = 9;
    for step in 1..50 {
        settle(&mut gates, step, &[0; 8], &waiting);
        deal_slots(&mut gates, 2, Phase::of_step(step));
        assert_eq!(gates[owner].slots, 1, "step {step}");
    }
}

#[test]
fn ended_passes_are_sent_until_they_are_closed() {
    let mut gate = Allotment::default();
    let pass = |n: u8| PassId([n; 16]);
    (0..3).for_each(|n| gate.end(pass(n), 1));
    assert_eq!(gate.grant().ended.len(), 3);
    gate.hear(Report {
        ended: 2,
        ..report(1, 0, 0, 0, 0)
    });
    assert_eq!(
        (gate.grant().ended_from, gate.grant().ended),
        (2, vec![pass(2)])
    );
    gate.hear(Report {
        ended: 3,
        ..report(2, 0, 0, 0, 0)
    });
    assert_eq!((gate.grant().ended_from, gate.grant().ended), (3, vec![]));
}

#[test]
fn an_increase_under_way_counts_until_it_is_reported() {
    let mut gates = vec![Allotment::default(); 2];
    deal_slots(&mut gates, 10, Phase(0));
    settle(&mut gates, 1, &[0, 0], &[0, 0]);
    deal_slots(&mut gates, 100, Phase(0));
    gates[0].hear(report(2, 1, 5, 0, 0));
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
    assert_eq!(gate.grant().ended, [numbered(7)]);
    gate.hear(Report {
        ended: 1,
        ..report(1, 0, 0, 0, 0)
    });
    // It was sent and closed; the next briefing still has it.
    gate.end(numbered(7), 31_000);
    assert_eq!((gate.grant().ended_from, gate.grant().ended), (1, vec![]));
    // What is remembered is stored along with the rest.
    let stored = postcard::to_allocvec(&gate).unwrap();
    let mut restored: Allotment = postcard::from_bytes(&stored).unwrap();
    restored.end(numbered(7), 31_000);
    assert_eq!(restored.grant().ended, []);
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
