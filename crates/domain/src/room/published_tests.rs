use super::*;
use crate::room::census::CounterReport;
use crate::room::estimate::Calibration;
use crate::room::ticket::Band;
use crate::show::RoomOrder;

const NOW: Millis = Millis(1_800_000_000_000);

fn published(buckets: &[(u32, u64, u64)], frontier: Frontier) -> Published {
    let mut census = Census::default();
    for (bucket, fans, others) in buckets {
        let total = (
            Bucket(*bucket),
            Tally {
                fans: *fans,
                others: *others,
            },
        );
        let report = CounterReport {
            counter: 0,
            totals: vec![total],
            ..CounterReport::default()
        };
        census.count(&report, Bucket(1_000_000));
    }
    census.settle(frontier.bucket, Bucket(0));
    Published {
        show: ShowId::from_bytes([1; 16]),
        revision: 1,
        now: NOW,
        opening: Opening {
            opens: Some(NOW),
            order: RoomOrder::Lottery,
            since: NOW,
        },
        beacon: Beacon::Known {
            name: "ü".repeat(100),
            value: vec![0xff; 64],
        },
        beacon_in_time: true,
        mode: RoomMode::QueueAll,
        rate_per_second: 10,
        arrivals_per_second: 0,
        ends: crate::time::LAST_MOMENT,
        pass_seconds: 300,
        frontier,
        straight_through: false,
        straight_until: None,
        paused: false,
        sold_out: false,
        line: Line::of(&census),
        door: Door::default(),
        share_permille: 1_000,
        cautious_share_permille: 1_000,
        forecast: Forecast::default(),
        spread: Calibration::default().spread(NOW),
        promises: Calibration::default().promises(),
    }
}

fn everybody(share: f64) -> Draw {
    Draw::at_share(Band::Everybody, share)
}

#[test]
fn the_people_ahead_are_those_between_the_frontier_and_the_ticket() {
    let at = Frontier {
        bucket: Bucket(0),
        through: everybody(0.5),
    };
    let published = published(&[(0, 100, 1_000), (7, 0, 50), (8, 0, 70)], at);
    assert_eq!(published.ahead(Bucket(0), everybody(0.75)), 249);
    assert_eq!(published.position(Bucket(0), everybody(0.75)), 250);
    assert_eq!(published.total_waiting(), 620);
    assert_eq!(published.ahead(Bucket(0), Draw(0)), 0);
    assert_eq!(published.ahead(Bucket(7), everybody(1.0)), 549);
    assert_eq!(published.ahead(Bucket(8), everybody(0.5)), 584);
}

#[test]
fn those_at_the_door_count_for_everybody_behind_them() {
    let at = Frontier {
        bucket: Bucket(0),
        through: everybody(0.5),
    };
    let mut published = published(&[(0, 0, 1_000)], at);
    let knockers: Vec<Knocker> = (1..=200)
        .map(|n| Knocker {
            place: Place {
                bucket: Bucket(0),
                draw: everybody(f64::from(n) / 1_000.0),
            },
            gate: 0,
        })
        .collect();
    published.door = Door::of(200, 0, &knockers);
    assert!(published.door.places.len() <= MAX_AT_DOOR);
    assert_eq!(published.ahead(Bucket(0), everybody(0.501)), 200);
    assert_eq!(published.total_waiting(), 700);
    let middle = published.ahead(Bucket(0), everybody(0.1));
    assert!(middle.abs_diff(100) <= 4, "{middle}");
}

#[test]
fn fans_count_before_the_others_of_their_bucket() {
    let start = Frontier::default();
    let published = published(&[(0, 100, 1_000), (7, 50, 50)], start);
    assert_eq!(
        published.position(Bucket(0), Draw::at_share(Band::Fan, 0.5)),
        50
    );
    assert_eq!(published.position(Bucket(0), everybody(0.001)), 101);
    assert_eq!(
        published.position(Bucket(7), Draw::at_share(Band::Fan, 1.0)),
        1_150
    );
    assert_eq!(published.position(Bucket(7), everybody(0.5)), 1_175);
}

#[test]
fn ten_million_visitors_over_an_hour_fit_into_eight_kilobytes() {
    // Six million before opening, and a wave that ebbs away over the hour.
    let wave = |s: u64| 8_000 * (3_600 - s) / 3_600 + s * 7_919 % 613;
    let mut buckets = vec![(0, 500_000, 5_500_000)];
    buckets.extend((0..3_600).map(|s| (1_000_000 + s as u32, 3, wave(s))));
    let mut census = Census::default();
    for (bucket, fans, others) in &buckets {
        let total = (
            Bucket(*bucket),
            Tally {
                fans: *fans,
                others: *others,
            },
        );
        let report = CounterReport {
            counter: 0,
            totals: vec![total],
            ..CounterReport::default()
        };
        census.count(&report, Bucket(2_000_000));
    }
    let people = census.joined();
    assert!(people > 10_000_000);
    let published = Published {
        line: Line::of(&census),
        ..published(
            &[],
            Frontier {
                bucket: Bucket(0),
                through: Draw(u64::MAX / 3),
            },
        )
    };
    let text = serde_json::to_string(&published).unwrap();
    println!(
        "{} bytes, {} knots",
        text.len(),
        published.line.knots().len()
    );
    assert!(text.len() < 8_192, "{}", text.len());
    assert!(published.line.knots().len() <= MAX_KNOTS);
    assert_eq!(serde_json::from_str::<Published>(&text).unwrap(), published);
    let mut before = 0;
    for (bucket, fans, others) in buckets {
        let told = published.line.before(Bucket(bucket));
        let off = (told - before as f64).abs() / people as f64;
        assert!(off < 0.001, "{bucket}: {told} instead of {before}");
        before += fans + others;
    }
}

#[test]
fn an_empty_line_has_nobody_ahead() {
    let published = published(&[], Frontier::default());
    assert_eq!(published.ahead(Bucket(9), Draw::LAST), 0);
    assert_eq!(published.line.joined(), 0);
}
