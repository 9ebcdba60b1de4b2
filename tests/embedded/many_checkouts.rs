//! Five hundred people pay at the same moment.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::command_line::reconcile;
use crate::orders::{order_of, text};
use crate::promise::{PATIENCE, promised};
use crate::sale::Sale;
use crate::server::LOAD;
use crate::visitor::{Visitor, crowd, rows};

const BUYERS: usize = 25;
const ORDERS_EACH: usize = 20;
const ORDERS: usize = BUYERS * ORDERS_EACH;
const ALL_WITHIN: Duration = Duration::from_secs(30);
/// Looking costs the platform as much as selling does, so nobody looks all the time.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// When an order was last seen unpaid, and when its tickets could be read.
struct Journey {
    accepted: Instant,
    last_pending: Instant,
    tickets_read: Instant,
    tickets: usize,
}

/// Holds of 1 to 4 seats side by side, which make a whole row of 50, the most that one
/// buyer may have; the id of each and how many seats it has.
async fn hold_row(visitor: &Visitor, show: &str, row: usize) -> Vec<(String, usize)> {
    let (mut holds, mut first) = (Vec::new(), 1);
    for n in 0..ORDERS_EACH {
        let quantity = 1 + (row + n) % 4;
        let seats: Vec<_> = (first..first + quantity)
            .map(|seat| format!("A-{row}-{seat}"))
            .collect();
        first += quantity;
        let (key, body) = (format!("hold-{n}"), json!({"seats": seats}));
        let held = visitor.hold(show, &key, body).await.expect(201);
        holds.push((text(&held, "hold_id").to_owned(), quantity));
    }
    holds
}

/// Pays for all holds at once and watches the list of orders until all have tickets.
async fn pay_all(visitor: Visitor, show: String, holds: Vec<(String, usize)>) -> Vec<Journey> {
    let accepted = join_all(holds.iter().map(async |(hold, seats)| {
        let begun = visitor.check_out(&show, hold, "pay", "pm_card_visa").await;
        begun.expect(202);
        (order_of(hold), (Instant::now(), *seats))
    }));
    let accepted: HashMap<String, (Instant, usize)> = accepted.await.into_iter().collect();
    let mut pending: HashMap<&String, Instant> =
        accepted.iter().map(|(id, (at, _))| (id, *at)).collect();
    let mut journeys = Vec::new();
    let began = Instant::now();
    while !pending.is_empty() {
        assert!(began.elapsed() < PATIENCE, "{} are open", pending.len());
        let asked = Instant::now();
        let page = visitor.get("/api/v1/orders?limit=20").await.expect(200);
        for order in page["items"].as_array().unwrap() {
            let id = text(order, "order_id").to_owned();
            let Some(last_pending) = pending.get_mut(&id) else {
                continue;
            };
            match text(order, "status") {
                "pending" => *last_pending = asked,
                "authorised" => {}
                "confirmed" => {
                    let last_pending = *last_pending;
                    pending.remove(&id);
                    let (accepted, seats) = accepted[&id];
                    let tickets = ready_tickets(&visitor, &id, seats).await;
                    journeys.push(Journey {
                        accepted,
                        last_pending,
                        tickets_read: Instant::now(),
                        tickets,
                    });
                }
                _ => panic!("{order}"),
            }
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
    journeys
}

/// A confirmed order has all its tickets, all valid.
async fn ready_tickets(visitor: &Visitor, order: &str, seats: usize) -> usize {
    let tickets = visitor.tickets(order).await;
    assert_eq!(tickets.len(), seats, "{order} is confirmed");
    assert!(tickets.iter().all(|ticket| ticket["status"] == "valid"));
    let codes: HashSet<_> = tickets.iter().map(|t: &Value| text(t, "code")).collect();
    assert_eq!(codes.len(), seats);
    seats
}

fn percentiles(mut times: Vec<Duration>) -> (Duration, Duration) {
    times.sort();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
    (at(50), at(99))
}

/// Seconds from taking the money to tickets, as the platform's metrics have it.
async fn ticket_wait_p99(url: &str) -> f64 {
    let metrics = reqwest::get(format!("{url}/metrics")).await.unwrap();
    let metrics = metrics.text().await.unwrap();
    let count = "onsale_ticket_wait_seconds_count ";
    let counted = metrics.lines().find_map(|l| l.strip_prefix(count)).unwrap();
    assert_eq!(counted.parse::<usize>().unwrap(), ORDERS);
    let p99 = "onsale_ticket_wait_seconds{quantile=\"0.99\"} ";
    let p99 = metrics.lines().find_map(|l| l.strip_prefix(p99)).unwrap();
    p99.parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn five_hundred_checkouts_at_once_are_confirmed_with_tickets_in_time() {
    let _alone = LOAD.lock().await;
    let more = json!({"max_tickets_per_buyer": 50, "hold_seconds": 900});
    let sale = Sale::open(json!([rows("A", 40, 50)]), json!({"A": 4501}), more).await;
    let buyers = crowd(&sale.server.url, BUYERS).await;
    let holding = buyers.iter().zip(1..);
    let holds = join_all(holding.map(|(buyer, row)| hold_row(buyer, &sale.show, row))).await;

    let began = Instant::now();
    let paying = buyers
        .into_iter()
        .zip(holds)
        .map(|(buyer, holds)| tokio::spawn(pay_all(buyer, sale.show.clone(), holds)));
    let mut journeys = Vec::new();
    for buyer in paying.collect::<Vec<_>>() {
        journeys.extend(buyer.await.unwrap());
    }
    let all = began.elapsed();
    let (p50, p99) = percentiles(
        journeys
            .iter()
            .map(|j| j.tickets_read - j.accepted)
            .collect(),
    );
    // The money is taken after an order was last seen pending, so its tickets come sooner
    // after that than this says.
    let after_capture = journeys.iter().map(|j| j.tickets_read - j.last_pending);
    let (after_p50, after_p99) = percentiles(after_capture.collect());
    // The platform knows when the money was taken; over HTTP it cannot be seen.
    let wait = ticket_wait_p99(&sale.server.url).await;
    let (wait, most) = (Duration::from_secs_f64(wait), Duration::from_secs(5));
    promised("tickets after the capture, p99", wait, most);
    println!(
        "{ORDERS} checkouts: all with tickets after {all:.1?}; accepted to tickets p50 {p50:.1?} \
         p99 {p99:.1?}; last pending to tickets p50 {after_p50:.1?} p99 {after_p99:.1?}"
    );
    promised("500 checkouts at once", all, ALL_WITHIN);

    let issued: usize = journeys.iter().map(|j| j.tickets).sum();
    let books = reconcile(sale.data.path()).await;
    assert_eq!(books.free + books.held + books.sold, books.capacity);
    assert_eq!((books.capacity, books.held), (2_000, 0));
    assert_eq!(books.sold, issued as u64);
    assert_eq!(books.payments, ORDERS as u64);
    assert_eq!(books.captured, issued as u64 * 4501);
    assert_eq!((books.refunded, books.orphans), (0, 0));
    assert_eq!(books.repairs, Vec::<String>::new());
}
