//! Half a million events in six languages: how long the index takes to build and how
//! large it is, how quickly it answers 50 queries a second, and whether misspelt titles
//! are found.
//!
//! Prints one row a figure for `scripts/bench`: name, value, promised most or `-`, unit.
//! `BENCH_EVENTS` and `BENCH_SECONDS` change the size and the length.

mod catalogue;
mod folder;

use std::sync::Arc;
use std::time::{Duration, Instant};

use catalogue::{CATEGORIES, DAY, Dice, NOW, event, misspelt};
use folder::FolderObjects;
use onsale_app::events::{EventQuery, EventSort, Near};
use onsale_app::ports::{Objects, Search, SearchIndex, Versioned};
use onsale_domain::money::Cents;
use onsale_search::{SnapshotIndex, SnapshotSearch};
use onsale_test_support::ManualClock;

const QUERIES_PER_SECOND: u32 = 50;
const MISSPELT: usize = 600;
const PAGE: usize = 1_000;

type Failed = Box<dyn std::error::Error + Send + Sync>;

fn setting(name: &str, usual: usize) -> usize {
    let value = std::env::var(name).ok().and_then(|v| v.parse().ok());
    value.unwrap_or(usual)
}

fn row(name: &str, value: f64, promised: Option<f64>, unit: &str) {
    let promised = promised.map_or("-".to_owned(), |most| most.to_string());
    println!("{name}\t{value:.1}\t{promised}\t{unit}");
}

#[tokio::main]
async fn main() -> Result<(), Failed> {
    let events = setting("BENCH_EVENTS", 500_000);
    let seconds = setting("BENCH_SECONDS", 20);
    let place = tempfile::tempdir()?;
    let objects: Arc<dyn Objects> = Arc::new(FolderObjects::new(place.path().join("objects"))?);
    let clock = Arc::new(ManualClock::new(NOW));
    let writer = SnapshotIndex::new(objects.clone(), clock, place.path().join("write"))?;

    eprintln!("indexing {events} events");
    let mut spent = Duration::ZERO;
    let mut draft = writer.create().await?;
    for first in (0..events).step_by(PAGE) {
        let page = first..(first + PAGE).min(events);
        let page = page.map(|n| Versioned {
            version: 1,
            value: event(n),
        });
        let page: Vec<_> = page.collect();
        // Making the events up is not the index's time.
        let began = Instant::now();
        draft.put(page).await?;
        spent += began.elapsed();
        if (first + PAGE).is_multiple_of(50_000) {
            eprintln!("  {} after {:.0} s", first + PAGE, spent.as_secs_f64());
        }
    }
    let began = Instant::now();
    if !draft.publish().await? {
        return Err("nobody else publishes here".into());
    }
    spent += began.elapsed();
    row("events", events as f64, None, "");
    row("index built and published", spent.as_secs_f64(), None, "s");
    let bytes = folder::size(&place.path().join("objects"))?;
    row("index size", bytes as f64 / 1e6, None, "MB");
    row(
        "index size an event",
        bytes as f64 / events as f64,
        None,
        "bytes",
    );

    let search = SnapshotSearch::new(objects.clone(), place.path().join("read"))?;
    let began = Instant::now();
    while search.search(&query(0, events), &[], NOW).await?.is_none() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    row(
        "first copy of a reader",
        began.elapsed().as_secs_f64(),
        None,
        "s",
    );

    one_more(&writer, &search, events).await?;
    ask_at_a_steady_pace(&search, events, seconds).await?;
    find_misspelt(&search, events).await
}

/// A new event in an index of this size: from the change to its being found.
async fn one_more(
    writer: &SnapshotIndex,
    search: &SnapshotSearch,
    events: usize,
) -> Result<(), Failed> {
    let mut slowest: f64 = 0.0;
    for n in 0..5 {
        let mut new = event(events + n);
        new.title = format!("Quixotry {n}");
        let began = Instant::now();
        let mut draft = writer.open().await?.ok_or("there is an index")?;
        draft
            .put(vec![Versioned {
                version: 1,
                value: new,
            }])
            .await?;
        draft.publish().await?;
        let wanted = EventQuery {
            query: Some(format!("quixotry {n}")),
            limit: 1,
            ..EventQuery::default()
        };
        loop {
            let page = search.search(&wanted, &[], NOW).await?;
            if page.is_some_and(|page| !page.events.is_empty()) {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        slowest = slowest.max(began.elapsed().as_secs_f64());
    }
    row(
        "a new event is found, slowest of 5",
        slowest,
        Some(5.0),
        "s",
    );
    Ok(())
}

/// What people ask, in turn: words, beginnings, mistakes, places, dates, prices.
fn query(n: usize, events: usize) -> EventQuery {
    let mut dice = Dice::new(n as u64 + 99);
    let some = event(dice.below(events));
    let mut words: Vec<String> = some.title.split(' ').map(str::to_owned).collect();
    if words.len() == 1 {
        // Chinese: a part of the title.
        words = vec![some.title.chars().take(4).collect()];
    }
    let two = words.iter().take(2).cloned().collect::<Vec<_>>().join(" ");
    let base = EventQuery {
        limit: 20,
        ..EventQuery::default()
    };
    match n % 20 {
        0..=5 => EventQuery {
            query: Some(two),
            ..base
        },
        6..=8 => {
            let start: String = words[0].chars().take(4).collect();
            EventQuery {
                query: Some(start),
                ..base
            }
        }
        9..=11 => EventQuery {
            query: Some(misspelt(&two, &mut dice)),
            ..base
        },
        12 => EventQuery {
            query: words.last().cloned(),
            city: Some(some.city),
            ..base
        },
        13 => EventQuery {
            query: words.last().cloned(),
            category: Some(some.category),
            sort: EventSort::Date,
            ..base
        },
        14 => EventQuery {
            city: Some(some.city),
            sort: EventSort::Date,
            ..base
        },
        15 => EventQuery {
            category: Some(CATEGORIES[dice.below(8)].to_owned()),
            from: Some(NOW + 30 * DAY),
            to: Some(NOW + 37 * DAY),
            max_price: Some(Cents(4_000)),
            ..base
        },
        16 | 17 => EventQuery {
            near: some.location.map(|center| Near {
                center,
                radius_km: 50.0,
            }),
            from: Some(NOW + DAY),
            to: Some(NOW + 14 * DAY),
            sort: EventSort::Distance,
            ..base
        },
        18 => EventQuery {
            from: Some(NOW + 60 * DAY),
            to: Some(NOW + 61 * DAY),
            ..base
        },
        // The first page that everybody sees.
        _ => base,
    }
}

/// Queries come when they come: a slow one does not hold up the next, and the time of
/// each counts from when it should have begun.
async fn ask_at_a_steady_pace(
    search: &SnapshotSearch,
    events: usize,
    seconds: usize,
) -> Result<(), Failed> {
    eprintln!("asking {QUERIES_PER_SECOND} queries a second for {seconds} s");
    let pace = Duration::from_secs(1) / QUERIES_PER_SECOND;
    let total = seconds * QUERIES_PER_SECOND as usize;
    let queries: Vec<_> = (0..total).map(|n| query(n, events)).collect();
    for warm_up in queries.iter().take(20) {
        search.search(warm_up, &[], NOW).await?;
    }
    let began = tokio::time::Instant::now();
    let mut asked = Vec::new();
    for (n, query) in queries.into_iter().enumerate() {
        let due = began + pace * n as u32;
        tokio::time::sleep_until(due).await;
        let search = search.clone();
        asked.push(tokio::spawn(async move {
            let found = search.search(&query, &[], NOW).await;
            (
                due.elapsed(),
                n % 20,
                found.is_ok_and(|page| page.is_some()),
            )
        }));
    }
    let mut times = Vec::new();
    let mut by_kind = vec![Duration::ZERO; 20];
    let mut failed = 0;
    for answer in asked {
        let (time, kind, answered) = answer.await?;
        times.push(time);
        by_kind[kind] = by_kind[kind].max(time);
        failed += usize::from(!answered);
    }
    times.sort();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    row("queries", times.len() as f64, None, "");
    row("queries that failed", failed as f64, Some(0.0), "");
    row("query, p50", at(0.5), None, "ms");
    row("query, p95", at(0.95), None, "ms");
    row("query, p99", at(0.99), Some(100.0), "ms");
    row("query, slowest", at(1.0), None, "ms");
    for (kind, time) in by_kind.iter().enumerate() {
        eprintln!("  kind {kind}: at most {:.1} ms", time.as_secs_f64() * 1e3);
    }
    Ok(())
}

async fn find_misspelt(search: &SnapshotSearch, events: usize) -> Result<(), Failed> {
    eprintln!("looking for {MISSPELT} misspelt titles");
    let mut dice = Dice::new(4_242);
    let (mut first, mut on_page, mut asked) = (0, 0, 0);
    while asked < MISSPELT {
        let wanted = event(dice.below(events));
        // A title without spaces has no letters to mistype.
        if !wanted.title.contains(' ') {
            continue;
        }
        asked += 1;
        let query = EventQuery {
            query: Some(misspelt(&wanted.title, &mut dice)),
            limit: 20,
            ..EventQuery::default()
        };
        let page = search.search(&query, &[], NOW).await?.ok_or("an index")?;
        let place = page.events.iter().position(|event| event.id == wanted.id);
        first += usize::from(place == Some(0));
        on_page += usize::from(place.is_some());
    }
    let share = |count: usize| count as f64 / MISSPELT as f64 * 100.0;
    row("misspelt titles found first", share(first), None, "%");
    row(
        "misspelt titles found on the first page",
        share(on_page),
        None,
        "%",
    );
    Ok(())
}
