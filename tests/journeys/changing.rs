//! What an organiser changes before and while a show sells.

use reqwest::Method;
use serde_json::{Value, json};

use crate::orders::text;
use crate::place::Place;
use crate::visitor::{Answer, Visitor};

async fn put(visitor: &Visitor, path: &str, body: Value) -> Answer {
    let request = visitor.request(Method::PUT, path).json(&body);
    visitor.send(request).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_show_moves_follows_demand_and_gets_a_room_while_it_sells() {
    let place = Place::find().await;
    let sale = place.sale(3, json!({})).await;
    let (show, organiser) = (&sale.show, &sale.organiser);
    let path = format!("/api/v1/shows/{show}");
    let ana = place.buyer("ana").await;

    // Before anybody holds: `holds` may go by a show that is a second old.
    let dynamic = json!({"mode": "dynamic", "floor": 0.9, "ceiling": 1.5});
    let priced = put(organiser, &format!("{path}/pricing"), dynamic).await;
    assert_eq!(priced.expect(200)["mode"], "dynamic");
    let held = ana.hold(show, "follows", json!({"seats": ["A-1-1"]})).await;
    let held = held.expect(201);
    assert!(held["quote"].is_string(), "{held}");
    let asked = ana.get(&format!("{path}/prices")).await.expect(200);
    assert!(!asked["items"].as_array().unwrap().is_empty());
    let order = ana.pays(show, text(&held, "hold_id")).await;

    // Those with tickets are told of a show that moves.
    let moved = json!({"starts_at": "2099-06-02T19:00:00Z"});
    let moved = organiser.patch(&path, moved).await.expect(200);
    let event = format!("/api/v1/events/{}", text(&moved, "event_id"));
    let renamed = organiser.patch(&event, json!({"title": "Late evening"}));
    assert_eq!(renamed.await.expect(200)["title"], "Late evening");
    let read = ana.get(&path).await.expect(200);
    assert_eq!(read["starts_at"], "2099-06-02T19:00:00Z");

    for mode in ["queue_all", "off"] {
        let room = json!({"mode": mode, "capacity": 7, "rate_per_second": 20});
        let changed = put(organiser, &format!("{path}/room"), room).await;
        changed.expect(200);
    }

    // Nothing is stuck, and nobody asks for anything more: both are refused, once they were read.
    let order = format!("/api/v1/orders/{}", text(&order, "order_id"));
    organiser
        .post(&format!("{order}/resume"), Value::Null)
        .await
        .problem(409, "conflict");
    ana.post(&format!("{order}/confirm-action"), Value::Null)
        .await
        .problem(409, "conflict");

    let trail = organiser.get(&format!("{path}/audit")).await.expect(200);
    let changes = trail["items"].as_array().unwrap();
    assert!(changes.len() >= 4, "{trail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn fans_register_before_a_sale_and_the_organiser_has_a_code_for_each() {
    let place = Place::find().await;
    let later = json!({"on_sale_at": "2099-05-01T10:00:00Z"});
    let sale = place.sale(2, later).await;
    let path = format!("/api/v1/shows/{}", sale.show);
    let fan = place.email("fan");
    let anybody = Visitor::anonymous(&place.url);
    for _ in 0..2 {
        let registered = anybody
            .post(&format!("{path}/fans"), json!({"email": fan}))
            .await;
        registered.expect(202);
    }
    let made = sale
        .organiser
        .request(Method::POST, &format!("{path}/fan-codes"))
        .header("idempotency-key", "codes")
        .json(&json!({"count": 3}));
    sale.organiser.send(made).await.expect(200);
    let (_, list) = sale.organiser.bytes(&format!("{path}/fans")).await;
    let list = String::from_utf8(list).unwrap();
    assert_eq!(list.matches(&fan).count(), 1, "{list}");
}
