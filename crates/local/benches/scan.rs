//! Tickets at the gates. Online: sixteen gates with one session, each scan a
//! request that checks the session and the code, reads the ticket, and stores its use with
//! the count of the gate before it answers. Offline: `onsale gate scan` on a file of the
//! same codes, each decision on the disk before the next.
//!
//! Prints one row a run for `scripts/bench`: name, scans per minute, p50, p99 and slowest in
//! ms (offline: none, as the command answers line by line), admitted, errors.

#[allow(dead_code, reason = "each benchmark uses a part of it")]
mod load;

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use futures_util::{StreamExt, TryStreamExt, stream};
use load::{Latencies, Person, Platform, Result, expect};
use reqwest::StatusCode;
use serde_json::json;

const GATES: usize = 16;
const DEFAULT_SECONDS: u64 = 20;
/// Tickets for each second: three times what is promised. A run that is faster ends early.
const TICKETS_A_SECOND: usize = 500;
/// Few buyers with the most tickets that a show gives them, in as many shows as it takes:
/// registering is the slow part of getting ready.
const BUYERS: usize = 10;
const TICKETS_A_BUYER: usize = 50;
const TICKETS_A_SHOW: usize = BUYERS * TICKETS_A_BUYER;
const PATIENCE: Duration = Duration::from_secs(60);

#[tokio::main]
async fn main() -> Result<()> {
    let seconds = std::env::var("BENCH_SECONDS")
        .ok()
        .map(|s| s.parse())
        .transpose()?;
    let seconds: u64 = seconds.unwrap_or(DEFAULT_SECONDS);
    let platform = Arc::new(Platform::start()?);
    let organiser = Person::register(&platform, "organiser", "organiser").await?;
    let floor = json!([{"name": "Floor", "capacity": TICKETS_A_SHOW}]);
    let event = organiser.event(&platform, floor).await?;
    let mut shows = Vec::new();
    for _ in 0..(TICKETS_A_SECOND * seconds as usize).div_ceil(TICKETS_A_SHOW) {
        let settings = json!({"prices": {"Floor": 5_000}});
        shows.push(organiser.show(&platform, &event, settings).await?);
    }
    let mut buyers = Vec::new();
    for n in 0..BUYERS {
        buyers.push(Person::register(&platform, &format!("buyer{n}"), "buyer").await?);
    }
    let mut tickets: Vec<(String, String)> = Vec::new();
    for show in &shows {
        let codes: Vec<Vec<String>> = stream::iter(&buyers)
            .map(|buyer| bought(&platform, buyer, show))
            .buffer_unordered(BUYERS)
            .try_collect()
            .await?;
        let codes = codes.into_iter().flatten();
        tickets.extend(codes.map(|code| (show.clone(), code)));
    }
    let tickets = Arc::new(tickets);
    eprintln!("{} tickets, {GATES} gates, {seconds} s", tickets.len());
    // Before the gates begin, so that every ticket of the first show is good offline.
    let folder = tempfile::tempdir()?;
    let show = shows.first().ok_or("no show")?;
    download(&platform, &organiser, show, folder.path())?;
    online(
        &platform,
        &organiser,
        &tickets,
        Duration::from_secs(seconds),
    )
    .await?;
    let of_show = tickets.iter().filter(|(of, _)| of == show);
    let codes: Vec<String> = of_show.map(|(_, code)| code.clone()).collect();
    offline(folder.path(), &codes)
}

/// Fifty places, held and paid; their codes.
async fn bought(platform: &Platform, buyer: &Person, show: &str) -> Result<Vec<String>> {
    let wish = json!({"general": {"section": "Floor", "quantity": TICKETS_A_BUYER}});
    let answer = buyer.hold(platform, show, "all", &wish).await?;
    let hold = expect(StatusCode::CREATED, answer).await?;
    let hold = hold["hold_id"].as_str().ok_or("no hold_id")?;
    let order = buyer.check_out(platform, show, hold).await?;
    let began = Instant::now();
    while buyer.order(platform, &order).await?["status"] != "confirmed" {
        if began.elapsed() > PATIENCE {
            return Err("an order was not confirmed in a minute".into());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    buyer.codes(platform, &order).await
}

async fn online(
    platform: &Arc<Platform>,
    organiser: &Person,
    tickets: &Arc<Vec<(String, String)>>,
    length: Duration,
) -> Result<()> {
    let next = Arc::new(AtomicUsize::new(0));
    let began = Instant::now();
    let gates = (0..GATES).map(|n| {
        let (platform, tickets, next) = (platform.clone(), tickets.clone(), next.clone());
        let (person, gate) = (organiser.beside(), format!("gate {n:02}"));
        tokio::spawn(async move {
            let (person, mut took, mut errors) = (person?, Vec::new(), 0);
            while began.elapsed() < length {
                let n = next.fetch_add(1, Ordering::Relaxed);
                let Some((show, code)) = tickets.get(n) else {
                    break;
                };
                let asked = Instant::now();
                match person.scan(&platform, show, &gate, code).await {
                    Ok(result) if result == "admitted" => took.push(asked.elapsed()),
                    Ok(result) => return Err(format!("a good ticket is {result}").into()),
                    Err(error) => {
                        eprintln!("{error}");
                        errors += 1;
                    }
                }
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>((took, errors))
        })
    });
    let (mut took, mut errors) = (Vec::new(), 0);
    for gate in gates.collect::<Vec<_>>() {
        let (of_gate, failed) = gate.await??;
        took.extend(of_gate);
        errors += failed;
    }
    let elapsed = began.elapsed();
    let times = Latencies::of(took);
    let rate = times.count() as f64 / elapsed.as_secs_f64() * 60.0;
    println!(
        "online\t{rate:.0}\t{:.1}\t{:.1}\t{:.1}\t{}\t{errors}",
        times.at(0.5),
        times.at(0.99),
        times.at(1.0),
        times.count()
    );
    Ok(())
}

fn download(
    platform: &Platform,
    organiser: &Person,
    show: &str,
    folder: &std::path::Path,
) -> Result<()> {
    let output = Command::new(env!("CARGO_BIN_EXE_onsale"))
        .args(["gate", "download", "--url", &platform.base, "--show", show])
        .args(["--gate", "offline", "--data"])
        .arg(folder.join("gate"))
        .env("ONSALE_TOKEN", organiser.token())
        .output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

fn offline(folder: &std::path::Path, codes: &[String]) -> Result<()> {
    let file = folder.join("codes");
    std::fs::write(&file, codes.join("\n"))?;
    let began = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_onsale"))
        .args(["gate", "scan"])
        .arg(&file)
        .arg("--data")
        .arg(folder.join("gate"))
        .output()?;
    let elapsed = began.elapsed();
    let said = String::from_utf8_lossy(&output.stdout);
    let admitted = said
        .lines()
        .filter(|line| line.starts_with("admitted"))
        .count();
    let rate = admitted as f64 / elapsed.as_secs_f64() * 60.0;
    println!(
        "offline\t{rate:.0}\t-\t-\t-\t{admitted}\t{}",
        codes.len() - admitted
    );
    Ok(())
}
