//! A room while things change around it: pauses, sold out, new settings, restarts.

use onsale_domain::room::controller::{NEWS_STALE_MS, Settings};
use onsale_domain::room::gate::GateIndex;
use onsale_domain::room::opening::Opening;
use onsale_domain::room::status::State;
use onsale_domain::show::{RoomMode, RoomOrder};
use onsale_domain::time::Millis;

use crate::chance::Chance;
use crate::crowd::{Habits, OPENS, Room, SINCE, settings};

const ALL_COME: Habits = Habits {
    fans: 0.0,
    show_up: |_| 1.0,
    stays_ms: |chance| 20_000 + chance.below(40_000),
};

fn spread(people: usize, from: Millis, over_ms: u64) -> Vec<Millis> {
    let mut chance = Chance(3);
    let mut arrivals: Vec<Millis> = (0..people).map(|_| from + chance.below(over_ms)).collect();
    arrivals.sort();
    arrivals
}

fn lottery(people: usize, wanted: Settings) -> Room {
    Room::new(wanted, &spread(people, SINCE, OPENS - SINCE), &ALL_COME)
}

fn change(room: &mut Room, change: impl FnOnce(&mut Settings)) {
    let mut wanted = room.controller.settings().clone();
    change(&mut wanted);
    room.controller.change_settings(wanted, room.now);
}

/// Entries per second over the next minute.
fn pace(room: &mut Room) -> f64 {
    let from = room.now;
    room.run_until(from + 60_000);
    room.entries_between(from, room.now) as f64 / 60.0
}

#[test]
fn nobody_is_let_in_or_told_a_position_before_the_lottery_is_drawn() {
    let mut room = lottery(2_000, settings(RoomOrder::Lottery, 1_000, 50));
    while room.now < OPENS + 2_000 {
        room.step();
        let status = room.status(0);
        if room.people[0].arrived <= room.now {
            assert_eq!(status.state, State::Prequeue);
            assert_eq!(
                (status.position, status.ahead, status.wait_seconds),
                (None, None, None)
            );
        }
    }
    assert_eq!((room.reached, room.entries.len()), (0, 0));
    room.run_until(OPENS + 15_000);
    assert!(room.entries.len() > 100);
    let last = (0..2_000).max_by_key(|i| room.people[*i].draw).unwrap();
    let status = room.status(last);
    assert!(matches!(status.state, State::Waiting | State::Door));
    let waiting = 2_000 - room.entries.len() as u64;
    assert!(
        status.position.unwrap().abs_diff(waiting) < 300,
        "{status:?}"
    );
}

#[test]
fn a_quiet_show_lets_everybody_straight_through_and_queues_when_it_is_full() {
    let mut wanted = settings(RoomOrder::Lottery, 200, 50);
    wanted.opening = Opening {
        opens: None,
        ..wanted.opening
    };
    // One a second for five minutes, then fifty a second for one.
    let mut arrivals = spread(300, SINCE + 5_000, 300_000);
    arrivals.extend(spread(3_000, SINCE + 305_000, 60_000));
    let mut room = Room::new(wanted, &arrivals, &ALL_COME);
    while room.now < SINCE + 300_000 {
        room.step();
        if room.now > SINCE + 5_000 {
            assert!(room.published.straight_through);
            let arrived = room.people.partition_point(|p| p.arrived <= room.now);
            assert_eq!(room.reached, arrived, "at {}", room.now);
        }
    }
    assert_eq!(room.refused, 0);
    room.run_until(SINCE + 350_000);
    assert!(!room.published.straight_through);
    assert!(
        room.people[room.reached].arrived < room.now,
        "somebody waits"
    );
    room.run_until(SINCE + 1_800_000);
    assert!(
        room.published.straight_through,
        "and when the crowd has gone"
    );
    assert!(
        room.most_live <= 200 && room.most_live > 190,
        "{}",
        room.most_live
    );
    assert!(room.people.iter().all(|p| p.entered.is_some()));
}

/// Judged by who is through the gate, with a fifth of the polls meeting an old bulletin:
/// whoever entered came at most two seconds, and the second of their bucket, after anybody
/// whom the line had not reached.
#[test]
fn nobody_walks_past_a_line_that_began_two_seconds_earlier() {
    let mut wanted = settings(RoomOrder::Lottery, 200, 50);
    wanted.opening = Opening {
        opens: None,
        ..wanted.opening
    };
    let mut arrivals = spread(300, SINCE + 5_000, 300_000);
    arrivals.extend(spread(4_000, SINCE + 305_000, 60_000));
    let mut room = Room::new(wanted, &arrivals, &ALL_COME);
    room.stale = 0.2;
    let mut reached = vec![None; room.people.len()];
    while room.now < SINCE + 1_800_000 {
        room.step();
        for (i, at) in reached.iter_mut().enumerate() {
            let came = room.people[i].arrived <= room.now;
            if at.is_none() && came && room.status(i).state == State::Door {
                *at = Some(room.now);
            }
        }
    }
    assert!(room.jumped.is_empty(), "{:?}", room.jumped);
    // The latest admission of anybody up to here, in order of arrival.
    let mut latest = Vec::new();
    for (person, at) in room.people.iter().zip(&reached) {
        // Who walked in within the second was reached when they did.
        let at = at.unwrap_or(Millis(u64::MAX)).min(person.entered.unwrap());
        latest.push(at.max(latest.last().copied().unwrap_or(Millis(0))));
    }
    for (i, person) in room.people.iter().enumerate() {
        let earlier = room
            .people
            .partition_point(|p| p.arrived + 3_000 <= person.arrived);
        if let Some(before) = earlier.checked_sub(1) {
            let entered = person.entered.unwrap();
            assert!(
                latest[before] <= entered + 1_000,
                "{i}: {entered} {}",
                latest[before]
            );
        }
    }
}

#[test]
fn queue_all_always_queues_and_off_never() {
    let mut wanted = settings(RoomOrder::Lottery, 200, 50);
    wanted.mode = RoomMode::QueueAll;
    wanted.opening = Opening {
        opens: None,
        ..wanted.opening
    };
    let mut room = Room::new(wanted, &spread(300, SINCE + 5_000, 300_000), &ALL_COME);
    while room.now < SINCE + 150_000 {
        room.step();
        assert!(!room.published.straight_through);
    }
    let waits = room.people[..100]
        .iter()
        .map(|p| p.reached.unwrap() - p.arrived);
    assert!(
        waits.min().unwrap() >= 3_000,
        "nobody is let in before the bucket is closed"
    );
    change(&mut room, |s| s.mode = RoomMode::Off);
    room.step();
    let last = room.people.partition_point(|p| p.arrived <= room.now) - 1;
    assert_eq!(room.status(last).state, State::Door);
}

#[test]
fn first_come_first_served_when_asked_for() {
    let arrivals = spread(3_000, SINCE, 400_000);
    let mut room = Room::new(settings(RoomOrder::Fifo, 5_000, 50), &arrivals, &ALL_COME);
    room.run_until(OPENS.saturating_sub(5_000));
    let status = room.status(999);
    assert_eq!((status.state, room.reached), (State::Prequeue, 0));
    assert!(status.position.unwrap().abs_diff(1_000) <= 20, "{status:?}");
    room.run_until(OPENS + 120_000);
    for pair in room.people.windows(2) {
        if pair[0].ticket.bucket < pair[1].ticket.bucket {
            assert!(pair[0].reached.unwrap() <= pair[1].reached.unwrap());
        }
    }
}

#[test]
fn the_line_pauses_while_the_cloud_is_ill_silent_or_nothing_is_free() {
    let mut room = lottery(40_000, settings(RoomOrder::Lottery, 5_000, 50));
    room.run_until(OPENS + 60_000);
    let before = pace(&mut room);
    assert!((45.0..=55.0).contains(&before), "{before}");
    type Disturb = fn(&mut Room, bool);
    let disturbances: [(&str, Disturb); 4] = [
        ("ill", |room, on| room.news.healthy = !on),
        ("silent", |room, on| room.hears_cloud = !on),
        ("all held", |room, on| {
            room.news.free_seats = Some(if on { 0 } else { 9_000 })
        }),
        ("closed", |room, on| {
            let mode = if on {
                RoomMode::Closed
            } else {
                RoomMode::Queue
            };
            change(room, |s| s.mode = mode);
        }),
    ];
    for (name, disturb) in disturbances {
        disturb(&mut room, true);
        let hushed = room.now + NEWS_STALE_MS + 5_000;
        room.run_until(hushed);
        let (frontier, entries) = (room.controller.frontier(), room.entries.len());
        room.run_until(hushed + 60_000);
        assert_eq!(room.controller.frontier(), frontier, "{name}");
        assert!(room.entries.len() - entries < 50, "{name}");
        disturb(&mut room, false);
        let first = room.now;
        room.run_until(first + 5_000);
        let burst = room.entries_between(first, room.now);
        assert!(burst <= 7 * 50, "{name}: nothing is made up for: {burst}");
        room.run_until(first + 30_000);
        let after = pace(&mut room);
        assert!((45.0..=55.0).contains(&after), "{name}: {after}");
    }
}

#[test]
fn sold_out_and_closed_are_told() {
    let mut room = lottery(4_000, settings(RoomOrder::Lottery, 500, 20));
    room.run_until(OPENS + 30_000);
    room.news.free_seats = Some(0);
    room.step();
    let waits = room.people.len() - 1;
    let last = (0..=waits).max_by_key(|i| room.people[*i].draw).unwrap();
    assert_eq!(room.status(last).state, State::Waiting, "held is not sold");
    room.news.sold_out = true;
    room.step();
    assert_eq!(room.status(last).state, State::SoldOut);
    change(&mut room, |s| s.mode = RoomMode::Closed);
    room.step();
    assert_eq!(room.status(3).state, State::Closed);
}

#[test]
fn rate_and_capacity_follow_the_organiser() {
    let mut room = lottery(60_000, settings(RoomOrder::Lottery, 20_000, 50));
    room.run_until(OPENS + 60_000);
    for rate in [100, 20, 200] {
        change(&mut room, |s| s.rate_per_second = rate);
        let settled = room.now + 20_000;
        room.run_until(settled);
        let share = pace(&mut room) / f64::from(rate);
        assert!((0.9..=1.1).contains(&share), "{rate}: {share}");
    }
    // Forty seconds each: 1,000 slots would give 25 entries a second, and give fewer, for
    // each is empty for three to five seconds until the next has heard of it.
    change(&mut room, |s| s.capacity = 1_000);
    let settled = room.now + 120_000;
    room.run_until(settled);
    let share = pace(&mut room) / 25.0;
    assert!((40.0 / 45.5..=1.0).contains(&share), "{share}");
}

/// The same crowd as meets the embedded platform, and other rates: people who stay for a
/// moment, so that the rate alone limits the flow, and a controller that is late at times.
#[test]
fn the_flow_keeps_any_rate_though_most_never_come_and_steps_come_late() {
    let habits = Habits {
        fans: 0.0,
        show_up: |_| 0.3,
        stays_ms: |_| 3_000,
    };
    for (rate, sleepy) in [(4, 0.0), (10, 0.0), (10, 0.25), (40, 0.0), (40, 0.25)] {
        let people = rate as usize * 600;
        let arrivals = spread(people, SINCE, OPENS - SINCE);
        let mut room = Room::new(settings(RoomOrder::Lottery, 500, rate), &arrivals, &habits);
        room.sleepy = sleepy;
        room.run_until(OPENS + 30_000);
        let paces = [pace(&mut room), pace(&mut room)];
        println!("{rate} a second, late {sleepy}: {paces:?}");
        for pace in paces {
            let share = pace / f64::from(rate);
            assert!(
                (0.9..=1.1).contains(&share),
                "{rate}, late {sleepy}: {pace}"
            );
        }
    }
}

/// Which gate a lot meets is chance, and must not decide how long its owner stands there.
#[test]
fn at_a_small_rate_every_gate_lets_its_people_in_alike() {
    for rate in [1, 2, 4] {
        let habits = Habits {
            fans: 0.0,
            show_up: |_| 1.0,
            stays_ms: |_| 3_000,
        };
        let people = rate as usize * 1_000;
        let arrivals = spread(people, SINCE, OPENS - SINCE);
        let mut room = Room::new(settings(RoomOrder::Lottery, 500, rate), &arrivals, &habits);
        room.run_until(OPENS + 800_000);
        let mut waits = [const { Vec::new() }; 8];
        for person in &room.people {
            if let (Some(reached), Some(entered)) = (person.reached, person.entered) {
                let gate = usize::from(GateIndex::of_lot(person.ticket.lot).number());
                waits[gate].push(entered.0.saturating_sub(reached.0) as f64 / 1_000.0);
            }
        }
        let means = waits.map(|waits: Vec<f64>| {
            assert!(waits.len() > people / 16, "{}", waits.len());
            waits.iter().sum::<f64>() / waits.len() as f64
        });
        println!("{rate} a second, seconds at each gate: {means:.1?}");
        let longest = means.iter().copied().fold(0.0, f64::max);
        let shortest = means.iter().copied().fold(f64::MAX, f64::min);
        assert!(longest < 2.0 * shortest, "{rate}: {means:.1?}");
        assert!(
            longest < 20.0 / f64::from(rate) + 12.0,
            "{rate}: {means:.1?}"
        );
    }
}

#[test]
fn a_line_of_abandoned_tickets_does_not_stall() {
    let mut arrivals = spread(100_000, SINCE, 500_000);
    arrivals.extend(spread(1_000, OPENS + 1_000, 10_000));
    let mut room = Room::new(settings(RoomOrder::Lottery, 500, 20), &arrivals, &ALL_COME);
    for ghost in &mut room.people[..100_000] {
        ghost.shows_up = false;
    }
    room.run_until(OPENS + 240_000);
    assert!(
        room.entries.len() > 100,
        "100,000 ghosts are passed in four minutes"
    );
}

#[test]
fn a_controller_restored_at_every_step_goes_on_as_if_nothing_had_happened() {
    let run = |restarts| {
        let mut room = lottery(6_000, settings(RoomOrder::Lottery, 500, 50));
        room.restarts = restarts;
        room.run_until(OPENS + 120_000);
        (room.controller.frontier(), room.entries.clone())
    };
    assert!(run(true) == run(false));
}

#[test]
fn the_frontier_never_goes_back_whatever_the_clock_does() {
    let mut room = lottery(60_000, settings(RoomOrder::Lottery, 5_000, 50));
    room.run_until(OPENS + 30_000);
    let mut chance = Chance(11);
    let mut controller = room.controller.clone();
    let mut before = controller.frontier();
    for _ in 0..2_000 {
        let now = OPENS + chance.below(200_000);
        controller.hear_cloud(&room.news, now);
        controller.tick(now);
        controller.tick(now);
        assert!(controller.frontier() >= before);
        before = controller.frontier();
    }
    let once = room.controller.clone();
    let mut repeated = once.clone();
    repeated.tick(room.now);
    assert_eq!(once, repeated);
}
