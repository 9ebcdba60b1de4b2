//! What the payment provider tells us unasked: believed only when signed, and only ever
//! a reason to look.

use hmac::{Hmac, KeyInit, Mac};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;
use time::OffsetDateTime;

use crate::command_line::reconcile;
use crate::orders::text;
use crate::owners::wait_for_counts;
use crate::sale::Sale;
use crate::server::{Server, command};
use crate::visitor::{Answer, Visitor, rows};

const SECRET: &str = "whsec_test";
const DAY_S: i64 = 24 * 3_600;

/// A small sale whose platform takes webhooks signed with the secret.
async fn sale() -> Sale {
    let data = tempfile::tempdir().unwrap();
    let args = ["--empty", "--rate-limit", "off", "--port", "0"];
    let mut command = command(data.path(), &args);
    command.env("STRIPE_WEBHOOK_SECRETS", SECRET);
    let server = Server::from_command(command).await.unwrap();
    let (sections, prices) = (json!([rows("A", 2, 10)]), json!({"A": 4501}));
    Sale::open_on(server, data, sections, prices, json!({})).await
}

fn signature(secret: &str, signed_s: i64, payload: &str) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("{signed_s}.{payload}").as_bytes());
    format!(
        "t={signed_s},v1={}",
        hex::encode(mac.finalize().into_bytes())
    )
}

fn now_s() -> i64 {
    OffsetDateTime::now_utc().unix_timestamp()
}

async fn tell(sale: &Sale, payload: &str, signature: Option<&str>) -> Answer {
    let provider = Visitor::anonymous(&sale.server.url);
    let request = provider
        .request(Method::POST, "/api/v1/payments/webhook")
        .header("content-type", "application/json")
        .body(payload.to_owned());
    let request = match signature {
        Some(signature) => request.header("stripe-signature", signature),
        None => request,
    };
    provider.send(request).await
}

/// An event that is signed as it should be.
async fn tell_signed(sale: &Sale, event: &Value) -> Answer {
    let payload = event.to_string();
    let signed = signature(SECRET, now_s(), &payload);
    tell(sale, &payload, Some(&signed)).await
}

/// The sandbox names a payment after its order.
fn payment_of(order: &str) -> String {
    order.replace("ord_", "pi_sandbox_")
}

fn succeeded(payment: &str) -> Value {
    let object = json!({"id": payment, "object": "payment_intent", "status": "succeeded"});
    json!({"id": "evt_1", "type": "payment_intent.succeeded", "data": {"object": object}})
}

fn disputed(payment: &str) -> Value {
    let object = json!({"id": "dp_1", "object": "dispute", "payment_intent": payment});
    json!({"id": "evt_2", "type": "charge.dispute.created", "data": {"object": object}})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signed_event_is_taken_as_often_as_it_comes_and_changes_nothing_by_itself() {
    let sale = sale().await;
    let ana = sale.buyer("ana").await;
    let bought = ana.buys(&sale.show, &["A-1-1"]).await;
    let order = text(&bought, "order_id");
    for _ in 0..2 {
        tell_signed(&sale, &succeeded(&payment_of(order)))
            .await
            .expect(200);
    }
    let waiting = ana.holds(&sale.show, &["A-1-2"]).await;
    ana.check_out(&sale.show, &waiting, "pay", "pm_sandbox_requires_action")
        .await
        .expect(202);
    let waiting = waiting.replace("hld_", "ord_");
    ana.order_becomes(&waiting, "requires_action").await;
    // It says so, but the provider knows better when asked.
    tell_signed(&sale, &succeeded(&payment_of(&waiting)))
        .await
        .expect(200);
    tell_signed(&sale, &succeeded("pi_of_somebody_else"))
        .await
        .expect(200);
    let other = json!({"id": "evt_3", "type": "invoice.paid", "data": {"object": {}}});
    tell_signed(&sale, &other).await.expect(200);

    assert_eq!(ana.read_order(order).await, bought);
    assert_eq!(ana.read_order(&waiting).await["status"], "requires_action");
    let books = reconcile(sale.data.path()).await;
    assert_eq!((books.captured, books.refunded, books.sold), (4501, 0, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_old_a_forged_and_an_unsigned_event_are_refused() {
    let sale = sale().await;
    let ana = sale.buyer("ana").await;
    let bought = ana.buys(&sale.show, &["A-1-1"]).await;
    let order = text(&bought, "order_id");
    let payload = disputed(&payment_of(order)).to_string();
    let now = now_s();
    let right = signature(SECRET, now, &payload);
    let other_time = right.replace(&format!("t={now}"), &format!("t={}", now + 1));
    let refused = [
        signature(SECRET, now - DAY_S, &payload),
        signature(SECRET, now + DAY_S, &payload),
        signature("whsec_guessed", now, &payload),
        signature("", now, &payload),
        signature(SECRET, now, "another payload"),
        other_time,
        format!("t={now}"),
        "nonsense".to_owned(),
    ];
    for signature in &refused {
        tell(&sale, &payload, Some(signature))
            .await
            .problem(400, "invalid_request");
    }
    tell(&sale, &payload, None)
        .await
        .problem(400, "invalid_request");
    assert_eq!(ana.read_order(order).await, bought);
    tell(&sale, &payload, Some(&right)).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_secret_no_event_is_believed() {
    let sale = Sale::small(json!({})).await;
    let payload = succeeded("pi_1").to_string();
    for secret in ["", SECRET] {
        let signed = signature(secret, now_s(), &payload);
        tell(&sale, &payload, Some(&signed))
            .await
            .problem(400, "invalid_request");
    }
}

/// The tickets are dead, the seats are for sale, and nothing was paid back by us.
async fn check_charged_back(sale: &Sale, buyer: &Visitor, order: &str) {
    let ended = buyer.order_becomes(order, "cancelled").await;
    assert_eq!(ended["reason"], "charged_back");
    for ticket in buyer.tickets(order).await {
        assert_eq!(ticket["status"], "revoked");
        let scan = sale.organiser.scan(&sale.show, text(&ticket, "code")).await;
        assert_eq!(scan.expect(200)["result"], "revoked");
    }
    buyer.cancel(order, "c").await.problem(409, "conflict");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dispute_revokes_the_tickets_and_refunds_nothing_more() {
    let sale = sale().await;
    let ana = sale.buyer("ana").await;
    let first = ana.buys(&sale.show, &["A-1-1", "A-1-2"]).await;
    let first = text(&first, "order_id");
    for _ in 0..2 {
        tell_signed(&sale, &disputed(&payment_of(first)))
            .await
            .expect(200);
    }
    check_charged_back(&sale, &ana, first).await;

    // The object may name the order itself; the payment has to be the order's all the same.
    let second = ana.buys(&sale.show, &["A-1-3"]).await;
    let (bought, second) = (&second, text(&second, "order_id"));
    let mut event = disputed("pi_of_somebody_else");
    event["data"]["object"]["metadata"] = json!({"order_id": second});
    tell_signed(&sale, &event).await.expect(200);
    assert_eq!(ana.read_order(second).await, *bought);
    event["data"]["object"]["payment_intent"] = json!(payment_of(second));
    tell_signed(&sale, &event).await.expect(200);
    check_charged_back(&sale, &ana, second).await;

    wait_for_counts(&ana, &sale.show, 20, 0).await;
    let books = reconcile(sale.data.path()).await;
    assert_eq!(
        (books.captured, books.refunded, books.sold),
        (3 * 4501, 0, 0)
    );
    assert_eq!(books.repairs, Vec::<String>::new());
}
