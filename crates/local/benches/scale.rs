//! A show of 100,000 places over HTTP: how long it takes to create, and what its packed
//! map costs while 64 clients read it and every one of its 3,125 blocks is written.
//!
//! Prints one row a figure for `scripts/bench`: name, value, promised most, unit.

#[allow(dead_code, reason = "each benchmark uses a part of it")]
mod load;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::{StreamExt, TryStreamExt, stream};
use load::{CLIENTS, Latencies, Person, Platform, Result, expect};
use reqwest::{Client, StatusCode};
use serde_json::json;

const PLACES: usize = 100_000;
const SEATS_PER_ROW: usize = 32;
const ROWS: usize = PLACES / SEATS_PER_ROW;
/// One hold of a buyer, the most that the cap allows.
const SEATS_PER_HOLD: usize = 50;
const BUYERS: usize = PLACES / SEATS_PER_HOLD;
const HOLDS_AT_ONCE: usize = 16;
const READS_FOR: Duration = Duration::from_secs(15);
/// The pace of the second reading: each client asks this often, as a page that
/// refreshes does, instead of as fast as it can.
const PACE: Duration = Duration::from_millis(100);
/// A map is fresh for a second; after a little more, whoever asks rebuilds it.
const QUIET: Duration = Duration::from_millis(1_100);
const REBUILDS: usize = 15;

#[tokio::main]
async fn main() -> Result<()> {
    let platform = Arc::new(Platform::start()?);
    let organiser = Person::register(&platform, "organiser", "organiser").await?;

    eprintln!("creating a show of {PLACES} places");
    let started = Instant::now();
    let show = create_show(&platform, &organiser).await?;
    row(
        "venue, event and show created",
        started.elapsed().as_secs_f64(),
        60.0,
        "s",
    );

    eprintln!(
        "registering {BUYERS} buyers: a cap of {SEATS_PER_HOLD} takes as many to hold every place"
    );
    let started = Instant::now();
    let buyers = Person::register_buyers(&platform, BUYERS).await?;
    eprintln!(
        "  {:.0} s; now they hold all places",
        started.elapsed().as_secs_f64()
    );
    let started = Instant::now();
    hold_everything(&platform, &show, &buyers).await?;
    eprintln!(
        "  {:.1} s for {BUYERS} holds of {SEATS_PER_HOLD} seats",
        started.elapsed().as_secs_f64()
    );

    let url = platform.url(&format!("/shows/{show}/availability.bin"));
    rebuild_on_demand(&platform, &url).await?;
    read_by_all(&platform, &url, "paced", Some(PACE)).await?;
    read_by_all(&platform, &url, "flat out", None).await
}

fn row(name: &str, value: f64, most: f64, unit: &str) {
    println!("{name}\t{value:.3}\t{most}\t{unit}");
}

async fn create_show(platform: &Platform, organiser: &Person) -> Result<String> {
    let rows: Vec<_> = (1..=ROWS)
        .map(|row| json!({"label": row.to_string(), "seats": SEATS_PER_ROW}))
        .collect();
    let event = organiser
        .event(platform, json!([{"name": "A", "rows": rows}]))
        .await?;
    organiser
        .show(
            platform,
            &event,
            json!({"prices": {"A": 5_000}, "hold_seconds": 900}),
        )
        .await
}

async fn hold_everything(platform: &Platform, show: &str, buyers: &[Person]) -> Result<()> {
    let seat = |place: usize| {
        format!(
            "A-{}-{}",
            place / SEATS_PER_ROW + 1,
            place % SEATS_PER_ROW + 1
        )
    };
    stream::iter(buyers.iter().enumerate())
        .map(Ok)
        .try_for_each_concurrent(HOLDS_AT_ONCE, |(n, buyer)| async move {
            let first = n * SEATS_PER_HOLD;
            let seats: Vec<_> = (first..first + SEATS_PER_HOLD).map(seat).collect();
            let answer = buyer
                .hold(platform, show, "all", &json!({ "seats": seats }))
                .await?;
            expect(StatusCode::CREATED, answer).await.map(|_| ())
        })
        .await
}

/// The first request after a quiet second waits for the rebuild and nothing else.
async fn rebuild_on_demand(platform: &Platform, url: &str) -> Result<()> {
    eprintln!("rebuilding {REBUILDS} times, each after a quiet second");
    let http = Client::new();
    let before = platform.counter("onsale_map_rebuilds_total").await?;
    let mut samples = Vec::new();
    let mut held = Vec::new();
    for _ in 0..REBUILDS {
        tokio::time::sleep(QUIET).await;
        let started = Instant::now();
        held = http
            .get(url)
            .send()
            .await?
            .error_for_status()?
            .bytes()
            .await?
            .to_vec();
        samples.push(started.elapsed());
    }
    let rebuilds = platform.counter("onsale_map_rebuilds_total").await? - before;
    if rebuilds != REBUILDS as f64 {
        return Err(format!("{REBUILDS} quiet seconds gave {rebuilds} rebuilds").into());
    }
    // Four places a byte, each 1: held.
    if held.iter().any(|byte| *byte != 0b01_01_01_01) {
        return Err("the map does not show every place as held".into());
    }
    row("availability.bin", held.len() as f64, 25_000.0, "bytes");
    let latencies = Latencies::of(samples);
    row("rebuild, median", latencies.at(0.5), 500.0, "ms");
    row("rebuild, slowest", latencies.at(1.0), 500.0, "ms");
    Ok(())
}

async fn read_by_all(
    platform: &Platform,
    url: &str,
    name: &str,
    pace: Option<Duration>,
) -> Result<()> {
    eprintln!(
        "{CLIENTS} clients read the map for {} s, {name}",
        READS_FOR.as_secs()
    );
    let before = platform.counter("onsale_map_rebuilds_total").await?;
    let started = Instant::now();
    let readers: Vec<_> = (0..CLIENTS)
        .map(|n| tokio::spawn(read(url.to_owned(), n, started, pace)))
        .collect();
    let mut samples = Vec::new();
    for reader in readers {
        samples.extend(reader.await??);
    }
    let took = started.elapsed().as_secs_f64();
    let rebuilds = platform.counter("onsale_map_rebuilds_total").await? - before;
    let latencies = Latencies::of(samples);
    eprintln!(
        "  {:.0} reads/s, p50 {:.1} ms, slowest {:.1} ms",
        latencies.count() as f64 / took,
        latencies.at(0.5),
        latencies.at(1.0),
    );
    row(
        &format!("read by {CLIENTS} clients {name}, p99"),
        latencies.at(0.99),
        20.0,
        "ms",
    );
    row(
        &format!("rebuilds while read {name}"),
        rebuilds / took,
        1.0,
        "a second",
    );
    Ok(())
}

async fn read(
    url: String,
    client: usize,
    started: Instant,
    pace: Option<Duration>,
) -> Result<Vec<Duration>> {
    let http = Client::builder()
        .pool_max_idle_per_host(1)
        .tcp_nodelay(true)
        .build()?;
    let mut samples = Vec::new();
    if let Some(pace) = pace {
        // Clients ask at their own moments, not all at once.
        tokio::time::sleep(pace * client as u32 / CLIENTS as u32).await;
    }
    while started.elapsed() < READS_FOR {
        let asked = Instant::now();
        http.get(&url)
            .send()
            .await?
            .error_for_status()?
            .bytes()
            .await?;
        samples.push(asked.elapsed());
        if let Some(pace) = pace {
            tokio::time::sleep(pace.saturating_sub(asked.elapsed())).await;
        }
    }
    Ok(samples)
}
