//! What owners of tickets and organisers do around a sale: every function has its part in it.

use reqwest::Method;
use serde_json::{Value, json};

use crate::orders::{text, until};
use crate::place::Place;
use crate::visitor::Visitor;

async fn list(visitor: &Visitor, path: &str) -> Vec<Value> {
    let listed = visitor.get(path).await.expect(200);
    listed["items"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_goes_to_a_friend_and_comes_in_by_its_new_code_alone() {
    let place = Place::find().await;
    let sale = place.sale(2, json!({})).await;
    let (ana, bo) = (place.buyer("ana").await, place.buyer("bo").await);
    let order = ana.buys(&sale.show, &["A-1-1"]).await;
    let old = ana.tickets(text(&order, "order_id")).await.remove(0);

    let path = format!("/api/v1/tickets/{}/transfer", text(&old, "ticket_id"));
    let offered = ana
        .post(&path, json!({"to_email": place.email("bo")}))
        .await;
    let transfer = text(&offered.expect(202), "transfer_id").to_owned();
    assert_eq!(list(&ana, "/api/v1/transfers").await.len(), 1);
    let path = format!("/api/v1/transfers/{transfer}/accept");
    bo.send(bo.request(Method::POST, &path)).await.expect(200);
    let new = until("the friend has the ticket", async || {
        list(&bo, "/api/v1/tickets").await.pop()
    })
    .await;
    for (code, result) in [(&old["code"], "revoked"), (&new["code"], "admitted")] {
        let scan = sale
            .organiser
            .scan(&sale.show, code.as_str().unwrap())
            .await;
        assert_eq!(scan.expect(200)["result"], result);
    }
    let pdf = format!("/api/v1/tickets/{}/pdf", text(&new, "ticket_id"));
    let (headers, bytes) = bo.bytes(&pdf).await;
    assert_eq!(headers["content-type"], "application/pdf");
    assert!(bytes.starts_with(b"%PDF-"));
    let path = format!("/api/v1/shows/{}/gates", sale.show);
    sale.organiser.get(&path).await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organiser_sees_sales_takes_them_away_and_calls_the_show_off() {
    let place = Place::find().await;
    let sale = place.sale(3, json!({})).await;
    let (show, organiser) = (&sale.show, &sale.organiser);
    let ana = place.buyer("ana").await;
    let order = ana.buys(show, &["A-1-1"]).await;
    until("the sale is counted", async || {
        let sales = organiser.get(&format!("/api/v1/shows/{show}/sales")).await;
        (sales.expect(200)["sold"] == 1).then_some(())
    })
    .await;

    let path = format!("/api/v1/shows/{show}/exports");
    let request = organiser.request(Method::POST, &path);
    let request = request.header("idempotency-key", "export");
    let begun = organiser
        .send(request.json(&json!({"kind": "orders"})))
        .await;
    let path = format!("{path}/{}", text(&begun.expect(202), "export_id"));
    let ready = until("the export is ready", async || {
        let export = organiser.get(&path).await.expect(200);
        (export["status"] == "ready").then_some(export)
    })
    .await;
    assert_eq!(ready["rows"], 1);
    let file = reqwest::get(text(&ready, "link")).await.unwrap();
    assert_eq!(file.status(), 200);
    assert!(
        file.text()
            .await
            .unwrap()
            .contains(text(&order, "order_id"))
    );

    let staff = json!({"email": place.email("gate"), "name": "Gate", "show_ids": [show]});
    organiser.post("/api/v1/staff", staff).await.expect(201);
    list(organiser, &format!("/api/v1/shows/{show}/audit")).await;

    let cancel = format!("/api/v1/shows/{show}/cancel");
    let called_off = organiser.post(&cancel, Value::Null).await;
    assert!(called_off.status.is_success(), "{}", called_off.body);
    // In the background, order by order.
    let refunded = until("the order is refunded", async || {
        let read = ana.read_order(text(&order, "order_id")).await;
        (read["status"] == "refunded").then_some(read)
    })
    .await;
    assert_eq!(refunded["refund"]["amount"], 4501);
    assert_eq!(list(&ana, "/api/v1/orders").await.len(), 1);
    ana.get("/api/v1/me/export").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_event_is_found_by_the_index_although_a_letter_is_amiss() {
    let place = Place::find().await;
    let organiser = place.person("organiser", "organiser").await;
    let venue = organiser
        .venue(json!([crate::visitor::rows("A", 1, 4)]))
        .await;
    // A word nobody else has, long enough to be forgiven a letter.
    let word = place.word();
    let new = json!({"title": format!("Concerto {word}"), "category": "music", "venue_id": venue});
    let event = organiser.post("/api/v1/events", new).await.expect(201);
    let event = text(&event, "event_id").to_owned();
    organiser.show(&event, json!({"A": 4500}), json!({})).await;
    let amiss = format!("{}x{}", &word[..6], &word[7..]);
    let path = format!("/api/v1/events?query={amiss}");
    until("the index has the event", async || {
        let found = organiser.get(&path).await.expect(200);
        (found["items"][0]["event_id"] == event.as_str()).then_some(())
    })
    .await;
}
