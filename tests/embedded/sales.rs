//! What an organiser sees and takes away, while people hold, buy and return.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::orders::{order_of, text, until};
use crate::sale::Sale;
use crate::server::{LOAD, Server};
use crate::visitor::{Visitor, crowd, rows};

/// Two thousand orders; fewer where the platform itself is slow.
const BUYERS: usize = if cfg!(debug_assertions) { 6 } else { 40 };
const ORDERS_EACH: usize = 50;
const ORDERS: usize = BUYERS * ORDERS_EACH;

fn euros(amount: u64) -> Value {
    json!({"amount": amount, "currency": "EUR"})
}

impl Visitor {
    async fn sales(&self, show: &str) -> Value {
        let path = format!("/api/v1/shows/{show}/sales");
        self.get(&path).await.expect(200)
    }

    /// The sales once they say this.
    async fn sales_become(&self, show: &str, expected: Value) -> Value {
        until(&format!("sales become {expected}"), async || {
            let sales = self.sales(show).await;
            let expected = expected.as_object().unwrap();
            expected
                .iter()
                .all(|(name, value)| sales[name] == *value)
                .then_some(sales)
        })
        .await
    }

    async fn begins_export(&self, show: &str, key: &str, kind: &str) -> String {
        let path = format!("/api/v1/shows/{show}/exports");
        let request = self.request(Method::POST, &path);
        let request = request.header("idempotency-key", key);
        let begun = self.send(request.json(&json!({"kind": kind}))).await;
        text(&begun.expect(202), "export_id").to_owned()
    }

    /// Waits until it is ready and downloads it, with nothing but the link.
    async fn fetches_export(&self, show: &str, export: &str) -> String {
        let path = format!("/api/v1/shows/{show}/exports/{export}");
        let ready = until("the export is ready", async || {
            let export = self.get(&path).await.expect(200);
            assert_ne!(export["status"], "failed");
            (export["status"] == "ready").then_some(export)
        })
        .await;
        let link = text(&ready, "link");
        assert!(link.starts_with(&self.url), "{link} is on {}", self.url);
        let file = reqwest::get(link).await.unwrap();
        assert_eq!(file.status(), 200, "{link}");
        let name = file.headers()["content-disposition"].to_str().unwrap();
        assert!(name.contains(&format!("-{show}.csv")), "{name}");
        let file = file.text().await.unwrap();
        let lines = file.lines().count() as u64;
        assert_eq!(ready["rows"].as_u64(), Some(lines - 1));
        file
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sales_follow_holds_purchases_and_refunds_to_the_cent() {
    let sections = json!([rows("A", 2, 10), {"name": "Floor", "capacity": 30}]);
    let sale = Sale::open(sections, json!({"A": 4501, "Floor": 1999}), json!({})).await;
    let (show, organiser) = (&sale.show, &sale.organiser);
    let (ana, bo) = (sale.buyer("ana").await, sale.buyer("bo").await);
    let nothing = json!({"free": 50, "held": 0, "sold": 0, "total": 50, "revenue": euros(0)});
    organiser.sales_become(show, nothing).await;

    bo.holds(show, &["A-2-1"]).await;
    let first = ana.buys(show, &["A-1-1", "A-1-2"]).await;
    ana.buys(show, &["Floor-GA-1"]).await;
    let sold = json!({"free": 46, "held": 1, "sold": 3, "revenue": euros(11_001)});
    let sales = organiser.sales_become(show, sold).await;
    let minutes = sales["by_minute"].as_array().unwrap();
    let tickets: u64 = minutes.iter().map(|m| m["tickets"].as_u64().unwrap()).sum();
    assert_eq!(tickets, 3);

    let order = text(&first, "order_id");
    ana.cancel(order, "c").await.expect(202);
    ana.order_becomes(order, "refunded").await;
    let back = json!({"free": 48, "held": 1, "sold": 1, "revenue": euros(1_999),
        "gross": euros(11_001), "refunds": euros(9_002)});
    let sales = organiser.sales_become(show, back).await;
    let stalls = json!({"name": "A", "free": 19, "held": 1, "sold": 0, "total": 20,
        "revenue": euros(0), "gross": euros(9_002), "refunds": euros(9_002)});
    assert_eq!(sales["by_section"][0], stalls);
    assert_eq!(sales["by_section"][1]["revenue"], euros(1_999));
    assert_eq!(sales["room"]["waiting"], 0);
    ana.get(&format!("/api/v1/shows/{show}/sales"))
        .await
        .problem(403, "forbidden");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stream_of_sales_tells_its_organiser_what_changes() {
    let sale = Sale::small(json!({})).await;
    let (show, ana) = (&sale.show, sale.buyer("ana").await);
    let path = format!("/feed/{show}/sales");
    let stream = |who: &Visitor| {
        let request = who.request(Method::GET, &path);
        request.header("accept", "text/event-stream").send()
    };
    assert_eq!(stream(&ana).await.unwrap().status(), 403);
    let nobody = Visitor::anonymous(&sale.server.url);
    assert_eq!(stream(&nobody).await.unwrap().status(), 401);

    let opened = stream(&sale.organiser).await.unwrap();
    assert_eq!(opened.headers()["content-type"], "text/event-stream");
    let mut pieces = opened.bytes_stream();
    let mut told = String::new();
    let mut hears = async |what: &str| {
        while !told.contains(what) {
            let piece = pieces.next().await.unwrap().unwrap();
            told.push_str(std::str::from_utf8(&piece).unwrap());
        }
    };
    let all = async {
        hears("\"revenue\":{\"amount\":0,").await;
        ana.buys(show, &["A-1-1"]).await;
        hears("\"revenue\":{\"amount\":4501,").await;
    };
    tokio::time::timeout(Duration::from_secs(60), all)
        .await
        .unwrap();
    assert!(
        told.starts_with("event: sales\ndata: {\"show_id\":"),
        "{told}"
    );
}

/// Every row of 50 seats is bought seat by seat.
async fn sell_everything(sale: &Sale) -> BTreeSet<String> {
    let buyers = crowd(&sale.server.url, BUYERS).await;
    let bought = join_all(buyers.iter().enumerate().map(async |(row, buyer)| {
        let mut orders = Vec::new();
        for seat in 1..=ORDERS_EACH {
            let seat = format!("A-{}-{seat}", row + 1);
            let hold = buyer.holds(&sale.show, &[&seat]).await;
            let begun = buyer.check_out(&sale.show, &hold, "pay", "pm_card_visa");
            begun.await.expect(202);
            orders.push(order_of(&hold));
        }
        for order in &orders {
            buyer.order_becomes(order, "confirmed").await;
        }
        orders
    }));
    bought.await.into_iter().flatten().collect()
}

/// The ids in the first column, each of which must be there once.
fn first_column(file: &str) -> BTreeSet<String> {
    let lines = file.lines().skip(1);
    let ids: Vec<_> = lines
        .map(|l| l.split(',').next().unwrap().to_owned())
        .collect();
    let distinct: BTreeSet<_> = ids.iter().cloned().collect();
    assert_eq!(ids.len(), distinct.len(), "a row is there twice");
    distinct
}

#[tokio::test(flavor = "multi_thread")]
async fn exports_have_every_order_once_and_outlive_kill_9() {
    let _alone = LOAD.lock().await;
    let more = json!({"max_tickets_per_buyer": 50, "hold_seconds": 900});
    let sections = json!([rows("A", BUYERS, ORDERS_EACH)]);
    let sale = Sale::open(sections, json!({"A": 4501}), more).await;
    let orders = sell_everything(&sale).await;
    assert_eq!(orders.len(), ORDERS);
    let Sale {
        mut server,
        data,
        mut organiser,
        show,
        ..
    } = sale;
    let revenue = json!({"sold": ORDERS, "revenue": euros(4501 * ORDERS as u64)});
    organiser.sales_become(&show, revenue.clone()).await;

    let export = organiser.begins_export(&show, "calm", "orders").await;
    let file = organiser.fetches_export(&show, &export).await;
    assert_eq!(first_column(&file), orders);
    let export = organiser.begins_export(&show, "people", "attendees").await;
    let file = organiser.fetches_export(&show, &export).await;
    assert_eq!(first_column(&file).len(), ORDERS);
    assert_eq!(file.matches(",A,valid,").count(), ORDERS);

    for round in 0..5 {
        let key = format!("crash {round}");
        let export = organiser.begins_export(&show, &key, "orders").await;
        tokio::time::sleep(Duration::from_millis(40 * round)).await;
        server.kill().await;
        server = Server::start(data.path()).await;
        organiser = organiser.at(&server.url);
        let file = organiser.fetches_export(&show, &export).await;
        assert_eq!(first_column(&file), orders, "round {round}");
    }
    organiser.sales_become(&show, revenue).await;
    assert!(server.stop().await.success());
}
