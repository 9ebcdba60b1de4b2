//! What a buyer was promised, in the answer about their order.

use onsale_domain::ids::OrderId;
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
