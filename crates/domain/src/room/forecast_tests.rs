use super::*;

fn room(capacity: u32, ends: Vec<(f64, f64)>, people: f64) -> Inside {
    Inside {
        capacity,
        rate_per_second: 10,
        pass_seconds: 300,
        live: ends.iter().map(|(_, people)| people).sum(),
        ends,
        leaving_per_second: 0.001,
        renewing: 0.0,
        begins_s: 0.0,
        people,
    }
}

#[test]
fn the_next_waits_until_the_pass_ends_and_no_longer_than_is_possible() {
    let forecast = Forecast::of(&room(1, vec![(200.0, 1.0)], 2.0));
    let next = forecast.seconds(1.0).unwrap();
    assert!(
        next.p50 <= next.p90 && (195.0..=215.0).contains(&next.p90),
        "{next:?}"
    );
    let after = forecast.seconds(2.0).unwrap();
    assert!((350.0..=530.0).contains(&after.p90), "{after:?}");
    // Passes that are always renewed end after fifteen minutes all the same.
    let renewed = Inside {
        renewing: 1.0,
        leaving_per_second: 0.0,
        ..room(1, vec![(200.0, 1.0)], 1.0)
    };
    let forecast = Forecast::of(&renewed);
    assert!(
        forecast
            .seconds(1.0)
            .is_none_or(|next| next.p90 <= 15.0 * 60.0 + 5.0)
    );
}

#[test]
fn free_slots_are_taken_at_the_rate() {
    let forecast = Forecast::of(&room(1_000, vec![], 500.0));
    let last = forecast.seconds(500.0).unwrap();
    assert!((50.0..=55.0).contains(&last.p50), "{last:?}");
    assert!(last.p90 < 60.0, "{last:?}");
}

#[test]
fn a_line_that_is_longer_than_was_thought_ahead_goes_on_as_before() {
    let ends: Vec<_> = (1..=30).map(|n| (f64::from(n) * 10.0, 10.0)).collect();
    let forecast = Forecast::of(&room(300, ends, 1e6));
    let (near, far) = (
        forecast.seconds(1e3).unwrap(),
        forecast.seconds(1e5).unwrap(),
    );
    assert!(
        (80.0..=120.0).contains(&(far.p50 / near.p50)),
        "{near:?} {far:?}"
    );
}
