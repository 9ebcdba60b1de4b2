//! What a buyer was promised, in the answer about their order.

use onsale_domain::ids::OrderId;
use onsale_domain::order::OrderNumber;
use onsale_domain::show::default_refund_policy;
use onsale_http::Limits;
use serde_json::{Value, json};

use crate::service::Service;

async fn read(service: &Service, id: OrderId) -> Value {
    service.get(&format!("/api/v1/orders/{id}")).await.body
}

#[tokio::test]
async fn an_order_tells_what_it_was_sold_under_until_it_is_cancelled() {
    let service = Service::new(Limits::default()).await;
    let id = service.started("pm_card_visa").await;
    service.drive(id).await;
    let step = default_refund_policy()[0];
    let sold_under = &read(&service, id).await["sold_under"];
    assert_eq!(
        sold_under["refund_policy"][0],
        json!({"hours_before": step.hours_before, "percent": step.percent})
    );
    let starts_at = service.stage.show.starts_at.to_string();
    assert_eq!(sold_under["starts_at"], json!(starts_at));
    service.cancel(id).await;
    assert_eq!(read(&service, id).await.get("sold_under"), None);
}

#[tokio::test]
async fn an_order_has_a_number_to_read_out_and_tells_what_cancelling_gives_back() {
    let service = Service::new(Limits::default()).await;
    let id = service.started("pm_card_visa").await;
    service.drive(id).await;
    let order = read(&service, id).await;
    assert_eq!(order["number"], json!(OrderNumber::of(id).to_string()));
    let told = &order["refund_if_cancelled_now"];
    assert_eq!(*told, json!({"refund": order["total"], "percent": 100}));
    let listed = service.get("/api/v1/orders").await.body;
    assert_eq!(listed["items"][0]["number"], order["number"]);
    service.cancel(id).await;
    let cancelled = read(&service, id).await;
    assert_eq!(cancelled.get("refund_if_cancelled_now"), None);
}

#[tokio::test]
async fn cancelling_for_another_refund_is_refused_with_the_one_of_now() {
    let service = Service::new(Limits::default()).await;
    let id = service.started("pm_card_visa").await;
    service.drive(id).await;
    let now = read(&service, id).await["refund_if_cancelled_now"].clone();
    let path = format!("/api/v1/orders/{id}/cancel");
    let more = json!({"amount": now["refund"]["amount"].as_u64().unwrap() + 1, "currency": "EUR"});
    let refused = service
        .post_json(&path, "cancel", &json!({"expected_refund": more}))
        .await;
    assert_eq!(refused.status, 409);
    assert_eq!(refused.body["type"], "urn:onsale:conflict");
    assert_eq!(refused.body["refund"], now["refund"]);
    assert_eq!(refused.body["percent"], now["percent"]);
    assert_eq!(read(&service, id).await["status"], "confirmed");
    // The same key, because nothing was done.
    let expected = json!({"expected_refund": now["refund"]});
    for _ in 0..2 {
        let cancelled = service.post_json(&path, "cancel", &expected).await;
        assert_eq!(cancelled.status, 202);
        assert_eq!(cancelled.body, now);
    }
    for amount in [json!(-1), json!(1_u64 << 63)] {
        let nonsense = json!({"expected_refund": {"amount": amount, "currency": "EUR"}});
        let refused = service.post_json(&path, "cancel", &nonsense).await;
        assert_eq!(refused.status, 400, "{amount}");
    }
}
