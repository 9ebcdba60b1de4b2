//! Orders of two seats over HTTP on the embedded default: buyers who each hold, pay with the
//! sandbox and wait until the order is confirmed. First one alone, which shows how long an
//! order takes; then 64 at once, which shows how many there can be: their orders wait for
//! each other, so their times are those of a queue.
//!
//! Every order is a hold, a checkout and reads of the order until it is confirmed; behind
//! them the saga locks the hold, opens, authorises and captures the payment in the ledger
//! of the sandbox, sells the seats, signs and stores the tickets and tells the bus. The
//! times are too long by up to the pause after which a buyer looks again.
//!
//! Prints one row a run for `scripts/bench`: name, orders per second, p50, p99 and slowest in ms
//! from the 202 to confirmed, the same three from asking for the hold to confirmed,
//! orders, errors.

#[allow(dead_code, reason = "each benchmark uses a part of it")]
mod load;

use std::sync::Arc;
use std::time::{Duration, Instant};

use load::{CLIENTS, Latencies, Person, Platform, Result, expect, own_pair, room};
use reqwest::StatusCode;
use serde_json::json;

const WARM_UP: Duration = Duration::from_secs(2);
const DEFAULT_SECONDS: u64 = 20;
/// One buyer soon runs out of pairs.
const ALONE: Duration = Duration::from_secs(5);
/// After which pause one buyer looks again, and after which each of many: reading an order
/// is work too, and more of it would slow down what is measured.
const ONE_LOOKS_EVERY: Duration = Duration::from_millis(5);
const MANY_LOOK_EVERY: Duration = Duration::from_millis(50);
/// An order that takes longer is an error.
const PATIENCE: Duration = Duration::from_secs(30);
/// 25 pairs in each are 700 orders for one buyer, 100 a second; a run that is faster says so
/// and ends.
const SHOWS: usize = 28;

#[derive(Default)]
struct Tally {
    /// From the 202 to confirmed.
    confirmed: Vec<Duration>,
    /// From asking for the hold to confirmed.
    whole: Vec<Duration>,
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
    let mut buyers = Person::register_buyers(&platform, CLIENTS + 1).await?;
    let event = organiser.event(&platform, room()).await?;
    let mut shows = Vec::new();
    for _ in 0..SHOWS {
        let settings = json!({"prices": {"A": 5_000}});
        shows.push(organiser.show(&platform, &event, settings).await?);
    }
    eprintln!("one buyer, then {CLIENTS} for {seconds} s, in {SHOWS} shows");
    let (shows, length) = (Arc::new(shows), Duration::from_secs(seconds));
    let everybody = buyers.drain(..CLIENTS).enumerate().collect();
    let alone = buyers.into_iter().map(|buyer| (CLIENTS, buyer)).collect();
    let short = length.min(ALONE);
    run("alone", &platform, alone, &shows, short).await?;
    run("checkout", &platform, everybody, &shows, length).await
}

/// Each buyer has a number, and pairs of seats that follow from it.
async fn run(
    name: &str,
    platform: &Arc<Platform>,
    buyers: Vec<(usize, Person)>,
    shows: &Arc<Vec<String>>,
    length: Duration,
) -> Result<()> {
    let look_every = match buyers.len() {
        1 => ONE_LOOKS_EVERY,
        _ => MANY_LOOK_EVERY,
    };
    let measured_from = Instant::now() + WARM_UP;
    let clients: Vec<_> = buyers
        .into_iter()
        .map(|(n, buyer)| {
            let buyer = Buyer {
                platform: platform.clone(),
                person: buyer,
                number: n,
                look_every,
            };
            tokio::spawn(buyer.keep_buying(shows.clone(), measured_from, length))
        })
        .collect();
    let mut all = Tally::default();
    for client in clients {
        let one = client.await?;
        all.confirmed.extend(one.confirmed);
        all.whole.extend(one.whole);
        all.errors.extend(one.errors);
    }
    // Orders are counted until the last buyer had their last one.
    let took = measured_from.elapsed().as_secs_f64();
    for error in all.errors.iter().take(5) {
        eprintln!("error: {error}");
    }
    let (confirmed, whole) = (Latencies::of(all.confirmed), Latencies::of(all.whole));
    let three = |l: &Latencies| format!("{:.1}\t{:.1}\t{:.1}", l.at(0.5), l.at(0.99), l.at(1.0));
    println!(
        "{name}\t{:.0}\t{}\t{}\t{}\t{}",
        whole.count() as f64 / took,
        three(&confirmed),
        three(&whole),
        whole.count(),
        all.errors.len(),
    );
    Ok(())
}

struct Buyer {
    platform: Arc<Platform>,
    person: Person,
    number: usize,
    look_every: Duration,
}

impl Buyer {
    async fn keep_buying(
        self,
        shows: Arc<Vec<String>>,
        measured_from: Instant,
        length: Duration,
    ) -> Tally {
        let mut tally = Tally::default();
        for turn in 0.. {
            if measured_from.elapsed() >= length {
                break;
            }
            let Some((show, seats)) = own_pair(self.number, turn, &shows) else {
                let error = "the seats ran out: raise SHOWS";
                tally.errors.push(error.to_owned());
                break;
            };
            let started = Instant::now();
            match self.buy(show, &seats, turn).await {
                Ok(_) if started < measured_from => {}
                Ok(confirmed) => {
                    tally.confirmed.push(confirmed);
                    tally.whole.push(started.elapsed());
                }
                Err(error) => tally.errors.push(error.to_string()),
            }
        }
        tally
    }

    /// Holds, pays and waits; how long it took from the 202 to confirmed.
    async fn buy(&self, show: &str, seats: &[String; 2], turn: usize) -> Result<Duration> {
        let (person, platform) = (&self.person, &*self.platform);
        let wish = json!({ "seats": seats });
        let key = format!("turn-{turn}");
        let held = person.hold(platform, show, &key, &wish).await?;
        let held = expect(StatusCode::CREATED, held).await?;
        let hold = held["hold_id"].as_str().ok_or("no hold_id")?;
        let order = person.check_out(platform, show, hold).await?;
        let accepted = Instant::now();
        loop {
            let read = person.order(platform, &order).await?;
            match read["status"].as_str() {
                Some("confirmed") => return Ok(accepted.elapsed()),
                Some("pending" | "authorised") if accepted.elapsed() < PATIENCE => {}
                _ => return Err(format!("not confirmed: {read}").into()),
            }
            tokio::time::sleep(self.look_every).await;
        }
    }
}
