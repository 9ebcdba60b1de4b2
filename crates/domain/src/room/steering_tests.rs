use super::*;

const NOW: Millis = Millis(1_800_000_000_000);
const LIMITS: Limits = Limits {
    capacity: 100_000,
    rate_per_second: 100,
    pass_seconds: 300,
    free_seats: None,
};

/// Runs a line in which this share shows up two seconds later, and returns what is wanted
/// in the end and how many entered.
fn run(share: f64, seconds: u64, limits: &Limits) -> (f64, Turnout) {
    let mut steering = Steering::default();
    let mut turnout = Turnout::default();
    let mut coming = VecDeque::from([0.0, 0.0]);
    let mut wanted = 0.0;
    for second in 0..seconds {
        let now = NOW + second * 1_000;
        let arriving = coming.pop_front().unwrap() + turnout.waiting as f64;
        let free = u64::from(limits.capacity) - turnout.live;
        let entering = (arriving as u64).min(100).min(free);
        turnout.entered += entering;
        turnout.live += entering;
        turnout.waiting = arriving as u64 - entering;
        steering.learn(now, 1_000, turnout, limits, true);
        wanted = steering.wanted(now, 1_000, limits);
        steering.admitted(now, wanted);
        coming.push_back(wanted * share);
    }
    (wanted, turnout)
}

#[test]
fn the_fewer_show_up_the_more_are_let_in() {
    for share in [1.0, 0.3, 0.1] {
        let (wanted, turnout) = run(share, 120, &LIMITS);
        assert!(
            (0.85..1.2).contains(&(wanted * share / 100.0)),
            "{share}: {wanted}"
        );
        assert!(turnout.entered > 10_000, "{share}: {turnout:?}");
        assert!(turnout.waiting < 150, "{share}: {turnout:?}");
    }
}

#[test]
fn a_line_of_ghosts_moves_fast_but_not_at_once() {
    let (wanted, _) = run(0.0, 120, &LIMITS);
    assert!((4_000.0..=5_300.0).contains(&wanted), "{wanted}");
}

#[test]
fn nobody_is_let_in_for_slots_or_seats_that_are_not_there() {
    let full = Limits {
        capacity: 500,
        ..LIMITS
    };
    let (wanted, turnout) = run(1.0, 60, &full);
    assert_eq!((wanted, turnout.live), (0.0, 500));
    assert!(turnout.waiting <= 10, "{turnout:?}");
    let few = Limits {
        free_seats: Some(7),
        ..LIMITS
    };
    let steering = Steering::default();
    assert!((steering.wanted(NOW, 1_000, &few) * FIRST_SHARE - 7.0).abs() < 0.001);
}

#[test]
fn a_backlog_at_the_gates_is_worked_off_first() {
    let mut steering = Steering::default();
    let waiting = Turnout {
        waiting: 400,
        ..Turnout::default()
    };
    steering.learn(NOW, 1_000, waiting, &LIMITS, true);
    assert_eq!(steering.wanted(NOW, 1_000, &LIMITS), 0.0);
}

#[test]
fn going_straight_through_teaches_nothing_about_no_shows() {
    let mut steering = Steering::default();
    let many = Turnout {
        entered: 500,
        ..Turnout::default()
    };
    steering.admitted(NOW, 100.0);
    steering.learn(NOW + 5_000, 1_000, many, &LIMITS, false);
    assert_eq!(steering.share(), FIRST_SHARE);
}

#[test]
fn slots_come_back_as_measured_and_at_first_as_if_visits_lasted_half_a_pass() {
    let limits = Limits {
        capacity: 300,
        ..LIMITS
    };
    let mut steering = Steering::default();
    assert!((steering.sustained_per_second(&limits) - 2.0).abs() < 0.001);
    for second in 1..=300 {
        let turnout = Turnout {
            live: 300,
            returned: 5 * second,
            ..Turnout::default()
        };
        steering.learn(NOW + second * 1_000, 1_000, turnout, &limits, true);
    }
    let measured = steering.sustained_per_second(&limits);
    assert!((measured - 5.0).abs() < 0.05, "{measured}");
    assert_eq!(steering.free_slots(NOW, 310), 10.0);
}

/// A room in which visits end by chance, after a hundred seconds on average.
#[test]
fn those_still_inside_tell_how_long_visits_last_before_the_room_is_full() {
    let limits = Limits {
        capacity: 10_000,
        ..LIMITS
    };
    let mut steering = Steering::default();
    let mut turnout = Turnout::default();
    for second in 1..=60 {
        let leave = turnout.live / 100;
        turnout.returned += leave;
        turnout.entered += 100;
        turnout.live = turnout.live + 100 - leave;
        steering.learn(NOW + second * 1_000, 1_000, turnout, &limits, true);
    }
    assert!(turnout.live < 5_000);
    // The visits that have ended lasted less than thirty seconds on average.
    let foretold = steering.sustained_per_second(&limits);
    assert!((75.0..=105.0).contains(&foretold), "{foretold}");
}

#[test]
fn whoever_is_slow_at_first_is_not_taken_for_gone() {
    let mut steering = Steering::default();
    for second in 0..10 {
        let now = NOW + second * 1_000;
        steering.learn(now, 1_000, Turnout::default(), &LIMITS, true);
        let wanted = steering.wanted(now, 1_000, &LIMITS);
        assert!(wanted < 350.0, "{second}: {wanted}");
        steering.admitted(now, wanted);
    }
}
