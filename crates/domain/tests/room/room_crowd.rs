//! A million visitors: is the lottery fair, is the line kept, does the rate hold, and are
//! the promises about waiting true?

use std::sync::OnceLock;

use onsale_domain::room::ticket::Band;
use onsale_domain::show::RoomOrder;
use onsale_domain::time::Millis;

use crate::chance::Chance;
use crate::crowd::{Habits, OPENS, Promise, Room, SINCE, settings};

const RATE: u32 = 500;

struct Outcome {
    room: Room,
    promises: Vec<Promise>,
    largest_published: usize,
}

/// 600,000 come before opening, 400,000 in the ten minutes after it, and seven in ten never
/// show up when it is their turn.
fn million() -> &'static Outcome {
    static OUTCOME: OnceLock<Outcome> = OnceLock::new();
    OUTCOME.get_or_init(|| {
        let habits = Habits {
            fans: 0.1,
            show_up: |_| 0.3,
            stays_ms: |chance| 20_000 + chance.below(80_000),
        };
        let arrivals = arrivals(600_000, 400_000);
        let room = Room::new(
            settings(RoomOrder::Lottery, 60_000, RATE),
            &arrivals,
            &habits,
        );
        watch(room, OPENS + 1_500_000)
    })
}

fn arrivals(early: usize, late: usize) -> Vec<Millis> {
    let mut chance = Chance(1);
    let early = (0..early).map(|_| SINCE + chance.below(OPENS - SINCE));
    let mut arrivals: Vec<Millis> = early.collect();
    arrivals.extend((0..late).map(|_| {
        // Most of the late ones come soon after opening.
        let share = chance.share();
        OPENS + (share * share * 600_000.0) as u64
    }));
    arrivals.sort();
    arrivals
}

fn watch(mut room: Room, end: Millis) -> Outcome {
    let mut promises = Vec::new();
    let mut largest_published = 0;
    while room.now < end && room.admitted < room.people.len() {
        room.step();
        if room.now.0.is_multiple_of(10_000) {
            let text = serde_json::to_string(&room.published).unwrap();
            largest_published = largest_published.max(text.len());
        }
        for _ in 0..20 {
            promises.extend(room.ask_someone());
        }
    }
    Outcome {
        room,
        promises,
        largest_published,
    }
}

fn chi_square(table: &[Vec<u64>]) -> f64 {
    let all: u64 = table.iter().flatten().sum();
    let columns: Vec<u64> = (0..table[0].len())
        .map(|c| table.iter().map(|row| row[c]).sum())
        .collect();
    let mut sum = 0.0;
    for row in table {
        let in_row: u64 = row.iter().sum();
        for (cell, in_column) in row.iter().zip(&columns) {
            let expected = in_row as f64 * *in_column as f64 / all as f64;
            sum += (*cell as f64 - expected).powi(2) / expected;
        }
    }
    sum
}

#[test]
fn the_lottery_does_not_depend_on_arrival() {
    let room = &million().room;
    let drawn: Vec<_> = room
        .people
        .iter()
        .filter(|p| p.ticket.bucket.0 == 0 && p.ticket.band == Band::Everybody)
        .collect();
    let mut order: Vec<usize> = (0..drawn.len()).collect();
    order.sort_by_key(|i| (drawn[*i].admitted.unwrap(), drawn[*i].draw));
    let mut table = vec![vec![0; 10]; 10];
    for (rank, arrival) in order.iter().enumerate() {
        table[arrival * 10 / drawn.len()][rank * 10 / drawn.len()] += 1;
    }
    let chi = chi_square(&table);
    println!("arrival against admission: chi-square {chi:.1} with 81 degrees of freedom");
    assert!(chi < 126.1, "{chi}: less likely than one in a thousand");
}

#[test]
fn draws_are_uniform() {
    let room = &million().room;
    for band in [Band::Fan, Band::Everybody] {
        let mut cells = vec![0u64; 100];
        for person in room.people.iter().filter(|p| p.ticket.band == band) {
            let share = person.draw.share_of_band();
            cells[((share * 100.0) as usize).min(99)] += 1;
        }
        let expected = cells.iter().sum::<u64>() as f64 / 100.0;
        let chi: f64 = cells
            .iter()
            .map(|cell| (*cell as f64 - expected).powi(2) / expected)
            .sum();
        println!("uniform draws of {band:?}: chi-square {chi:.1} with 99 degrees of freedom");
        assert!(chi < 148.2, "{chi}: less likely than one in a thousand");
    }
}

#[test]
fn fans_are_let_in_before_everybody_else_of_the_lottery() {
    let room = &million().room;
    let times = |band| {
        let lottery = room.people.iter().filter(move |p| p.ticket.bucket.0 == 0);
        lottery
            .filter(move |p| p.ticket.band == band)
            .map(|p| p.admitted.unwrap())
    };
    assert!(times(Band::Fan).max().unwrap() <= times(Band::Everybody).min().unwrap());
}

#[test]
fn nobody_is_overtaken_by_someone_who_came_two_seconds_later() {
    let people = &million().room.people;
    let late = people.partition_point(|p| p.arrived < OPENS);
    let latest_lottery = people[..late].iter().map(|p| p.admitted).max().unwrap();
    assert!(people[late..].iter().all(|p| p.admitted >= latest_lottery));
    // The earliest admission of anybody from here to the end of the arrivals.
    let mut earliest = vec![Millis(u64::MAX); people.len() + 1];
    for i in (late..people.len()).rev() {
        earliest[i] = earliest[i + 1].min(people[i].admitted.unwrap());
    }
    for person in &people[late..] {
        let two_later = people.partition_point(|p| p.arrived < person.arrived + 2_000);
        assert!(person.admitted.unwrap() <= earliest[two_later]);
    }
}

#[test]
fn no_shows_do_not_slow_the_line() {
    let room = &million().room;
    let last = *room.entries.last().unwrap();
    let mut from = OPENS + 30_000;
    while from + 60_000 < last.saturating_sub(30_000) {
        let per_second = room.entries_between(from, from + 60_000) as f64 / 60.0;
        println!(
            "from second {}: {per_second:.1} entries/s",
            (from - OPENS) / 1_000
        );
        let share = per_second / f64::from(RATE);
        assert!((0.9..=1.1).contains(&share), "{per_second}");
        from = from + 60_000;
    }
    assert!(from > OPENS + 300_000);
    println!(
        "refused {} of {} entries for a moment",
        room.refused,
        room.entries.len()
    );
}

#[test]
fn what_is_published_stays_small() {
    let largest = million().largest_published;
    println!("published: {largest} bytes at most");
    assert!(largest < 8_192);
}

fn coverage(outcome: &Outcome) -> (f64, f64, usize) {
    let people = &outcome.room.people;
    let judged: Vec<(bool, bool)> = outcome
        .promises
        .iter()
        .filter_map(|promise| {
            let waited = people[promise.person].admitted? - promise.at;
            let kept = |seconds: u32| waited <= u64::from(seconds) * 1_000;
            Some((kept(promise.p50), kept(promise.p90)))
        })
        .collect();
    let share = |kept: fn(&(bool, bool)) -> bool| {
        judged.iter().filter(|j| kept(j)).count() as f64 / judged.len() as f64
    };
    (share(|j| j.0), share(|j| j.1), judged.len())
}

#[test]
fn nine_in_ten_promises_about_waiting_are_kept() {
    let unsteady = Habits {
        fans: 0.0,
        show_up: |_| 0.5,
        // Half of all visits last longer than 70 s, one in twenty longer than five minutes.
        stays_ms: |chance| (-(1.0 - chance.share()).ln() * 100_000.0) as u64 + 1_000,
    };
    let long = settings(RoomOrder::Lottery, 2_000, 100);
    let long = Room::new(long, &arrivals(60_000, 40_000), &unsteady);
    let small = settings(RoomOrder::Fifo, 300, 20);
    let small = Room::new(small, &arrivals(5_000, 15_000), &unsteady);
    let end = OPENS + 12_000_000;
    for (name, outcome) in [
        ("a million, as fast as the rate allows", million()),
        ("100,000, as slots come free", &watch(long, end)),
        (
            "20,000 in order of arrival, as slots come free",
            &watch(small, end),
        ),
    ] {
        let (p50, p90, promises) = coverage(outcome);
        println!("{name}: p50 holds for {p50:.3}, p90 for {p90:.3} of {promises}");
        assert!((0.85..=0.95).contains(&p90), "{name}: {p90}");
    }
}
