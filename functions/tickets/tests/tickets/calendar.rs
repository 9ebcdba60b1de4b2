//! A visit for a calendar, over HTTP.

use axum::body::Body;
use axum::http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use onsale_domain::ids::OrderId;
use onsale_domain::order::OrderNumber;

use crate::scan::Gate;

async fn calendar(gate: &Gate, order: OrderId, token: &str) -> Response<Body> {
    let request = Request::get(format!("/api/v1/orders/{order}/calendar"))
        .header("authorization", format!("Bearer {token}"));
    gate.answer(request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn a_buyer_gets_their_visit_as_a_file_for_calendars() {
    let gate = Gate::new().await;
    let answer = calendar(&gate, gate.order, &gate.buyer).await;
    assert_eq!(answer.status(), StatusCode::OK);
    let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "text/calendar; charset=utf-8");
    assert_eq!(header("cache-control"), "private, no-store");
    let number = OrderNumber::of(gate.order);
    let attached = format!("attachment; filename=\"{number}.ics\"");
    assert_eq!(header("content-disposition"), attached);
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    let file = String::from_utf8(body.to_vec())
        .unwrap()
        .replace("\r\n ", "");
    for line in [
        "BEGIN:VCALENDAR".to_owned(),
        format!("UID:{}@onsale", gate.order),
        format!("DESCRIPTION:A\\, row 1\\, seat 3\\nOrder {number}"),
    ] {
        assert!(
            file.split("\r\n").any(|found| found == line),
            "{line}: {file}"
        );
    }
}

#[tokio::test]
async fn nobody_gets_the_visit_of_somebody_else() {
    let gate = Gate::new().await;
    let answer = calendar(&gate, gate.order, &gate.organiser).await;
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
    let unknown = OrderId::from_bytes([9; 16]);
    let answer = calendar(&gate, unknown, &gate.buyer).await;
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
}
