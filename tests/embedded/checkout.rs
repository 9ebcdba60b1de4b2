//! Paying for a hold: what each way to pay leads to, and what repeating it does.

use reqwest::Method;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::command_line::reconcile;
use crate::orders::{order_of, text, until};
use crate::owners::wait_for_counts;
use crate::sale::Sale;
use crate::visitor::{Visitor, seat_ids};

const VISA: &str = "pm_card_visa";
const DECLINED: &str = "pm_card_chargeDeclined";

pub(crate) fn time_of(value: &Value, field: &str) -> OffsetDateTime {
    OffsetDateTime::parse(text(value, field), &Rfc3339).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_is_paid_once_and_repeating_the_request_gives_the_first_answer() {
    let sale = Sale::small(json!({})).await;
    let (show, ana) = (&sale.show, sale.buyer("ana").await);
    let hold = ana.holds(show, &["A-1-1", "A-1-2"]).await;
    let first = ana.check_out(show, &hold, "pay", VISA).await.expect(202);
    assert_eq!(
        first,
        json!({"order_id": order_of(&hold), "status": "pending"})
    );

    let order = ana.order_becomes(&order_of(&hold), "confirmed").await;
    assert_eq!(order["total"], json!({"amount": 9002, "currency": "EUR"}));
    assert_eq!(seat_ids(&order), ["A-1-1", "A-1-2"]);
    assert_eq!(order["show_id"], show.as_str());
    let tickets = ana.tickets(&order_of(&hold)).await;
    let ids: Vec<_> = tickets.iter().map(|t| t["ticket_id"].clone()).collect();
    assert_eq!(order["tickets"], json!(ids));
    let seats: Vec<_> = tickets.iter().map(|t| text(t, "seat")).collect();
    assert_eq!(seats, ["A-1-1", "A-1-2"]);
    assert!(tickets.iter().all(|t| t["status"] == "valid"));
    assert_ne!(tickets[0]["code"], tickets[1]["code"]);
    let counts = wait_for_counts(&ana, show, 18, 0).await;
    assert_eq!(counts["sold"], 2);
    assert_eq!(ana.read_hold(show, &hold).await["status"], "sold");

    let again = ana.check_out(show, &hold, "pay", VISA).await.expect(202);
    assert_eq!(again, first);
    ana.check_out(show, &hold, "pay", DECLINED)
        .await
        .problem(422, "idempotency_mismatch");
    ana.check_out(show, &hold, "second", VISA)
        .await
        .problem(409, "conflict");
    let books = reconcile(sale.data.path()).await;
    assert_eq!((books.payments, books.captured, books.sold), (1, 9002, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_equal_requests_at_once_pay_once() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let hold = ana.holds(&sale.show, &["A-1-1"]).await;
    let twins: Vec<_> = (0..50)
        .map(|_| {
            let (ana, show, hold) = (ana.clone(), sale.show.clone(), hold.clone());
            tokio::spawn(async move { ana.check_out(&show, &hold, "pay", VISA).await.expect(202) })
        })
        .collect();
    for twin in twins {
        assert_eq!(text(&twin.await.unwrap(), "order_id"), order_of(&hold));
    }
    ana.order_becomes(&order_of(&hold), "confirmed").await;
    let books = reconcile(sale.data.path()).await;
    assert_eq!((books.payments, books.captured), (1, 4501));
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_payment_is_under_way_the_hold_is_locked() {
    let sale = Sale::small(json!({})).await;
    let (show, ana) = (&sale.show, sale.buyer("ana").await);
    let hold = ana.holds(show, &["A-1-1"]).await;
    let path = format!("/api/v1/shows/{show}/holds/{hold}");
    ana.check_out(show, &hold, "slow", "pm_sandbox_slow")
        .await
        .expect(202);
    assert_eq!(ana.read_order(&order_of(&hold)).await["status"], "pending");
    assert_eq!(ana.read_hold(show, &hold).await["status"], "paying");
    ana.check_out(show, &hold, "slow", "pm_sandbox_slow")
        .await
        .expect(202);
    ana.check_out(show, &hold, "other", VISA)
        .await
        .problem(409, "request_in_flight");
    ana.delete(&path).await.problem(409, "conflict");
    assert_eq!(ana.tickets(&order_of(&hold)).await, Vec::<Value>::new());

    ana.order_becomes(&order_of(&hold), "confirmed").await;
    ana.delete(&path).await.problem(409, "conflict");
    let books = reconcile(sale.data.path()).await;
    assert_eq!((books.payments, books.captured), (1, 4501));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_card_gives_the_hold_back_with_five_more_minutes_once() {
    let sale = Sale::small(json!({})).await;
    let (show, ana) = (&sale.show, sale.buyer("ana").await);
    let hold = ana.holds(show, &["A-1-1"]).await;
    let before = time_of(&ana.read_hold(show, &hold).await, "expires_at");
    for key in ["first", "second"] {
        ana.check_out(show, &hold, key, DECLINED).await.expect(202);
        let order = ana.order_becomes(&order_of(&hold), "declined").await;
        assert!(order["reason"].is_string() && order["tickets"] == json!([]));
        let read = ana.read_hold(show, &hold).await;
        assert_eq!(read["status"], "held");
        let more = time_of(&read, "expires_at") - before;
        assert_eq!(more, time::Duration::minutes(5), "after the {key}");
        assert_eq!(order["pay_until"], read["expires_at"]);
    }
    wait_for_counts(&ana, show, 19, 1).await;

    let begun = ana.check_out(show, &hold, "third", VISA).await.expect(202);
    assert_eq!(begun["order_id"], order_of(&hold));
    ana.order_becomes(&order_of(&hold), "confirmed").await;
    // The refused ones are remembered too.
    ana.check_out(show, &hold, "first", DECLINED)
        .await
        .expect(202);
    let books = reconcile(sale.data.path()).await;
    assert_eq!((books.payments, books.captured), (1, 4501));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hold_can_be_released_after_a_decline() {
    let sale = Sale::small(json!({})).await;
    let (show, ana, bo) = (&sale.show, sale.buyer("ana").await, sale.buyer("bo").await);
    let hold = ana.holds(show, &["A-1-1"]).await;
    ana.check_out(show, &hold, "pay", DECLINED)
        .await
        .expect(202);
    ana.order_becomes(&order_of(&hold), "declined").await;
    let path = format!("/api/v1/shows/{show}/holds/{hold}");
    assert_eq!(ana.delete(&path).await.status, 204);
    wait_for_counts(&ana, show, 20, 0).await;
    ana.check_out(show, &hold, "again", VISA)
        .await
        .problem(410, "hold_expired");
    bo.buys(show, &["A-1-1"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn money_that_cannot_be_taken_costs_nothing_and_frees_the_seats() {
    let sale = Sale::small(json!({})).await;
    let (show, ana, bo) = (&sale.show, sale.buyer("ana").await, sale.buyer("bo").await);
    let hold = ana.holds(show, &["A-1-1", "A-1-2"]).await;
    ana.check_out(show, &hold, "pay", "pm_sandbox_capture_fails")
        .await
        .expect(202);
    let order = ana.order_becomes(&order_of(&hold), "failed").await;
    assert_eq!(order["tickets"], json!([]));
    assert_eq!(order.get("refund"), None);
    assert_eq!(ana.tickets(&order_of(&hold)).await, Vec::<Value>::new());
    wait_for_counts(&ana, show, 20, 0).await;
    ana.check_out(show, &hold, "again", VISA)
        .await
        .problem(409, "conflict");
    let books = reconcile(sale.data.path()).await;
    assert_eq!((books.captured, books.refunded, books.sold), (0, 0, 0));
    assert_eq!(books.repairs, Vec::<String>::new());
    bo.buys(show, &["A-1-1", "A-1-2"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reply_that_is_lost_leads_to_one_order_and_one_payment() {
    let sale = Sale::small(json!({})).await;
    let (show, ana) = (&sale.show, sale.buyer("ana").await);
    let hold = ana.holds(show, &["A-1-1"]).await;
    ana.check_out(show, &hold, "pay", "pm_sandbox_lost_reply")
        .await
        .expect(202);
    ana.order_becomes(&order_of(&hold), "confirmed").await;
    let listed = ana.get("/api/v1/orders").await.expect(200);
    assert_eq!(listed["items"].as_array().unwrap().len(), 1);
    let books = reconcile(sale.data.path()).await;
    assert_eq!((books.payments, books.captured), (1, 4501));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_waits_for_the_buyer_to_confirm_with_the_bank() {
    let sale = Sale::small(json!({})).await;
    let (show, ana) = (&sale.show, sale.buyer("ana").await);
    let hold = ana.holds(show, &["A-1-1"]).await;
    ana.check_out(show, &hold, "pay", "pm_sandbox_requires_action")
        .await
        .expect(202);
    let order = ana.order_becomes(&order_of(&hold), "requires_action").await;
    assert_eq!(order["action"]["type"], "confirm_in_sandbox");
    let url = text(&order["action"], "url").to_owned();
    assert_eq!(
        url,
        format!("/api/v1/orders/{}/confirm-action", order_of(&hold))
    );
    assert_eq!(ana.read_hold(show, &hold).await["status"], "paying");
    let keyed = || {
        ana.request(Method::POST, &url)
            .header("idempotency-key", "c")
    };
    let first = ana.send(keyed()).await.expect(202);
    let order = ana.order_becomes(&order_of(&hold), "confirmed").await;
    assert_eq!(order.get("action"), None);
    // Whoever did not hear the first answer gets it again.
    assert_eq!(ana.send(keyed()).await.expect(202), first);
    let now = ana.post(&url, Value::Null).await.expect(202);
    assert_eq!(now["status"], "confirmed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_free_show_needs_no_payment() {
    let sections = json!([{"name": "Floor", "capacity": 20}]);
    let sale = Sale::open(sections, json!({"Floor": 0}), json!({})).await;
    let ana = sale.buyer("ana").await;
    let body = json!({"general": {"section": "Floor", "quantity": 2}});
    let held = ana.hold(&sale.show, "k", body).await.expect(201);
    let hold = text(&held, "hold_id");
    ana.check_out(&sale.show, hold, "pay", VISA)
        .await
        .expect(202);
    let order = ana.order_becomes(&order_of(hold), "confirmed").await;
    assert_eq!(order["tickets"].as_array().unwrap().len(), 2);
    let books = reconcile(sale.data.path()).await;
    assert_eq!((books.payments, books.sold), (0, 2));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lapsed_hold_cannot_be_paid() {
    let sale = Sale::small(json!({"hold_seconds": 2})).await;
    let (show, ana) = (&sale.show, sale.buyer("ana").await);
    let hold = ana.holds(show, &["A-1-1"]).await;
    until("the hold lapses", async || {
        let read = ana.read_hold(show, &hold).await;
        (read["status"] == "expired").then_some(())
    })
    .await;
    for key in ["pay", "pay", "again"] {
        ana.check_out(show, &hold, key, VISA)
            .await
            .problem(410, "hold_expired");
    }
    assert_eq!(reconcile(sale.data.path()).await.payments, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkout_without_a_key_or_with_a_card_number_is_refused() {
    let sale = Sale::small(json!({})).await;
    let (show, ana) = (&sale.show, sale.buyer("ana").await);
    let hold = ana.holds(show, &["A-1-1"]).await;
    let path = format!("/api/v1/shows/{show}/holds/{hold}/checkout");
    ana.post(&path, json!({"payment_method": VISA}))
        .await
        .problem(400, "invalid_request");
    for method in [
        "4242424242424242",
        "4242 4242 4242 4242",
        "4242-4242-4242-4242",
        "",
    ] {
        ana.check_out(show, &hold, "pay", method)
            .await
            .problem(400, "invalid_request");
    }
    let strange = ana
        .request(Method::POST, &path)
        .header("idempotency-key", "pay")
        .json(&json!({"payment_method": VISA, "amount": 1}));
    ana.send(strange).await.problem(400, "invalid_request");
    Visitor::anonymous(&sale.server.url)
        .check_out(show, &hold, "pay", VISA)
        .await
        .problem(401, "unauthenticated");
    ana.get(&format!("/api/v1/orders/{}", order_of(&hold)))
        .await
        .problem(404, "not_found");
    assert_eq!(ana.read_hold(show, &hold).await["status"], "held");
}

#[tokio::test(flavor = "multi_thread")]
async fn somebody_elses_hold_order_and_tickets_do_not_exist() {
    let sale = Sale::small(json!({})).await;
    let (show, ana, bo) = (&sale.show, sale.buyer("ana").await, sale.buyer("bo").await);
    let hold = ana.holds(show, &["A-1-1"]).await;
    bo.check_out(show, &hold, "pay", VISA)
        .await
        .problem(404, "not_found");
    ana.check_out(show, &hold, "pay", "pm_sandbox_requires_action")
        .await
        .expect(202);
    let order = order_of(&hold);
    ana.order_becomes(&order, "requires_action").await;
    let path = format!("/api/v1/orders/{order}");
    for other in [&bo, &sale.organiser] {
        other.get(&path).await.problem(404, "not_found");
        other
            .get(&format!("{path}/tickets"))
            .await
            .problem(404, "not_found");
        other
            .post(&format!("{path}/confirm-action"), Value::Null)
            .await
            .problem(404, "not_found");
        other.cancel(&order, "k").await.problem(404, "not_found");
        let listed = other.get("/api/v1/orders").await.expect(200);
        assert_eq!(listed["items"], json!([]));
    }
    assert_eq!(ana.read_order(&order).await["status"], "requires_action");
}

#[tokio::test(flavor = "multi_thread")]
async fn orders_are_listed_newest_first_page_by_page() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let mut bought = Vec::new();
    for seat in ["A-1-1", "A-1-2", "A-1-3", "A-1-4", "A-1-5"] {
        let mut order = ana.buys(&sale.show, &[seat]).await;
        // What a cancellation would pay back is told of one order at a time.
        let refund = order
            .as_object_mut()
            .unwrap()
            .remove("refund_if_cancelled_now");
        assert_eq!(refund.unwrap()["percent"], 100);
        bought.insert(0, order);
    }
    let (mut listed, mut pages, mut cursor) = (Vec::new(), 0, String::new());
    loop {
        let page = ana
            .get(&format!("/api/v1/orders?limit=2{cursor}"))
            .await
            .expect(200);
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= 2);
        listed.extend(items.clone());
        pages += 1;
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    assert_eq!((listed, pages), (bought, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cursor_that_no_page_gave_is_refused() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    ana.buys(&sale.show, &["A-1-1"]).await;
    for cursor in ["nonsense", "x", "%7B%7D", "a%7Cb"] {
        ana.get(&format!("/api/v1/orders?cursor={cursor}"))
            .await
            .problem(400, "invalid_request");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cap_counts_tickets_that_were_bought() {
    let sale = Sale::small(json!({"max_tickets_per_buyer": 2})).await;
    let (show, ana) = (&sale.show, sale.buyer("ana").await);
    let order = ana.buys(show, &["A-1-1", "A-1-2"]).await;
    let over = ana.hold(show, "k", json!({"seats": ["A-1-3"]})).await;
    assert_eq!(over.problem(422, "limit_exceeded")["limit"], 2);
    let order = text(&order, "order_id");
    ana.cancel(order, "c").await.expect(202);
    ana.order_becomes(order, "refunded").await;
    ana.holds(show, &["A-1-3", "A-1-4"]).await;
}
