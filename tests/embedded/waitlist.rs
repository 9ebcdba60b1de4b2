//! A sold-out show: people wait, places come back, and are offered in order.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::orders::{order_of, text};
use crate::sale::Sale;
use crate::server::{Server, command};
use crate::visitor::{Visitor, rows, seat_ids};

/// A crash may cost the right to make a pass, which lasts half a minute, and the sweep
/// comes once a minute.
const PATIENCE: Duration = Duration::from_secs(120);

impl Visitor {
    async fn joins(&self, show: &str, body: Value) -> Value {
        let path = format!("/api/v1/shows/{show}/waitlist");
        self.post(&path, body).await.expect(201)
    }

    async fn entry(&self, show: &str, id: &str) -> Value {
        let path = format!("/api/v1/shows/{show}/waitlist/{id}");
        self.get(&path).await.expect(200)
    }

    /// Waits until an entry has this status.
    async fn entry_becomes(&self, show: &str, id: &str, status: &str) -> Value {
        let began = Instant::now();
        loop {
            let entry = self.entry(show, id).await;
            if entry["status"] == status {
                return entry;
            }
            assert!(began.elapsed() < PATIENCE, "still {entry}, not {status}");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

/// A row of so many seats, all bought by one buyer each.
async fn sold_out(
    server: Server,
    data: tempfile::TempDir,
    seats: usize,
) -> (Sale, Vec<(Visitor, String)>) {
    let sections = json!([rows("A", 1, seats)]);
    let sale = Sale::open_on(server, data, sections, json!({"A": 4500}), json!({})).await;
    let mut owners = Vec::new();
    for seat in 1..=seats {
        let buyer = sale.buyer(&format!("owner{seat}")).await;
        let bought = buyer.buys(&sale.show, &[&format!("A-1-{seat}")]).await;
        owners.push((buyer, text(&bought, "order_id").to_owned()));
    }
    (sale, owners)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_back_is_offered_in_order_and_paid() {
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let (sale, owners) = sold_out(server, data, 2).await;
    let show = &sale.show;
    let (ana, bo) = (sale.buyer("ana").await, sale.buyer("bo").await);
    let first = ana
        .joins(
            show,
            json!({"quantity": 2, "sections": ["A"], "together": "required"}),
        )
        .await;
    assert_eq!(first["position"], 1);
    let alone = json!({"quantity": 1, "together": "preferred"});
    let second = bo.joins(show, alone).await;
    assert_eq!(second["position"], 2);
    let (first, second) = (text(&first, "waitlist_id"), text(&second, "waitlist_id"));
    assert_eq!(ana.entry(show, first).await["status"], "waiting");
    assert_eq!(bo.entry(show, second).await["position"], 2);
    let path = format!("/api/v1/shows/{show}/waitlist");
    ana.post(&path, json!({"quantity": 1}))
        .await
        .problem(409, "conflict");
    for (wrong, status, code) in [
        (json!({"quantity": 7}), 422, "limit_exceeded"),
        (json!({"quantity": 0}), 400, "invalid_request"),
        (
            json!({"quantity": 1, "sections": ["B"]}),
            400,
            "invalid_request",
        ),
        (json!({"quantity": 3}), 400, "invalid_request"),
        (
            json!({"quantity": 1, "together": "beside"}),
            400,
            "invalid_request",
        ),
    ] {
        let refused = sale.organiser.post(&path, wrong).await;
        refused.problem(status, code);
    }
    bo.get(&format!("{path}/{first}"))
        .await
        .problem(404, "not_found");
    bo.delete(&format!("{path}/{first}"))
        .await
        .problem(404, "not_found");
    let counts = sale.organiser.get(&path).await.expect(200);
    assert_eq!(
        counts["counts"],
        json!({"waiting": 2, "places": 3, "offered": 0})
    );
    let own = bo.get(&path).await.expect(200);
    assert_eq!(
        (own["items"][0]["waitlist_id"].as_str(), own.get("counts")),
        (Some(second), None)
    );

    // One seat is enough for bo, and not for ana who came first.
    let (owner, order) = &owners[0];
    owner.cancel(order, "c").await.expect(202);
    let offered = bo.entry_becomes(show, second, "offered").await;
    assert_eq!(seat_ids(&offered["offer"]), ["A-1-1"]);
    assert_eq!(ana.entry(show, first).await["position"], 1);
    let hold = text(&offered["offer"], "hold_id");
    bo.check_out(show, hold, "pay", "pm_card_visa")
        .await
        .expect(202);
    bo.order_becomes(&order_of(hold), "confirmed").await;
    assert_eq!(bo.tickets(&order_of(hold)).await.len(), 1);
    assert_eq!(bo.entry(show, second).await["status"], "taken");

    // Both come back together, and go to ana; then ana leaves, and they are free.
    bo.cancel(&order_of(hold), "c").await.expect(202);
    let (owner, order) = &owners[1];
    owner.cancel(order, "c").await.expect(202);
    let offered = ana.entry_becomes(show, first, "offered").await;
    assert_eq!(seat_ids(&offered["offer"]), ["A-1-1", "A-1-2"]);
    for _ in 0..2 {
        ana.delete(&format!("{path}/{first}")).await.expect(204);
    }
    ana.get(&format!("{path}/{first}"))
        .await
        .problem(404, "not_found");
    let hold = text(&offered["offer"], "hold_id");
    assert_eq!(ana.read_hold(show, hold).await["status"], "released");
    let began = Instant::now();
    while sale.availability().await["free"] != 2 {
        assert!(began.elapsed() < PATIENCE, "the seats are not free");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_that_lapses_goes_to_the_next() {
    let data = tempfile::tempdir().unwrap();
    let mut command = command(
        data.path(),
        &["--empty", "--rate-limit", "off", "--port", "0"],
    );
    command.env("ONSALE_OFFER_SECONDS", "3");
    let server = Server::from_command(command).await.unwrap();
    let (sale, owners) = sold_out(server, data, 1).await;
    let show = &sale.show;
    let (ana, bo) = (sale.buyer("ana").await, sale.buyer("bo").await);
    let first = ana.joins(show, json!({"quantity": 1})).await;
    let second = bo.joins(show, json!({"quantity": 1})).await;
    let (first, second) = (text(&first, "waitlist_id"), text(&second, "waitlist_id"));
    owners[0].0.cancel(&owners[0].1, "c").await.expect(202);
    ana.entry_becomes(show, first, "offered").await;
    ana.entry_becomes(show, first, "lapsed").await;
    bo.entry_becomes(show, second, "offered").await;
}

/// Tickets come back while the process is killed, twice. Whoever is first in line has an
/// offer in the end, and no seat is offered twice.
#[tokio::test(flavor = "multi_thread")]
async fn no_offer_is_lost_when_the_process_is_killed() {
    const SEATS: usize = 12;
    let data = tempfile::tempdir().unwrap();
    let server = Server::start(data.path()).await;
    let (mut sale, owners) = sold_out(server, data, SEATS).await;
    let show = sale.show.clone();
    let mut line = Vec::new();
    for n in 0..SEATS + 3 {
        let buyer = sale.buyer(&format!("waits{n}")).await;
        let joined = buyer.joins(&show, json!({"quantity": 1})).await;
        line.push((buyer, text(&joined, "waitlist_id").to_owned()));
    }
    for half in owners.chunks(SEATS / 2) {
        let url = sale.server.url.clone();
        let returns = half.iter().map(|(owner, order)| {
            let owner = owner.at(&url);
            async move { owner.cancel(order, "c").await.expect(202) }
        });
        join_all(returns).await;
        // Some offers are made by now, and some are not.
        tokio::time::sleep(Duration::from_millis(150)).await;
        sale.server.kill().await;
        sale.server = Server::start(sale.data.path()).await;
    }
    let url = sale.server.url.clone();
    let mut seats = BTreeSet::new();
    for (buyer, id) in &line[..SEATS] {
        let offered = buyer.at(&url).entry_becomes(&show, id, "offered").await;
        let own = seat_ids(&offered["offer"]);
        assert_eq!(own.len(), 1);
        assert!(seats.insert(own), "a seat is offered twice");
    }
    for (buyer, id) in &line[SEATS..] {
        assert_eq!(buyer.at(&url).entry(&show, id).await["status"], "waiting");
    }
}
