//! What the payment provider tells us unasked, and who only says that they are it.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use hmac::{Hmac, KeyInit, Mac};
use onsale_domain::money::Cents;
use onsale_domain::order::{OrderStatus, Stage, Why};
use onsale_domain::payment::{PaymentId, PaymentState};
use onsale_domain::time::Millis;
use onsale_http::Limits;
use serde_json::{Value, json};
use sha2::Sha256;

use crate::service::{Answer, Service, WEBHOOK_SECRET};

const MAX_BYTES: usize = 256 * 1024;

fn signature(secret: &str, at_ms: u64, payload: &str) -> String {
    let seconds = at_ms / 1_000;
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
    mac.update(format!("{seconds}.{payload}").as_bytes());
    format!(
        "t={seconds},v1={}",
        hex::encode(mac.finalize().into_bytes())
    )
}

async fn post(service: &Service, payload: String, signature: Option<String>) -> Answer {
    let mut request = Request::post("/api/v1/payments/webhook");
    if let Some(signature) = signature {
        request = request.header("stripe-signature", signature);
    }
    service
        .send(request.body(Body::from(payload)).unwrap())
        .await
}

/// The provider itself tells us.
async fn tell(service: &Service, event: &Value) -> Answer {
    let payload = event.to_string();
    let now = service.world.app.now();
    let signed = signature(WEBHOOK_SECRET, now.0, &payload);
    post(service, payload, Some(signed)).await
}

fn moved(payment: &PaymentId) -> Value {
    json!({
        "id": "evt_1",
        "type": "payment_intent.amount_capturable_updated",
        "data": {"object": {"object": "payment_intent", "id": payment.0}},
    })
}

fn disputed(payment: &PaymentId) -> Value {
    json!({
        "id": "evt_2",
        "type": "charge.dispute.created",
        "data": {"object": {"object": "dispute", "payment_intent": payment.0}},
    })
}

/// What the bank says of it, and under which name.
fn disputed_as(kind: &str, status: &str, payment: &PaymentId) -> Value {
    let mut event = disputed(payment);
    event["type"] = json!(kind);
    event["data"]["object"]["status"] = json!(status);
    event
}

#[tokio::test]
async fn a_payment_that_is_not_ours_is_none_of_our_business() {
    let service = Service::new(Limits::off()).await;
    let unknown = PaymentId("pi_unknown".into());
    let of_nobody = json!({
        "id": "evt_3",
        "type": "payment_intent.succeeded",
        "data": {"object": {
            "object": "payment_intent",
            "id": "pi_unknown",
            "metadata": {"order_id": "ord_07070707070707070707070707070707"},
        }},
    });
    let other = json!({"id": "evt_4", "type": "payout.paid", "data": {"object": {}}});
    for event in [moved(&unknown), disputed(&unknown), of_nobody, other] {
        let answer = tell(&service, &event).await;
        assert_eq!(answer.status, StatusCode::OK, "{event}");
        assert_eq!(answer.body, json!({"received": true}));
    }
    assert_eq!(service.woken(), []);
}

/// The bank tells the provider, the provider tells us, and the order goes on.
#[tokio::test]
async fn a_payment_that_moved_wakes_its_order() {
    let service = Service::new(Limits::off()).await;
    let id = service.started("pm_sandbox_requires_action").await;
    service.drive(id).await;
    let order = service.order(id).await;
    assert_eq!(order.status(), OrderStatus::RequiresAction);
    let payment = order.payment.unwrap();
    let payments = &service.world.app.payments;
    assert!(payments.confirm_action(&payment).await.unwrap());
    for _ in 0..2 {
        let answer = tell(&service, &moved(&payment)).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    }
    assert_eq!(service.woken(), [id, id]);
    assert_eq!(service.order(id).await.stage, Stage::AwaitingAction);
    service.drive(id).await;
    assert_eq!(service.order(id).await.status(), OrderStatus::Confirmed);
}

/// The provider tells us what it did before it has answered whoever asked it to.
#[tokio::test]
async fn a_webhook_that_is_faster_than_the_reply_charges_nobody_twice() {
    let service = Service::new(Limits::off()).await;
    let id = service.started("pm_card_visa").await;
    let gate = &service.world.faults;
    gate.fail_always("authorise", true);
    service.drive(id).await;
    gate.fail_always("authorise", false);
    service.woken();
    let order = service.order(id).await;
    assert_eq!(order.stage, Stage::Authorising);
    let payment = order.payment.clone().unwrap();
    let payments = &service.world.app.payments;
    let method = order.method().unwrap();
    let under_way = payments.authorise(&payment, id, 1, method);
    under_way.await.unwrap();
    let answer = tell(&service, &moved(&payment)).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    assert_eq!(service.order(id).await.stage, Stage::Authorising);
    assert_eq!(service.woken(), [id]);
    service.drive(id).await;
    assert_eq!(service.order(id).await.status(), OrderStatus::Confirmed);
    let list = payments.list(Millis(0), None).await.unwrap().items;
    let taken = PaymentState::Captured { refunded: Cents(0) };
    assert_eq!(list.len(), 1);
    assert_eq!(list[0].state, taken);
}

/// Stripe signs an event anew whenever it sends it, for days.
#[tokio::test]
async fn a_webhook_that_comes_a_day_late_changes_nothing_about_an_order_that_ended() {
    let service = Service::new(Limits::off()).await;
    let id = service.started("pm_card_visa").await;
    service.drive(id).await;
    service.cancel(id).await;
    service.drive(id).await;
    let ended = service.order(id).await;
    assert_eq!(ended.status(), OrderStatus::Refunded);
    let payment = ended.payment.clone().unwrap();
    service.world.clock.advance(24 * 3_600_000);
    for event in [moved(&payment), disputed(&payment), refund(&payment)] {
        let answer = tell(&service, &event).await;
        assert_eq!(answer.status, StatusCode::OK, "{event}");
    }
    service.drive(id).await;
    assert_eq!(service.order(id).await, ended);
}

fn refund(payment: &PaymentId) -> Value {
    json!({
        "id": "evt_5",
        "type": "refund.failed",
        "data": {"object": {"object": "refund", "id": "re_1", "payment_intent": payment.0}},
    })
}

#[tokio::test]
async fn a_dispute_charges_the_order_back() {
    let service = Service::new(Limits::off()).await;
    let id = service.started("pm_card_visa").await;
    service.drive(id).await;
    let order = service.order(id).await;
    assert_eq!(order.status(), OrderStatus::Confirmed);
    let payment = order.payment.unwrap();
    for _ in 0..2 {
        let answer = tell(&service, &disputed(&payment)).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    }
    assert_eq!(service.woken(), [id]);
    service.drive(id).await;
    let order = service.order(id).await;
    assert_eq!(order.status(), OrderStatus::Cancelled);
    assert_eq!(order.undo.unwrap().why, Why::ChargedBack);
}

#[tokio::test]
async fn a_bank_that_only_asks_leaves_the_order_alone_until_it_takes_the_money() {
    let service = Service::new(Limits::off()).await;
    let id = service.started("pm_card_visa").await;
    service.drive(id).await;
    service.woken();
    let bought = service.order(id).await;
    let payment = bought.payment.clone().unwrap();
    let asks = disputed_as("charge.dispute.created", "warning_needs_response", &payment);
    let answer = tell(&service, &asks).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    assert_eq!(service.order(id).await, bought);
    assert_eq!(service.woken(), []);
    let takes = disputed_as("charge.dispute.funds_withdrawn", "needs_response", &payment);
    let answer = tell(&service, &takes).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    service.drive(id).await;
    let order = service.order(id).await;
    assert_eq!(order.status(), OrderStatus::Cancelled);
    assert_eq!(order.undo.unwrap().why, Why::ChargedBack);
}

#[tokio::test]
async fn a_dispute_that_comes_before_we_know_of_the_money_is_asked_for_again() {
    let service = Service::new(Limits::off()).await;
    let id = service.started("pm_card_visa").await;
    service.world.faults.fail_always("capture", true);
    service.drive(id).await;
    let payment = service.order(id).await.payment.unwrap();
    let answer = tell(&service, &disputed(&payment)).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(service.order(id).await.undo, None);
}

#[tokio::test]
async fn a_forged_webhook_is_refused_and_changes_nothing() {
    let service = Service::new(Limits::off()).await;
    let id = service.started("pm_card_visa").await;
    service.drive(id).await;
    service.woken();
    let payment = service.order(id).await.payment.unwrap();
    let payload = disputed(&payment).to_string();
    let now = service.world.app.now().0;
    let forged = [
        None,
        Some(String::new()),
        Some("t=1,v1=00".to_owned()),
        Some(signature("whsec_of_somebody", now, &payload)),
        Some(signature(WEBHOOK_SECRET, now, "another payload")),
        Some(signature(WEBHOOK_SECRET, now - 301_000, &payload)),
    ];
    for signature in forged {
        let answer = post(&service, payload.clone(), signature.clone()).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{signature:?}");
    }
    assert_eq!(service.order(id).await.status(), OrderStatus::Confirmed);
    assert_eq!(service.woken(), []);
}

#[tokio::test]
async fn a_webhook_of_more_than_256_kib_is_not_read() {
    let service = Service::new(Limits::off()).await;
    let event = moved(&PaymentId("pi_unknown".into())).to_string();
    let now = service.world.app.now().0;
    for (length, status) in [
        (MAX_BYTES, StatusCode::OK),
        (MAX_BYTES + 1, StatusCode::PAYLOAD_TOO_LARGE),
    ] {
        let payload = format!("{event}{}", " ".repeat(length - event.len()));
        let signed = signature(WEBHOOK_SECRET, now, &payload);
        let answer = post(&service, payload, Some(signed)).await;
        assert_eq!(answer.status, status, "{length} bytes");
    }
}
