//! What a challenge costs us, and what it costs whoever solves it natively.
//!
//! Prints one row a case: name, median, p99 and slowest in µs.
#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark reads the clock; the rules do not"
)]

use std::hint::black_box;
use std::time::Instant;

use onsale_domain::ids::{ShowId, VisitorId};
use onsale_domain::time::Millis;
use onsale_domain::work::{
    Challenge, Cost, TRIES, Terms, WorkEntropy, WorkKeys, issue, payload, verify,
};

const NOW: Millis = Millis(1_800_000_000_000);

fn main() {
    let keys: WorkKeys = "a-secret-of-this-benchmark-and-no-other"
        .parse()
        .expect("a sound key");
    let terms = Terms {
        show: ShowId::from_bytes([1; 16]),
        visitor: VisitorId::from_bytes([2; 16]),
        expires: NOW + 300_000,
    };
    for (name, cost) in [("floor", Cost::FLOOR), ("ceiling", Cost::CEILING)] {
        let challenge = issue(&terms, cost, &worst_luck(), &keys);
        let solution = challenge.solve(0..TRIES).expect("it was planted");
        let text = payload(&challenge, &solution);
        // The same challenge for another show, under the signature it had.
        let other_show = ShowId::from_bytes([9; 16]).to_string();
        let forged = challenge
            .to_json()
            .replace(&terms.show.to_string(), &other_show);
        let forged = Challenge::from_json(&forged).expect("it is well formed");
        let forged = payload(&forged, &solution);

        measure(&format!("issue, {name}"), 20_000, || {
            issue(&terms, cost, &worst_luck(), &keys)
        });
        measure(&format!("verify, {name}"), 20_000, || {
            verify(&text, terms.show, terms.visitor, NOW, &keys)
        });
        measure(&format!("refuse a forgery, {name}"), 20_000, || {
            verify(&forged, terms.show, terms.visitor, NOW, &keys)
        });
        measure(&format!("solve at worst, {name}"), 5, || {
            challenge.solve(0..TRIES)
        });
    }
}

fn worst_luck() -> WorkEntropy {
    [0xff; 34]
}

fn measure<T>(name: &str, runs: usize, mut case: impl FnMut() -> T) {
    let mut micros: Vec<f64> = (0..runs)
        .map(|_| {
            let started = Instant::now();
            black_box(case());
            started.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    micros.sort_by(f64::total_cmp);
    let (median, p99) = (micros[runs / 2], micros[runs * 99 / 100]);
    let slowest = micros[runs - 1];
    println!("{name}\t{median:.1}\t{p99:.1}\t{slowest:.1}");
}
