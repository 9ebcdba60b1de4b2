use super::*;

const NOW: Millis = Millis(1_800_000_000_000);
const LIMITS: Limits = Limits {
    capacity: 100_000,
    rate_per_second: 100,
    pass_seconds: 300,
    free_seats: None,
};

/// Runs a line in which this share shows up two seconds later, and returns how many were
/// wanted in the last second, and the turnout.
fn run(share: f64, seconds: u64, limits: &Limits) -> (f64, Turnout) {
    let mut steering = Steering::default();
    let mut turnout = Turnout::default();
    let mut coming = VecDeque::from([0.0, 0.0]);
    let mut wanted = 0.0;
    let mut arrived = 0.0;
    for second in 0..seconds {
        let now = NOW + second * 1_000;
        arrived += coming.pop_front().unwrap();
        turnout.knocked = arrived as u64;
        let at_door = turnout.knocked - turnout.entered;
        let free = u64::from(limits.capacity) - turnout.live;
        let entering = at_door.min(100).min(free);
        turnout.entered += entering;
        turnout.live += entering;
        turnout.waiting = at_door - entering;
        steering.learn(now, 1_000, turnout, limits, true);
        wanted = steering.wanted(now, limits);
        steering.reached(now, wanted);
        coming.push_back(wanted * share);
    }
    (wanted, turnout)
}

#[test]
fn the_fewer_show_up_the_more_are_reached() {
    for share in [1.0, 0.3, 0.1] {
        let (wanted, turnout) = run(share, 120, &LIMITS);
        assert!(
            (0.7..1.3).contains(&(wanted * share / 100.0)),
            "{share}: {wanted}"
        );
        assert!(turnout.entered > 10_000, "{share}: {turnout:?}");
        assert!(turnout.waiting < 700, "{share}: {turnout:?}");
    }
}

#[test]
fn a_line_of_ghosts_moves_fast_but_not_at_once() {
    let (wanted, _) = run(0.0, 120, &LIMITS);
    assert!((3_000.0..=10_050.0).contains(&wanted), "{wanted}");
}

#[test]
fn nobody_is_reached_for_slots_or_seats_that_are_not_there() {
    let full = Limits {
        capacity: 500,
        ..LIMITS
    };
    let (wanted, turnout) = run(1.0, 60, &full);
    assert_eq!((wanted, turnout.live), (0.0, 500));
    let few = Limits {
        free_seats: Some(7),
        ..LIMITS
    };
    let steering = Steering::default();
    assert!((steering.wanted(NOW, &few) * FIRST_SHARE - 7.0).abs() < 0.001);
}

#[test]
fn those_at_the_door_are_let_in_before_others_come() {
    // As many as enter in nine seconds, and a few for chance.
    let wanted = |waiting| {
        let mut steering = Steering::default();
        let turnout = Turnout {
            waiting,
            ..Turnout::default()
        };
        steering.learn(NOW, 1_000, turnout, &LIMITS, true);
        steering.wanted(NOW, &LIMITS) * FIRST_SHARE
    };
    assert_eq!(wanted(920), 0.0);
    assert!((100.0..=120.0).contains(&wanted(800)), "{}", wanted(800));
}

#[test]
fn going_straight_through_teaches_nothing_about_no_shows() {
    let mut steering = Steering::default();
    let many = Turnout {
        knocked: 500,
        ..Turnout::default()
    };
    steering.reached(NOW, 100.0);
    steering.learn(NOW + 5_000, 1_000, many, &LIMITS, false);
    assert_eq!(steering.share(), FIRST_SHARE);
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
        turnout.left += leave;
        turnout.live = turnout.live + 100 - leave;
        steering.learn(NOW + second * 1_000, 1_000, turnout, &limits, true);
    }
    // The visits that have ended lasted less than thirty seconds on average.
    let foretold = steering.leaving_per_second(&limits);
    assert!((0.005..=0.0105).contains(&foretold), "{foretold}");
}

#[test]
fn whoever_is_slow_at_first_is_not_taken_for_gone() {
    let mut steering = Steering::default();
    let mut reached = 0.0;
    for second in 0..10 {
        let now = NOW + second * 1_000;
        steering.learn(now, 1_000, Turnout::default(), &LIMITS, true);
        let wanted = steering.wanted(now, &LIMITS);
        steering.reached(now, wanted);
        reached += wanted;
    }
    assert!(reached < 6_000.0, "{reached}");
}

/// One in a hundred is quick, and the others take their ten seconds.
#[test]
fn a_few_who_are_quick_do_not_let_the_others_be_taken_for_gone() {
    let mut steering = Steering::default();
    let mut reached = 0.0;
    for second in 0..10 {
        let now = NOW + second * 1_000;
        let knocked = (reached / 100.0) as u64;
        let turnout = Turnout {
            knocked,
            waiting: knocked,
            ..Turnout::default()
        };
        steering.learn(now, 1_000, turnout, &LIMITS, true);
        let wanted = steering.wanted(now, &LIMITS);
        steering.reached(now, wanted);
        reached += wanted;
    }
    assert!(reached < 6_200.0, "{reached}");
}
