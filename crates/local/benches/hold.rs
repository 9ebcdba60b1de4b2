//! Two-seat holds over HTTP on the embedded default, with 64 clients.
//!
//! `spread`: every client holds seats nobody else wants, so every request is a hold.
//! `crowd`: all clients want two of the same eight seats, which come back when a hold
//! of two seconds lapses, so nearly every request is refused.
//!
//! Prints one row a mode for `scripts/bench`: name, answers per second, p50, p99 and
//! slowest in ms, holds, refusals, errors.

#[allow(dead_code, reason = "each benchmark uses a part of it")]
mod load;

use std::sync::Arc;
use std::time::{Duration, Instant};

use load::{CLIENTS, Latencies, PAIRS, PAIRS_PER_BUYER, Person, Platform, Result, own_pair, room};
use reqwest::StatusCode;
use serde_json::{Value, json};

const WARM_UP: Duration = Duration::from_secs(2);
const DEFAULT_SECONDS: u64 = 20;

/// Prepared for this rate at most; a run that is faster says so and ends.
const MAX_HOLDS_PER_SECOND: u64 = 6_000;
const CROWD_SEATS: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Spread,
    Crowd,
}

#[derive(Default)]
struct Tally {
    latencies: Vec<Duration>,
    held: usize,
    refused: usize,
    errors: Vec<String>,
}

#[tokio::main]
async fn main() -> Result<()> {
    let seconds = std::env::var("BENCH_SECONDS")
        .ok()
        .map(|s| s.parse())
        .transpose()?;
    let seconds: u64 = seconds.unwrap_or(DEFAULT_SECONDS);
    let platform = Arc::new(Platform::start()?);
    let organiser = Person::register(&platform, "organiser", "organiser").await?;
    let buyers = Person::register_buyers(&platform, CLIENTS).await?;
    let event = organiser.event(&platform, room()).await?;

    let holds_at_most = (seconds + WARM_UP.as_secs()) * MAX_HOLDS_PER_SECOND;
    let shows_needed = holds_at_most.div_ceil((CLIENTS * PAIRS_PER_BUYER) as u64);
    let prices = json!({"A": 5_000});
    let mut shows = Vec::new();
    for _ in 0..shows_needed {
        shows.push(
            organiser
                .show(&platform, &event, json!({"prices": prices}))
                .await?,
        );
    }
    let crowded = organiser
        .show(
            &platform,
            &event,
            json!({"prices": prices, "hold_seconds": 2}),
        )
        .await?;
    eprintln!(
        "{CLIENTS} clients, {} seats in each of {} shows, {seconds} s a mode",
        PAIRS * 2,
        shows.len()
    );

    let length = Duration::from_secs(seconds);
    run(&platform, &buyers, Arc::new(shows), Mode::Spread, length).await?;
    run(
        &platform,
        &buyers,
        Arc::new(vec![crowded]),
        Mode::Crowd,
        length,
    )
    .await
}

async fn run(
    platform: &Arc<Platform>,
    buyers: &[Person],
    shows: Arc<Vec<String>>,
    mode: Mode,
    length: Duration,
) -> Result<()> {
    let measured_from = Instant::now() + WARM_UP;
    let clients: Vec<_> = buyers
        .iter()
        .cloned()
        .enumerate()
        .map(|(n, buyer)| {
            let (platform, shows) = (platform.clone(), shows.clone());
            tokio::spawn(client(
                platform,
                buyer,
                n,
                shows,
                mode,
                measured_from,
                length,
            ))
        })
        .collect();
    let mut all = Tally::default();
    for client in clients {
        let one = client.await?;
        all.latencies.extend(one.latencies);
        all.held += one.held;
        all.refused += one.refused;
        all.errors.extend(one.errors);
    }
    // Answers are counted until the last client had its last one.
    let took = measured_from.elapsed().as_secs_f64();
    for error in all.errors.iter().take(5) {
        eprintln!("error: {error}");
    }
    let latencies = Latencies::of(all.latencies);
    let name = match mode {
        Mode::Spread => "spread",
        Mode::Crowd => "crowd",
    };
    println!(
        "{name}\t{:.0}\t{:.1}\t{:.1}\t{:.1}\t{}\t{}\t{}",
        latencies.count() as f64 / took,
        latencies.at(0.5),
        latencies.at(0.99),
        latencies.at(1.0),
        all.held,
        all.refused,
        all.errors.len(),
    );
    Ok(())
}

async fn client(
    platform: Arc<Platform>,
    buyer: Person,
    number: usize,
    shows: Arc<Vec<String>>,
    mode: Mode,
    measured_from: Instant,
    length: Duration,
) -> Tally {
    let mut tally = Tally::default();
    for turn in 0.. {
        if measured_from.elapsed() >= length {
            break;
        }
        let Some((show, wish)) = wish(mode, number, turn, &shows) else {
            tally
                .errors
                .push("the seats ran out: raise MAX_HOLDS_PER_SECOND".to_owned());
            break;
        };
        let started = Instant::now();
        let outcome = buyer
            .hold(&platform, show, &format!("turn-{turn}"), &wish)
            .await;
        let status = match outcome {
            // The answer counts once its last byte is here.
            Ok(answer) => {
                let status = answer.status();
                answer
                    .bytes()
                    .await
                    .map(|body| (status, body))
                    .map_err(Into::into)
            }
            Err(error) => Err(error),
        };
        let took = started.elapsed();
        let expected = match status {
            Ok((StatusCode::CREATED, _)) => Ok(true),
            Ok((StatusCode::CONFLICT, _)) if mode == Mode::Crowd => Ok(false),
            Ok((status, body)) => Err(format!("{status}: {}", String::from_utf8_lossy(&body))),
            Err(error) => Err(error.to_string()),
        };
        if started < measured_from && expected.is_ok() {
            continue;
        }
        tally.latencies.push(took);
        match expected {
            Ok(true) => tally.held += 1,
            Ok(false) => tally.refused += 1,
            Err(error) => tally.errors.push(error),
        }
    }
    tally
}

/// What a client asks for in its n-th turn.
fn wish(mode: Mode, client: usize, turn: usize, shows: &[String]) -> Option<(&String, Value)> {
    let (show, seats) = match mode {
        Mode::Spread => own_pair(client, turn, shows)?,
        Mode::Crowd => {
            let left = (client * 31 + turn * 17) % (CROWD_SEATS - 1) + 1;
            let seats = [left, left + 1].map(|seat| format!("A-1-{seat}"));
            (shows.first()?, seats)
        }
    };
    Some((show, json!({ "seats": seats })))
}
