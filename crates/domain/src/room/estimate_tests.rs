use super::*;

const NOW: Millis = Millis(1_800_000_000_000);
const FLOW: Flow = Flow {
    quick_tickets: 100,
    quick_milli_per_second: 50_000,
    steady_milli_per_second: 2_000,
};

/// Lets a line move `speed` times as fast as forecast.
fn run(speed: impl Fn(u64) -> f64, seconds: u64, waiting: f64) -> Stretch {
    let flow = Flow {
        quick_tickets: 0,
        quick_milli_per_second: 0,
        steady_milli_per_second: 10_000,
    };
    let mut calibration = Calibration::default();
    let mut admitted = 0.0;
    for second in 0..seconds {
        admitted += 10.0 * speed(second);
        calibration.observe(NOW + second * 1_000, admitted, waiting, &flow);
    }
    calibration.spread(NOW + seconds * 1_000).far
}

#[test]
fn the_first_go_quickly_and_the_rest_as_slots_return() {
    assert_eq!(FLOW.seconds(49), Some(1.0));
    assert_eq!(FLOW.seconds(99), Some(2.0));
    assert_eq!(FLOW.seconds(299), Some(102.0));
    let standing = Flow {
        steady_milli_per_second: 0,
        ..FLOW
    };
    assert_eq!(standing.seconds(99), Some(2.0));
    assert_eq!(standing.seconds(100), None);
}

#[test]
fn the_promise_is_never_below_the_middle() {
    let stretch = Stretch {
        p50_permille: 1_500,
        p90_permille: 1_200,
    };
    let spread = Spread {
        near: stretch,
        far: stretch,
    };
    assert_eq!(
        Wait::estimate(299, &FLOW, spread),
        Some(Wait { p50: 153, p90: 153 })
    );
    assert_eq!(Wait::estimate(0, &FLOW, spread).map(|w| w.p50), Some(1));
}

#[test]
fn forecasts_are_stretched_by_as_much_as_they_were_off() {
    let exact = run(|_| 1.0, 600, 1_000.0);
    assert!((980..=1_020).contains(&exact.p50_permille), "{exact:?}");
    assert!((980..=1_060).contains(&exact.p90_permille), "{exact:?}");
    let slow = run(|_| 0.5, 600, 1_000.0);
    assert!((1_900..=2_100).contains(&slow.p50_permille), "{slow:?}");
    let uneven = run(
        |second| if second / 40 % 2 == 0 { 0.2 } else { 1.8 },
        1_200,
        1_000.0,
    );
    assert!(
        uneven.p90_permille > uneven.p50_permille + 100,
        "{uneven:?}"
    );
}

#[test]
fn a_line_that_slows_down_is_noticed_before_anybody_gets_through() {
    let stalled = run(|second| if second < 300 { 1.0 } else { 0.01 }, 500, 1_000.0);
    assert!(stalled.p90_permille > 1_500, "{stalled:?}");
}

#[test]
fn an_interruption_teaches_nothing() {
    let mut calibration = Calibration::default();
    let before = calibration.spread(NOW);
    calibration.observe(NOW, 0.0, 1_000.0, &FLOW);
    calibration.interrupt();
    assert_eq!(calibration.spread(NOW + 9_000_000), before);
    for Stretch {
        p50_permille,
        p90_permille,
    } in [before.near, before.far]
    {
        assert!((850..=950).contains(&p50_permille), "{before:?}");
        assert!((1_000..=1_100).contains(&p90_permille), "{before:?}");
    }
}

#[test]
fn in_a_long_line_those_still_waiting_do_not_count_as_through() {
    let long = run(|_| 1.0, 600, 100_000.0);
    assert!(long.p50_permille > 900, "{long:?}");
}

#[test]
fn a_stretch_changes_smoothly_from_near_to_far() {
    let stretch = |permille| Stretch {
        p50_permille: permille,
        p90_permille: permille,
    };
    let spread = Spread {
        near: stretch(2_000),
        far: stretch(1_000),
    };
    let waits = |seconds| Wait::stretched(seconds, spread).p90;
    assert_eq!((waits(5.0), waits(10.0)), (10, 20));
    assert_eq!((waits(60.0), waits(600.0)), (60, 600));
    let all: Vec<u32> = (1..=120).map(|s| waits(f64::from(s))).collect();
    let furthest = all.windows(2).map(|pair| pair[1].abs_diff(pair[0])).max();
    assert!(furthest <= Some(2), "{all:?}");
}

/// Lets a line move at a speed that changes every so often, and returns how many of the
/// promises to whoever stands at the end of a hundred seconds were kept.
fn kept(speed: impl Fn(u64) -> f64, seconds: u64) -> f64 {
    let flow = Flow {
        quick_tickets: 0,
        quick_milli_per_second: 0,
        steady_milli_per_second: 10_000,
    };
    let mut calibration = Calibration::default();
    let mut line = vec![0.0];
    let mut promises = Vec::new();
    for second in 0..seconds {
        let admitted = line[second as usize] + 10.0 * speed(second);
        line.push(admitted);
        let now = NOW + second * 1_000;
        calibration.observe(now, admitted, 1_000.0, &flow);
        let wait = Wait::estimate(1_000, &flow, calibration.spread(now)).unwrap();
        promises.push((admitted + 1_000.0, second + u64::from(wait.p90)));
    }
    let outcomes = promises.iter().filter_map(|(through, until)| {
        let at = line.iter().position(|admitted| admitted >= through)? as u64;
        Some(at.saturating_sub(1) <= *until)
    });
    let outcomes: Vec<bool> = outcomes.collect();
    outcomes.iter().filter(|kept| **kept).count() as f64 / outcomes.len() as f64
}

#[test]
fn promises_are_kept_nine_times_in_ten_while_the_speed_goes_up_and_down() {
    let speed = |second| if second / 240 % 2 == 0 { 0.7 } else { 1.3 };
    let share = kept(speed, 7_200);
    assert!((0.85..=0.95).contains(&share), "{share}");
}

#[test]
fn a_line_that_gets_slower_for_two_hours_breaks_more_promises_but_not_most() {
    let share = kept(|second| 1.5 - second as f64 / 7_200.0, 7_200);
    assert!((0.75..=0.95).contains(&share), "{share}");
}
