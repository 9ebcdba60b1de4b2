//! Small rooms in real time: whoever is told `admitted` is in, nobody is told otherwise
//! afterwards, the line is kept at the door, and whoever is inside is told so.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use onsale_domain::ids::ShowId;
use onsale_domain::time::Millis;
use onsale_domain::work::WorkKeys;
use reqwest::Method;
use serde_json::{Value, json};

use crate::room_crowd::{binding, now, solved};
use crate::sale::Sale;
use crate::server::LOAD;
use crate::visitor::Visitor;
use crate::waiting::Waiting;

/// Capacity, rate and visitors.
const ROOMS: [(usize, u32, usize); 4] = [(1, 1, 3), (3, 5, 7), (10, 50, 30), (30, 20, 75)];
const PASS_SECONDS: u64 = 10;
/// For how long a visitor at the door may see somebody behind them go in first, besides the
/// pause that they are told to make. It is counted in those pauses: a machine that is busy
/// answers later, and does not tell anybody to wait for longer.
const OVERTAKEN_MS: u64 = 3_000;
/// The issue wants all four rooms to be through in this time; quiet machines need a quarter.
const PATIENCE: Duration = Duration::from_secs(240);

/// A poll that was answered `door`.
struct Knock {
    sent: Instant,
    refresh_ms: u64,
}

/// What one visitor went through.
struct Visit {
    draw: String,
    knocks: Vec<Knock>,
    admitted: Instant,
}

#[derive(Default)]
struct Live {
    now: AtomicUsize,
    most: AtomicUsize,
}

/// Never back: from the line to the door, to a promise.
fn rank(state: &str) -> u8 {
    match state {
        "prequeue" => 0,
        "waiting" => 1,
        "door" => 2,
        "admitted" => 3,
        other => panic!("nobody who waits is {other}"),
    }
}

/// Waits as told until there is a slot.
async fn wait(waiting: &Waiting) -> Visit {
    let (mut before, mut knocks, mut draw) = (0, Vec::new(), String::new());
    loop {
        let sent = Instant::now();
        let told = waiting.status().await;
        let now = rank(told["state"].as_str().unwrap());
        assert!(now >= before, "sent back: {told}");
        assert!(told["total_waiting"].is_u64() || now == 3, "{told}");
        before = now;
        draw = told["draw"].as_str().unwrap_or(&draw).to_owned();
        if now == 3 {
            return Visit {
                draw,
                knocks,
                admitted: Instant::now(),
            };
        }
        let refresh_ms = told["refresh_after_ms"].as_u64().unwrap();
        if now == 2 {
            knocks.push(Knock { sent, refresh_ms });
        }
        let wait = &told["wait_seconds"]["p90"];
        assert!(wait.as_u64().is_none_or(|p90| p90 <= 3 * 900), "{told}");
        tokio::time::sleep(Duration::from_millis(refresh_ms)).await;
    }
}

/// A pass counts as alive from the answer that brings it until it expires, or until its
/// holder asks to leave.
async fn visit(waiting: Waiting, leaves_early: bool, live: Arc<Live>) -> Visit {
    let visit = wait(&waiting).await;
    let entered = waiting.ask(Method::POST, "enter").await.expect(200);
    let alive = live.now.fetch_add(1, Ordering::SeqCst) + 1;
    live.most.fetch_max(alive, Ordering::SeqCst);
    let expires = entered["expires_at"].as_str().unwrap();
    let expires = Millis::parse_rfc3339(expires).unwrap();
    let told = waiting.status().await;
    if now() < expires {
        assert_eq!(told["state"], "inside", "{told}");
        assert_eq!(told["expires_at"], entered["expires_at"]);
    }
    let stays_ms = match leaves_early {
        true => PASS_SECONDS * 500,
        false => now().until(expires),
    };
    tokio::time::sleep(Duration::from_millis(stays_ms)).await;
    live.now.fetch_sub(1, Ordering::SeqCst);
    if leaves_early {
        waiting.leave().await.expect(204);
    }
    visit
}

/// After somebody behind them went in, a visitor at the door is told to knock again for
/// three seconds at most, and once more.
fn check_order(visits: &mut [Visit]) {
    visits.sort_by(|a, b| a.draw.cmp(&b.draw));
    let mut longest_ms = 0;
    for (i, first) in visits.iter().enumerate() {
        let Some(reached) = first.knocks.first() else {
            continue;
        };
        let overtaking = visits[i + 1..].iter();
        let overtaking = overtaking.filter(|behind| reached.sent < behind.admitted);
        for behind in overtaking {
            let since = first.knocks.iter().filter(|it| it.sent > behind.admitted);
            let pauses: Vec<u64> = since.map(|it| it.refresh_ms).collect();
            let last = pauses.last().copied().unwrap_or(0);
            let overtaken_ms = pauses.iter().sum::<u64>() - last;
            assert!(overtaken_ms <= OVERTAKEN_MS, "overtaken for {pauses:?} ms");
            longest_ms = longest_ms.max(overtaken_ms);
        }
    }
    println!("nobody at the door was overtaken for more than {longest_ms} ms");
}

async fn run(waiting: Vec<Waiting>, capacity: usize) {
    let live = Arc::new(Live::default());
    let visits = waiting.into_iter().enumerate();
    let visits = visits.map(|(n, one)| tokio::spawn(visit(one, n % 2 == 0, live.clone())));
    let mut seen = Vec::new();
    for visit in visits.collect::<Vec<_>>() {
        seen.push(visit.await.unwrap());
    }
    let most = live.most.load(Ordering::SeqCst);
    assert!(most <= capacity, "{most} passes of {capacity}");
    check_order(&mut seen);
    println!("{} visitors, {capacity} slots: all are in", seen.len());
}

fn room(capacity: usize, rate: u32, opens: Millis) -> Value {
    json!({"mode": "queue_all", "capacity": capacity, "rate_per_second": rate,
        "opens_at": opens.to_string(), "pass_seconds": PASS_SECONDS, "message": "Doors at seven."})
}

/// A room that opens once all of its visitors have joined, so that they are in one draw
/// however long it takes them.
async fn gather(
    sale: &Sale,
    keys: &WorkKeys,
    capacity: usize,
    rate: u32,
    visitors: u64,
) -> Vec<Waiting> {
    let much_later = now() + 3_600_000;
    let more = json!({"room": room(capacity, rate, much_later)});
    let show = sale.organiser.show(&sale.event, json!({"A": 4501}), more);
    let show: ShowId = show.await.parse().unwrap();
    let anybody = Visitor::anonymous(&sale.server.url);
    let mut waiting = Vec::new();
    for n in 0..visitors {
        let altcha = json!({"altcha": solved(keys, show, n)});
        waiting.push(Waiting::join_with(&anybody, &show.to_string(), altcha).await);
    }
    let told = waiting[0].status().await;
    assert_eq!(told["message"], "Doors at seven.", "{told}");
    assert_eq!(told["prices"]["from"]["amount"], 4501, "{told}");
    assert_eq!(told["sold_out_sections"], json!([]), "{told}");
    let path = format!("/api/v1/shows/{show}/room");
    let soon = room(capacity, rate, now() + 3_000);
    sale.organiser.put(&path, soon).await.expect(200);
    while waiting[0].status().await["opens_at"] == much_later.to_string() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    waiting
}

#[tokio::test(flavor = "multi_thread")]
async fn small_rooms_tell_the_truth() {
    let _turn = LOAD.lock().await;
    let sale = Sale::small(json!({})).await;
    let keys = binding(sale.data.path(), "WORK_KEYS").await;
    let keys: WorkKeys = keys.parse().unwrap();
    let mut rooms = tokio::task::JoinSet::new();
    for (capacity, rate, visitors) in ROOMS {
        let waiting = gather(&sale, &keys, capacity, rate, visitors as u64).await;
        rooms.spawn(run(waiting, capacity));
    }
    let all = tokio::time::timeout(PATIENCE, rooms.join_all());
    all.await.expect("the rooms are through in four minutes");
}
