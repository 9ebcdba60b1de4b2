//! One tap, n neighbours: the vectors that the seat page is tested against as well.

use onsale_domain::neighbours::{Reason, Refusal, Seat, TappedRow};
use serde::Deserialize;

const VECTORS: &str = include_str!("../vectors/neighbours.json");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    name: String,
    /// `.` free, `a` free and kept for people who ask, `#` taken.
    row: String,
    #[serde(default)]
    aisles: Vec<usize>,
    tapped: usize,
    quantity: usize,
    #[serde(default)]
    asked: bool,
    expect: Expected,
}

#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Expected {
    first: Option<usize>,
    reason: Option<String>,
    refused: Option<String>,
    together: Option<usize>,
}

fn seats(row: &str) -> Vec<Seat> {
    let seat = |c| match c {
        '.' => Seat::Free,
        'a' => Seat::Kept,
        '#' => Seat::Taken,
        other => panic!("{other:?} is no seat"),
    };
    row.chars().map(seat).collect()
}

fn vectors() -> Vec<Vector> {
    serde_json::from_str(VECTORS).unwrap()
}

fn answer(vector: &Vector) -> Expected {
    let row = TappedRow {
        seats: &seats(&vector.row),
        aisles: &vector.aisles,
        asked: vector.asked,
    };
    match row.snap(vector.tapped, vector.quantity) {
        Ok(snap) => Expected {
            first: Some(snap.first),
            reason: snap.reason.map(|reason| reason.code().to_owned()),
            ..Expected::default()
        },
        Err(Refusal::NotFree) => Expected {
            refused: Some("not_free".into()),
            ..Expected::default()
        },
        Err(Refusal::TooFew(together)) => Expected {
            refused: Some("too_few".into()),
            together: Some(together),
            ..Expected::default()
        },
    }
}

#[test]
fn every_vector_is_answered_as_it_says() {
    let vectors = vectors();
    assert!(vectors.len() >= 60, "{}", vectors.len());
    for vector in vectors {
        assert_eq!(answer(&vector), vector.expect, "{}", vector.name);
    }
}

#[test]
fn a_window_is_free_holds_no_aisle_and_leaves_no_single_seat_that_could_be_avoided() {
    // Every row of up to nine seats, with and without an aisle in its middle.
    for len in 1..=9usize {
        for taken in 0..1u32 << len {
            let row: Vec<Seat> = (0..len)
                .map(|at| match taken >> at & 1 {
                    0 => Seat::Free,
                    _ => Seat::Taken,
                })
                .collect();
            for aisles in [vec![], vec![len / 2]] {
                check_row(&row, &aisles);
            }
        }
    }
}

fn check_row(seats: &[Seat], aisles: &[usize]) {
    let row = TappedRow {
        seats,
        aisles,
        asked: false,
    };
    let is_window = |first: usize, quantity: usize| {
        let end = first + quantity;
        let free = seats
            .get(first..end)
            .is_some_and(|window| window.iter().all(|seat| *seat == Seat::Free));
        free && !aisles.iter().any(|aisle| first < *aisle && *aisle < end)
    };
    for tapped in 0..seats.len() {
        for quantity in 1..=4 {
            match row.snap(tapped, quantity) {
                Ok(snap) => {
                    assert!(is_window(snap.first, quantity), "{seats:?} {aisles:?}");
                    let near = tapped.abs_diff(snap.first) <= quantity;
                    assert!(near, "{seats:?} {aisles:?} {tapped} {quantity}");
                    let alone =
                        |at: usize| is_window(at, 1) && !pairs(at).any(|at| is_window(at, 2));
                    let whole = (0..seats.len()).filter(|at| alone(*at)).count();
                    let after = singles_after(seats, aisles, snap.first, quantity);
                    let expected = whole + usize::from(snap.reason == Some(Reason::SingleLeft));
                    let taken_alone = usize::from(quantity == 1 && alone(snap.first));
                    assert_eq!(
                        after,
                        expected - taken_alone,
                        "{seats:?} {tapped} {quantity}"
                    );
                }
                Err(Refusal::NotFree) => assert_eq!(seats[tapped], Seat::Taken),
                Err(Refusal::TooFew(together)) => assert!(together < quantity),
            }
        }
    }
}

/// Where a pair that has this seat in it may begin.
fn pairs(at: usize) -> impl Iterator<Item = usize> {
    at.saturating_sub(1)..=at
}

/// The free seats without a free neighbour once this window is gone.
fn singles_after(seats: &[Seat], aisles: &[usize], first: usize, quantity: usize) -> usize {
    let mut left = seats.to_vec();
    left[first..first + quantity].fill(Seat::Taken);
    let free = |at: usize| left.get(at) == Some(&Seat::Free);
    let joined = |at: usize| free(at) && free(at + 1) && !aisles.contains(&(at + 1));
    (0..left.len())
        .filter(|at| free(*at) && !joined(*at) && !(*at > 0 && joined(*at - 1)))
        .count()
}
