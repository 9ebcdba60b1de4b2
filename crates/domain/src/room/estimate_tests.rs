use super::*;
use crate::room::forecast::Inside;

const NOW: Millis = Millis(1_800_000_000_000);
/// A line of so many people a second.
fn line(people_per_second: u32) -> Forecast {
    Forecast::of(&Inside {
        capacity: 1_000_000,
        rate_per_second: people_per_second,
        pass_seconds: 300,
        live: 0.0,
        ends: vec![],
        leaving_per_second: 0.0,
        renewing: 0.0,
        begins_s: 0.0,
        people: 100_000.0,
    })
}

/// Somebody of whom it is certain how many come before them.
fn number(people: f64) -> Ahead {
    Ahead {
        expected: people,
        cautious: people,
    }
}

/// Whoever gets a slot has heard of it some seconds later, which forecasts reckon with.
const HANDOVER_S: usize = 3;

/// `line` is how many were let in until each second.
fn observe(calibration: &mut Calibration, now: Millis, line: &[f64], waiting: f64) {
    let forecast = &self::line(10);
    let before = line.len().saturating_sub(1 + HANDOVER_S);
    calibration.observe(
        now,
        &Progress {
            reached: line[line.len() - 1],
            admitted: line[before],
            waiting,
            at_door: 0.0,
            share: 1.0,
            cautious_share: 1.0,
            forecast,
        },
    );
}

/// Lets a line move `speed` times as fast as forecast.
fn run(speed: impl Fn(u64) -> f64, seconds: u64, waiting: f64) -> Stretch {
    let mut calibration = Calibration::default();
    let mut line = vec![0.0];
    for second in 0..seconds {
        line.push(line[second as usize] + 10.0 * speed(second));
        observe(&mut calibration, NOW + second * 1_000, &line, waiting);
    }
    calibration.spread(NOW + seconds * 1_000).far
}

#[test]
fn the_promise_is_never_below_the_middle_nor_above_what_is_possible() {
    let stretch = |p50_permille, p90_permille| {
        let stretch = Stretch {
            p50_permille,
            p90_permille,
        };
        Spread {
            near: stretch,
            far: stretch,
        }
    };
    let wait = Wait::estimate(number(1_000.0), &line(10), stretch(1_500, 1_200)).unwrap();
    assert_eq!(wait.p50, wait.p90);
    let next = Wait::estimate(number(1.0), &line(10), stretch(4_000, 4_000)).unwrap();
    assert!((1..=10).contains(&next.p90), "{next:?}");
}

#[test]
fn forecasts_are_stretched_by_as_much_as_they_were_off() {
    let exact = run(|_| 1.0, 600, 1_000.0);
    assert!((980..=1_020).contains(&exact.p50_permille), "{exact:?}");
    assert!((940..=1_060).contains(&exact.p90_permille), "{exact:?}");
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
    observe(&mut calibration, NOW, &[0.0], 1_000.0);
    calibration.interrupt();
    assert_eq!(calibration.spread(NOW + 9_000_000), before);
    for Stretch {
        p50_permille,
        p90_permille,
    } in [before.near, before.far]
    {
        assert!((950..=1_050).contains(&p50_permille), "{before:?}");
        assert!((950..=1_050).contains(&p90_permille), "{before:?}");
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
    let waits = |seconds| {
        let expected = Expected {
            p50: seconds,
            p90: seconds,
        };
        Wait::stretched(expected, spread).p90
    };
    assert_eq!((waits(5.0), waits(10.0)), (10, 20));
    assert_eq!((waits(60.0), waits(600.0)), (60, 600));
    let all: Vec<u32> = (1..=120).map(|s| waits(f64::from(s))).collect();
    let furthest = all.windows(2).map(|pair| pair[1].abs_diff(pair[0])).max();
    assert!(furthest <= Some(2), "{all:?}");
}

/// Lets a line move at a speed that changes every so often, and returns how many of the
/// promises to whoever stands at the end of a hundred seconds were kept.
fn kept(speed: impl Fn(u64) -> f64, seconds: u64) -> f64 {
    let forecast = line(10);
    let mut calibration = Calibration::default();
    let mut line = vec![0.0];
    let mut promises = Vec::new();
    for second in 0..seconds {
        let admitted = line[second as usize] + 10.0 * speed(second);
        line.push(admitted);
        let now = NOW + second * 1_000;
        observe(&mut calibration, now, &line, 1_000.0);
        let wait = Wait::estimate(number(1_000.0), &forecast, calibration.spread(now)).unwrap();
        promises.push((admitted + 1_000.0, second + u64::from(wait.p90)));
    }
    let outcomes = promises.iter().filter_map(|(through, until)| {
        let at = line.iter().position(|admitted| admitted >= through)? as u64;
        Some((at + HANDOVER_S as u64).saturating_sub(1) <= *until)
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

/// Those at its very end fare worst: they are judged by all who wait for longer than half a
/// minute, and forecasts for the front are the more cautious for their length.
#[test]
fn a_line_that_gets_slower_for_two_hours_breaks_more_promises_but_not_most() {
    let share = kept(|second| 1.5 - second as f64 / 7_200.0, 7_200);
    assert!((0.6..=0.95).contains(&share), "{share}");
}
