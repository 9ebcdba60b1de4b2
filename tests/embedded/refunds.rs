//! Cancelling an order: the share that the policy gives back at that moment, once, and
//! the seats for others at once.

use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::command_line::reconcile;
use crate::orders::{order_of, text};
use crate::owners::wait_for_counts;
use crate::sale::Sale;

fn euros(amount: u64) -> Value {
    json!({"amount": amount, "currency": "EUR"})
}

/// A show that begins so many hours from now.
async fn sale_in(hours: i64) -> Sale {
    let starts = OffsetDateTime::now_utc() + time::Duration::hours(hours);
    Sale::small(json!({"starts_at": starts.format(&Rfc3339).unwrap()})).await
}

/// Buys a seat for 45.01, cancels, and checks all that has to follow.
async fn check_refund(hours: i64, percent: u64, refund: u64, status: &str) {
    let sale = sale_in(hours).await;
    let (show, ana, bo) = (&sale.show, sale.buyer("ana").await, sale.buyer("bo").await);
    let bought = ana.buys(show, &["A-1-1"]).await;
    let order = text(&bought, "order_id");
    let expected = json!({"refund": euros(refund), "percent": percent});
    assert_eq!(ana.cancel(order, "c").await.expect(202), expected);

    let ended = ana.order_becomes(order, status).await;
    assert_eq!(ended["refund"], euros(refund));
    assert_eq!(
        (&ended["reason"], &ended["tickets"]),
        (&json!("buyer"), &json!([]))
    );
    let tickets = ana.tickets(order).await;
    assert_eq!(tickets.len(), 1);
    assert_eq!(tickets[0]["status"], "revoked");
    let hold = order.replace("ord_", "hld_");
    assert_eq!(ana.read_hold(show, &hold).await["status"], "released");
    wait_for_counts(&ana, show, 20, 0).await;

    for key in ["c", "another key"] {
        assert_eq!(ana.cancel(order, key).await.expect(202), expected);
    }
    bo.buys(show, &["A-1-1"]).await;
    let books = reconcile(sale.data.path()).await;
    assert_eq!((books.captured, books.refunded), (2 * 4501, refund));
    assert_eq!(books.repairs, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_day_before_the_show_everything_comes_back() {
    check_refund(25, 100, 4501, "refunded").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_the_day_half_of_it_comes_back_rounded_for_the_buyer() {
    check_refund(5, 50, 2251, "refunded").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn shortly_before_the_show_nothing_comes_back() {
    check_refund(1, 0, 0, "cancelled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_many_times_at_once_refunds_once() {
    let sale = sale_in(25).await;
    let ana = sale.buyer("ana").await;
    let bought = ana.buys(&sale.show, &["A-1-1", "A-1-2"]).await;
    let order = text(&bought, "order_id").to_owned();
    let twins: Vec<_> = (0..20)
        .map(|n| {
            let (ana, order) = (ana.clone(), order.clone());
            tokio::spawn(async move { ana.cancel(&order, &format!("c{n}")).await.expect(202) })
        })
        .collect();
    for twin in twins {
        let answer = twin.await.unwrap();
        assert_eq!(answer, json!({"refund": euros(9002), "percent": 100}));
    }
    ana.order_becomes(&order, "refunded").await;
    let books = reconcile(sale.data.path()).await;
    assert_eq!((books.captured, books.refunded), (9002, 9002));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_seats_of_a_cancelled_order_are_free_at_once() {
    let sale = sale_in(25).await;
    let (show, ana, bo) = (&sale.show, sale.buyer("ana").await, sale.buyer("bo").await);
    let bought = ana.buys(show, &["A-1-1"]).await;
    let order = text(&bought, "order_id");
    ana.cancel(order, "c").await.expect(202);
    ana.order_becomes(order, "refunded").await;
    // No skew and no expiry to wait for: the first try succeeds.
    bo.holds(show, &["A-1-1"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_is_cancelled_before_it_is_paid_costs_nothing() {
    let sale = sale_in(25).await;
    let (show, ana, bo) = (&sale.show, sale.buyer("ana").await, sale.buyer("bo").await);
    let hold = ana.holds(show, &["A-1-1"]).await;
    ana.check_out(show, &hold, "pay", "pm_sandbox_requires_action")
        .await
        .expect(202);
    let order = order_of(&hold);
    ana.order_becomes(&order, "requires_action").await;
    let answer = ana.cancel(&order, "c").await.expect(202);
    assert_eq!(answer, json!({"refund": euros(0), "percent": 0}));
    let ended = ana.order_becomes(&order, "cancelled").await;
    assert_eq!((ended.get("refund"), ended.get("action")), (None, None));
    bo.buys(show, &["A-1-1"]).await;
    let confirm = format!("/api/v1/orders/{order}/confirm-action");
    ana.post(&confirm, Value::Null)
        .await
        .problem(409, "conflict");
    let books = reconcile(sale.data.path()).await;
    assert_eq!((books.captured, books.refunded), (4501, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_with_a_used_ticket_and_one_that_failed_cannot_be_cancelled() {
    let sale = sale_in(25).await;
    let (show, ana) = (&sale.show, sale.buyer("ana").await);
    let bought = ana.buys(show, &["A-1-1", "A-1-2"]).await;
    let order = text(&bought, "order_id");
    let tickets = ana.tickets(order).await;
    let scanned = sale.organiser.scan(show, text(&tickets[0], "code")).await;
    assert_eq!(scanned.expect(200)["result"], "admitted");
    ana.cancel(order, "c").await.problem(409, "conflict");
    assert_eq!(ana.read_order(order).await["status"], "confirmed");

    let hold = ana.holds(show, &["A-1-3"]).await;
    ana.check_out(show, &hold, "pay", "pm_sandbox_capture_fails")
        .await
        .expect(202);
    ana.order_becomes(&order_of(&hold), "failed").await;
    ana.cancel(&order_of(&hold), "c")
        .await
        .problem(409, "conflict");
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_needs_a_key() {
    let sale = sale_in(25).await;
    let ana = sale.buyer("ana").await;
    let bought = ana.buys(&sale.show, &["A-1-1"]).await;
    let order = text(&bought, "order_id");
    ana.post(&format!("/api/v1/orders/{order}/cancel"), Value::Null)
        .await
        .problem(400, "invalid_request");
    assert_eq!(ana.read_order(order).await["status"], "confirmed");
}
