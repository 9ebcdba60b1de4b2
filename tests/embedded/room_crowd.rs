//! Twenty thousand people before a room for five hundred.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use onsale_domain::ids::{ShowId, VisitorId};
use onsale_domain::room::joining::{WAIT_MS, WAITING_CHALLENGE_MS};
use onsale_domain::time::Millis;
use onsale_domain::work::{Terms, WorkKeys, issue_waiting};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::sync::{Mutex, Semaphore};
use tokio::task::JoinSet;

use crate::command_line::onsale_at;
use crate::sale::Sale;
use crate::server::LOAD;
use crate::visitor::{Visitor, rows};
use crate::waiting::Waiting;

const PEOPLE: usize = 20_000;
/// How many requests are under way at once, on a machine that is client and server.
const AT_ONCE: usize = 48;

pub(crate) fn now() -> Millis {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Millis(since.unwrap().as_millis() as u64)
}

/// One of the secrets of the edge.
pub(crate) async fn binding(data: &std::path::Path, name: &str) -> String {
    let said = onsale_at(data, &["edge-bindings"]).await;
    assert_eq!(said.code, 0, "{said:?}");
    let mut lines = said.out.lines().filter_map(|line| line.split_once('='));
    let found = lines.find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("no {name}")).1.to_owned()
}

/// A challenge that is solved already. Whoever knows the secret can make one; working
/// for 20,000 of them would only measure this machine.
pub(crate) fn solved(keys: &WorkKeys, show: ShowId, n: u64) -> String {
    let mut name = [7; 16];
    name[..8].copy_from_slice(&n.to_be_bytes());
    let mut entropy = [0; 34];
    entropy[..8].copy_from_slice(&n.to_be_bytes());
    let arrived = now();
    let terms = Terms {
        show,
        visitor: VisitorId::from_bytes(name),
        expires: arrived + (WAITING_CHALLENGE_MS - WAIT_MS),
    };
    issue_waiting(&terms, arrived.saturating_sub(2_000), &entropy, keys)
}

struct Crowd {
    sale: Sale,
    waiting: Vec<Waiting>,
}

impl Crowd {
    async fn gather(room: Value, people: usize) -> Self {
        let sections = json!([rows("A", 200, 100)]);
        let sale = Sale::open(sections, json!({"A": 100}), json!({"room": room})).await;
        let keys: WorkKeys = binding(sale.data.path(), "WORK_KEYS")
            .await
            .parse()
            .unwrap();
        let anybody = Visitor::anonymous(&sale.server.url);
        let show: ShowId = sale.show.parse().unwrap();
        let permits = Arc::new(Semaphore::new(AT_ONCE));
        let joins: Vec<_> = (0..people as u64)
            .map(|n| {
                let (anybody, keys, permits) = (anybody.clone(), keys.clone(), permits.clone());
                tokio::spawn(async move {
                    let _permit = permits.acquire().await.unwrap();
                    let altcha = solved(&keys, show, n);
                    Waiting::join_with(&anybody, &show.to_string(), json!({"altcha": altcha})).await
                })
            })
            .collect();
        let mut waiting = Vec::new();
        for join in joins {
            waiting.push(join.await.unwrap());
        }
        Self { sale, waiting }
    }
}

/// What everybody together saw.
#[derive(Default)]
struct Seen {
    live: AtomicUsize,
    most: AtomicUsize,
    entries: Mutex<Vec<Instant>>,
    asked: AtomicUsize,
    at_door: AtomicUsize,
    answered_in_us: AtomicUsize,
}

impl Seen {
    async fn entered(&self) {
        let live = self.live.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(live, Ordering::SeqCst);
        self.entries.lock().await.push(Instant::now());
    }

    fn leaves(&self) {
        self.live.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Everybody asks as often as they are told to, enters when they may, stays, and leaves, but
/// not before `may_leave`.
/// A pass counts as alive from the answer that brings it to the request that ends it, so
/// never longer than it is.
async fn live(
    crowd: &[Waiting],
    stay: Duration,
    may_leave: impl Fn(&Seen) -> bool,
    is_over: impl AsyncFn(&Seen) -> bool,
) -> Arc<Seen> {
    let seen = Arc::new(Seen::default());
    // Who does something next, and when: one heap instead of 20,000 sleeping tasks.
    let start = Instant::now();
    let mut due: BinaryHeap<_> = (0..crowd.len()).map(|n| Reverse((start, n))).collect();
    let inside = Arc::new(Mutex::new(vec![false; crowd.len()]));
    let permits = Arc::new(Semaphore::new(AT_ONCE));
    let (done, mut came_back) = tokio::sync::mpsc::unbounded_channel::<(Instant, usize)>();
    // Whoever meets a wrong answer panics, and that has to be heard here.
    let mut tasks = JoinSet::new();
    loop {
        while let Some(ended) = tasks.try_join_next() {
            ended.unwrap();
        }
        while let Ok(next) = came_back.try_recv() {
            due.push(Reverse(next));
        }
        let now = Instant::now();
        if is_over(&seen).await {
            while let Some(ended) = tasks.join_next().await {
                ended.unwrap();
            }
            return seen;
        }
        let Some(Reverse((at, n))) = due.peek().copied().filter(|Reverse((at, _))| *at <= now)
        else {
            tokio::time::sleep(Duration::from_millis(2)).await;
            continue;
        };
        due.pop();
        if inside.lock().await[n] && !may_leave(&seen) {
            due.push(Reverse((at + Duration::from_millis(500), n)));
            continue;
        }
        let permit = permits.clone().acquire_owned().await.unwrap();
        let (waiting, seen, done, inside) =
            (crowd[n].clone(), seen.clone(), done.clone(), inside.clone());
        tasks.spawn(async move {
            let _permit = permit;
            if inside.lock().await[n] {
                seen.leaves();
                waiting.leave().await.expect(204);
                return;
            }
            let asked = Instant::now();
            let status = waiting.status().await;
            seen.asked.fetch_add(1, Ordering::Relaxed);
            let micros = asked.elapsed().as_micros() as usize;
            seen.answered_in_us.fetch_add(micros, Ordering::Relaxed);
            let mut again = status["refresh_after_ms"].as_u64().unwrap();
            seen.at_door
                .fetch_add(usize::from(status["state"] == "door"), Ordering::Relaxed);
            if status["state"] == "admitted" {
                // `admitted` is a promise.
                waiting.ask(Method::POST, "enter").await.expect(200);
                seen.entered().await;
                inside.lock().await[n] = true;
                again = stay.as_millis() as u64;
            }
            let _ = done.send((Instant::now() + Duration::from_millis(again), n));
        });
    }
}

/// However slow this machine is, nobody waits longer for a crowd.
const PATIENCE: Duration = Duration::from_secs(600);

#[tokio::test(flavor = "multi_thread")]
async fn passes_alive_never_exceed_the_cap() {
    const CAPACITY: usize = 500;
    let _turn = LOAD.lock().await;
    let room = json!({"mode": "queue_all", "capacity": CAPACITY, "rate_per_second": 100, "pass_seconds": 900});
    let crowd = Crowd::gather(room, PEOPLE).await;
    // Those inside stay until the room is full, and some more come when they leave.
    let is_full = |seen: &Seen| seen.most.load(Ordering::SeqCst) >= CAPACITY * 9 / 10;
    let end = Instant::now() + PATIENCE;
    let is_over = async |seen: &Seen| {
        let entered = seen.entries.lock().await.len();
        assert!(Instant::now() < end, "{entered} entered");
        is_full(seen) && entered >= CAPACITY + CAPACITY / 5
    };
    let seen = live(&crowd.waiting, Duration::from_secs(12), is_full, is_over).await;
    let most = seen.most.load(Ordering::SeqCst);
    let entered = seen.entries.lock().await.len();
    println!(
        "{} people, {entered} entered, at most {most} at once",
        crowd.waiting.len()
    );
    assert!(most <= CAPACITY, "{most} passes at once");
    drop(crowd.sale);
}

/// The whole crowd has joined before the room opens, and everybody real polls as they are
/// told, so that nothing depends on how fast this machine lets them join. How well the rate
/// is kept is measured in simulation, where time does not depend on the machine.
#[tokio::test(flavor = "multi_thread")]
async fn the_line_goes_on_though_most_of_the_admitted_never_come() {
    let _turn = LOAD.lock().await;
    let room = |opens: Millis| {
        let opens = opens.to_string();
        json!({"mode": "queue_all", "capacity": 500, "rate_per_second": 10, "opens_at": opens})
    };
    let much_later = now() + 3_600_000;
    let crowd = Crowd::gather(room(much_later), 3_000).await;
    // Seven in ten took a ticket and closed the window.
    let tickets = crowd.waiting.iter().enumerate();
    let real: Vec<_> = tickets
        .filter(|(n, _)| n % 10 < 3)
        .map(|(_, waiting)| waiting.clone())
        .collect();
    let opens = now() + 5_000;
    let path = format!("/api/v1/shows/{}/room", crowd.sale.show);
    let organiser = &crowd.sale.organiser;
    organiser.put(&path, room(opens)).await.expect(200);
    while real[0].status().await["opens_at"] == much_later.to_string() {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    // More than could come if the line went no further than the rate times the share of
    // those who come: in half a minute 300 of the whole line are reached, 90 of them real.
    let end = Instant::now() + PATIENCE;
    let is_over = async |seen: &Seen| {
        let entered = seen.entries.lock().await.len();
        assert!(Instant::now() < end, "{entered} entered");
        entered >= 400
    };
    let seen = live(&real, Duration::from_secs(3), |_: &Seen| true, is_over).await;
    let entries = seen.entries.lock().await;
    let asked = seen.asked.load(Ordering::Relaxed);
    println!(
        "{} entered; {asked} polls, each answered in {} ms, {} of them at the door",
        entries.len(),
        seen.answered_in_us.load(Ordering::Relaxed) / asked / 1_000,
        seen.at_door.load(Ordering::Relaxed),
    );
    drop(crowd.sale);
}
