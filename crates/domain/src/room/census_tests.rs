use super::*;
use proptest::prelude::*;

fn tally(fans: u64, others: u64) -> Tally {
    Tally { fans, others }
}

fn report(counter: u8, bucket: u32, fans: u64, others: u64) -> CounterReport {
    CounterReport {
        counter,
        totals: vec![(Bucket(bucket), tally(fans, others))],
        ..CounterReport::default()
    }
}

fn census(buckets: &[(u32, u64, u64)]) -> Census {
    let mut census = Census::default();
    for (bucket, fans, others) in buckets {
        census.count(&report(0, *bucket, *fans, *others), Bucket(1_000_000));
    }
    census
}

const START: Frontier = Frontier {
    bucket: Bucket(0),
    through: Draw(0),
};

#[test]
fn the_frontier_moves_by_as_many_as_wanted_fans_first() {
    let census = census(&[(0, 100, 900), (5, 0, 50)]);
    let (at, _) = census.advance(START, 50.0, Bucket(9));
    assert_eq!((at.bucket, at.through.band()), (Bucket(0), Band::Fan));
    assert!((census.admitted(at) - 50.0).abs() < 0.001);
    let (at, _) = census.advance(at, 500.0, Bucket(9));
    assert_eq!((at.bucket, at.through.band()), (Bucket(0), Band::Everybody));
    assert!((census.admitted(at) - 550.0).abs() < 0.001);
    let (at, unused) = census.advance(at, 475.0, Bucket(9));
    assert_eq!((at.bucket, unused), (Bucket(5), 0.0));
    assert!((census.admitted(at) - 1_025.0).abs() < 0.001);
}

#[test]
fn the_frontier_stops_at_the_last_closed_bucket() {
    let census = census(&[(3, 0, 10), (4, 0, 10)]);
    let (at, unused) = census.advance(START, 15.0, Bucket(3));
    assert_eq!(
        at,
        Frontier {
            bucket: Bucket(3),
            through: Draw::LAST
        }
    );
    assert!((unused - 5.0).abs() < 0.001);
    assert_eq!(census.advance(at, 15.0, Bucket(2)).0, at);
    assert_eq!(census.advance(at, 0.0, Bucket(4)).0, at);
}

#[test]
fn counters_add_up_and_the_past_is_folded() {
    let mut census = Census::default();
    census.count(&report(0, 7, 1, 2), Bucket(8));
    census.count(&report(1, 7, 10, 20), Bucket(8));
    assert_eq!(census.tally(Bucket(7)), tally(11, 22));
    census.count(&report(MAX_COUNTERS, 7, 10, 20), Bucket(8));
    census.count(&report(0, 99, 10, 20), Bucket(8));
    assert_eq!(census.joined(), 33);
    census.settle(Bucket(8), Bucket(8));
    assert_eq!((census.behind(), census.joined()), (33, 33));
    census.count(&report(0, 7, 50, 50), Bucket(8));
    assert_eq!(
        census.joined(),
        33,
        "behind the frontier nobody is counted twice"
    );
}

#[test]
fn the_lottery_is_counted_until_the_frontier_has_passed_it() {
    let mut census = Census::default();
    census.count(&report(0, 0, 0, 5), Bucket(0));
    census.settle(Bucket(0), Bucket(100_000));
    census.count(&report(0, 0, 0, 9), Bucket(100_000));
    assert_eq!(census.joined(), 9);
}

#[test]
fn somebody_counted_late_begins_a_line_of_nobody_and_no_other() {
    let mut census = Census::default();
    census.settle(Bucket(0), Bucket(500));
    census.count(&report(0, 7, 0, 1), Bucket(500));
    assert_eq!(census.joined(), 1);
    census.settle(Bucket(0), Bucket(500));
    census.count(&report(0, 7, 0, 1), Bucket(500));
    census.count(&report(1, 8, 0, 5), Bucket(500));
    assert_eq!(census.joined(), 1);
}

#[test]
fn a_line_of_days_is_remembered_coarsely_and_completely() {
    let mut census = Census::default();
    for bucket in 1..40_000 {
        census.count(&report(0, bucket, 0, 1), Bucket(bucket));
        census.settle(Bucket(0), Bucket(bucket));
    }
    assert_eq!(census.joined(), 39_999);
    assert!(census.settled.len() <= MAX_BUCKETS && census.fresh.len() < 130);
    let (at, _) = census.advance(START, 20_000.0, Bucket(40_000));
    assert!((19_900..=20_100).contains(&at.bucket.0), "{at:?}");
}

proptest! {
    #[test]
    fn repeated_and_reordered_reports_change_nothing(
        reports in prop::collection::vec((0u8..4, 0u32..5, 0u64..100, 0u64..100), 1..40),
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..80),
    ) {
        let reports: Vec<_> = reports.iter().map(|(c, b, f, o)| report(*c, *b, *f, *o)).collect();
        let mut once = Census::default();
        reports.iter().for_each(|r| once.count(r, Bucket(9)));
        let mut twice = Census::default();
        order.iter().for_each(|i| twice.count(i.get(&reports), Bucket(9)));
        reports.iter().rev().for_each(|r| twice.count(r, Bucket(9)));
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn the_frontier_only_moves_forward_and_by_what_was_wanted(
        buckets in prop::collection::vec((0u32..30, 0u64..1_000, 0u64..1_000), 1..20),
        wants in prop::collection::vec(0.0f64..700.0, 1..20), last in 0u32..30,
    ) {
        let census = census(&buckets);
        let mut at = START;
        for want in wants {
            let (next, unused) = census.advance(at, want, Bucket(last));
            prop_assert!(next >= at);
            prop_assert!(next.bucket <= Bucket(last));
            let moved = census.admitted(next) - census.admitted(at);
            prop_assert!((moved + unused - want).abs() < 0.01, "{} {} {}", moved, unused, want);
            at = next;
        }
    }
}
