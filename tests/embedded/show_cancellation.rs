//! An organiser calls a show off: everyone is refunded, whatever happens meanwhile.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};

use crate::command_line::reconcile;
use crate::orders::{order_of, text, until};
use crate::promise::PATIENCE;
use crate::sale::Sale;
use crate::server::{LOAD, Server};
use crate::visitor::{Answer, Visitor, crowd, rows};

const BUYERS: usize = 40;
const ORDERS_EACH: usize = 50;
const ORDERS: u64 = (BUYERS * ORDERS_EACH) as u64;

pub(crate) async fn cancel_show(organiser: &Visitor, show: &str) -> Answer {
    let path = format!("/api/v1/shows/{show}/cancel");
    organiser.post(&path, Value::Null).await
}

/// How many refunds are due, and how many are done.
async fn progress(organiser: &Visitor, show: &str) -> (u64, u64) {
    let path = format!("/api/v1/shows/{show}/cancellation");
    let read = organiser.get(&path).await.expect(200);
    let number = |field: &str| read[field].as_u64().unwrap();
    (number("refunds_due"), number("refunds_done"))
}

/// How many of the orders of this buyer have this status.
async fn count(visitor: &Visitor, status: &str) -> usize {
    let page = visitor.get("/api/v1/orders?limit=100").await.expect(200);
    let orders = page["items"].as_array().unwrap();
    orders.iter().filter(|o| o["status"] == status).count()
}

/// Buys seats one by one, as quickly as the platform accepts them.
async fn buy_many(visitor: &Visitor, show: &str, buyer: usize) {
    for n in 0..ORDERS_EACH {
        let place = buyer * ORDERS_EACH + n;
        let seat = format!("A-{}-{}", place / 40 + 1, place % 40 + 1);
        let hold = visitor.holds(show, &[&seat]).await;
        let begun = visitor.check_out(show, &hold, "pay", "pm_card_visa").await;
        begun.expect(202);
    }
}

/// Waits until the platform has counted all orders as confirmed. Asking the buyers would
/// cost it more than selling does.
async fn all_confirmed(server: &Server) {
    let counted = format!("onsale_bookings_total{{status=\"confirmed\"}} {ORDERS}\n");
    until("all are confirmed", async || {
        let metrics = reqwest::get(format!("{}/metrics", server.url)).await;
        let text = metrics.unwrap().text().await.unwrap();
        text.contains(&counted).then_some(())
    })
    .await;
}

/// Reconciling wakes an order that nobody has woken for two minutes, once a minute: so long
/// may the last refund take when the process dies between a write and its message.
const LONGEST: Duration = Duration::from_secs(240);

#[tokio::test(flavor = "multi_thread")]
async fn two_thousand_orders_are_refunded_although_the_process_dies() {
    let _alone = LOAD.lock().await;
    let began = Instant::now();
    let more = json!({"max_tickets_per_buyer": 50, "hold_seconds": 900});
    let sale = Sale::open(json!([rows("A", 50, 40)]), json!({"A": 4501}), more).await;
    let Sale {
        server,
        data,
        organiser,
        show,
        ..
    } = sale;
    let buyers = crowd(&server.url, BUYERS).await;
    let buying = buyers.iter().enumerate();
    join_all(buying.map(|(n, buyer)| buy_many(buyer, &show, n))).await;
    all_confirmed(&server).await;
    let sold = began.elapsed();

    let called_off = Instant::now();
    let answer = cancel_show(&organiser, &show).await.expect(202);
    assert_eq!(answer, json!({"refunds_due": ORDERS}));
    let answered = called_off.elapsed();
    let done_before = until("the first refunds", async || {
        let (due, done) = progress(&organiser, &show).await;
        assert_eq!(due, ORDERS);
        (done >= 100).then_some(done)
    })
    .await;
    server.kill().await;
    assert!(done_before < ORDERS, "all were done: too late to kill");

    let server = Server::start(data.path()).await;
    let organiser = organiser.at(&server.url);
    let restarted = Instant::now();
    loop {
        let (due, done) = progress(&organiser, &show).await;
        assert_eq!(due, ORDERS);
        assert!(done >= done_before, "{done} after {done_before}");
        if done == due {
            break;
        }
        let waited = restarted.elapsed();
        assert!(waited < PATIENCE + LONGEST, "{done} after {waited:?}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    let refunded = called_off.elapsed();
    join_all(buyers.iter().map(async |buyer| {
        let buyer = buyer.at(&server.url);
        until("all are refunded", async || {
            (count(&buyer, "refunded").await == ORDERS_EACH).then_some(())
        })
        .await;
    }))
    .await;
    println!(
        "{ORDERS} orders: sold after {sold:.1?}; cancelling answered after {answered:.1?}, \
         killed at {done_before}, all refunded {refunded:.1?} after it was asked; \
         the whole test {:.1?}",
        began.elapsed()
    );
    assert_eq!(cancel_show(&organiser, &show).await.expect(202), answer);
    let books = reconcile(data.path()).await;
    assert_eq!((books.sold, books.payments), (0, ORDERS));
    assert_eq!(books.captured, ORDERS * 4501);
    assert_eq!(books.refunded, books.captured);
    assert_eq!(books.free + books.held, books.capacity);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_show_sells_nothing_and_gives_everything_back() {
    // So late that the policy alone would give nothing back.
    let starts = time::OffsetDateTime::now_utc() + time::Duration::hours(1);
    let starts = starts.format(&time::format_description::well_known::Rfc3339);
    let sale = Sale::small(json!({"starts_at": starts.unwrap()})).await;
    let (show, ana, bo) = (&sale.show, sale.buyer("ana").await, sale.buyer("bo").await);
    let bought = ana.buys(show, &["A-1-1", "A-1-2"]).await;
    let order = text(&bought, "order_id");
    let held = bo.holds(show, &["A-1-3"]).await;
    let waiting = bo.holds(show, &["A-1-4"]).await;
    bo.check_out(show, &waiting, "pay", "pm_sandbox_requires_action")
        .await
        .expect(202);
    bo.order_becomes(&order_of(&waiting), "requires_action")
        .await;

    let answer = cancel_show(&sale.organiser, show).await.expect(202);
    assert_eq!(answer, json!({"refunds_due": 1}));
    bo.check_out(show, &held, "pay", "pm_card_visa")
        .await
        .problem(409, "not_on_sale");
    bo.hold(show, "k", json!({"seats": ["A-2-1"]}))
        .await
        .problem(409, "not_on_sale");
    let read = ana.get(&format!("/api/v1/shows/{show}")).await.expect(200);
    assert_eq!(read["status"], "cancelled");

    let refunded = until("the refund", async || {
        let read = ana.read_order(order).await;
        (read["status"] == "refunded").then_some(read)
    })
    .await;
    assert_eq!(refunded["refund"], refunded["total"]);
    assert_eq!(refunded["reason"], "show_cancelled");
    let ended = until("the unpaid order ends", async || {
        let read = bo.read_order(&order_of(&waiting)).await;
        (read["status"] == "cancelled").then_some(read)
    })
    .await;
    assert_eq!(ended["reason"], "show_cancelled");
    let tickets = ana.tickets(order).await;
    let scanned = sale.organiser.scan(show, text(&tickets[0], "code")).await;
    assert_eq!(scanned.expect(200)["result"], "revoked");
    assert_eq!(progress(&sale.organiser, show).await, (1, 1));
    let books = reconcile(sale.data.path()).await;
    assert_eq!(
        (books.sold, books.captured, books.refunded),
        (0, 9002, 9002)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn only_its_organiser_cancels_a_show() {
    let sale = Sale::small(json!({})).await;
    let other = Visitor::new(&sale.server.url, "other", "organiser").await;
    let cancellation = format!("/api/v1/shows/{}/cancellation", sale.show);
    for stranger in [&other, &sale.buyer("ana").await] {
        cancel_show(stranger, &sale.show)
            .await
            .problem(403, "forbidden");
        stranger.get(&cancellation).await.problem(403, "forbidden");
    }
    cancel_show(&Visitor::anonymous(&sale.server.url), &sale.show)
        .await
        .problem(401, "unauthenticated");
    sale.organiser
        .get(&cancellation)
        .await
        .problem(404, "not_found");
    assert_eq!(sale.availability().await["free"], 20);
}
