//! What everybody may know of who takes payments.

use axum::body::Body;
use axum::http::Request;
use onsale_http::Limits;
use serde_json::json;

use crate::service::Service;

#[tokio::test]
async fn a_stranger_is_told_who_takes_payments() {
    let service = Service::new(Limits::default()).await;
    let request = Request::get("/api/v1/payments/settings");
    let answer = service.send(request.body(Body::empty()).unwrap()).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.body, json!({"provider": "sandbox"}));
}
