//! What becomes of tickets besides being shown once, and of those who leave.

use reqwest::Method;
use serde_json::{Value, json};

use crate::orders::{order_of, text, until};
use crate::place::{Place, Sale};
use crate::visitor::Visitor;

/// The path of what is done with a ticket.
fn of(ticket: &Value, what: &str) -> String {
    format!("/api/v1/tickets/{}/{what}", text(ticket, "ticket_id"))
}

async fn put_back(visitor: &Visitor, ticket: &Value) -> Value {
    let request = visitor.request(Method::POST, &of(ticket, "return"));
    let request = request.header("idempotency-key", "return");
    visitor.send(request).await.expect(202)
}

/// Somebody who waits for one place, and has this offer of it.
async fn offered(sale: &Sale, visitor: &Visitor) -> Value {
    let path = format!("/api/v1/shows/{}/waitlist", sale.show);
    let joined = visitor.post(&path, json!({"quantity": 1})).await;
    let path = format!("{path}/{}", text(&joined.expect(201), "waitlist_id"));
    until("an offer", async || {
        let entry = visitor.get(&path).await.expect(200);
        (entry["status"] == "offered").then(|| entry["offer"].clone())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_is_put_back_resold_and_paid_back() {
    let place = Place::find().await;
    let sale = place.sale(2, json!({})).await;
    let (ana, bo) = (place.buyer("ana").await, place.buyer("bo").await);
    let order = ana.buys(&sale.show, &["A-1-1", "A-1-2"]).await;
    let order = text(&order, "order_id").to_owned();
    let tickets = ana.tickets(&order).await;
    put_back(&ana, &tickets[1]).await;
    ana.delete(&of(&tickets[1], "return")).await.expect(204);
    let back = put_back(&ana, &tickets[0]).await;
    assert_eq!(back["return"]["refund"]["amount"], 4501);

    let offer = offered(&sale, &bo).await;
    let hold = text(&offer, "hold_id");
    bo.pays(&sale.show, hold).await;
    assert_eq!(bo.tickets(&order_of(hold)).await.len(), 1);
    until("the money to go back", async || {
        let order = ana.read_order(&order).await;
        (order["resold"][0]["refunded"] == true).then_some(())
    })
    .await;

    // Who waits may leave, and what is offered to a friend may be declined.
    let eve = place.buyer("eve").await;
    let path = format!("/api/v1/shows/{}/waitlist", sale.show);
    let entry = eve.post(&path, json!({"quantity": 1})).await.expect(201);
    let path = format!("{path}/{}", text(&entry, "waitlist_id"));
    eve.delete(&path).await.expect(204);
    let friend = json!({"to_email": place.email("eve")});
    let offered = ana.post(&of(&tickets[1], "transfer"), friend).await;
    let transfer = text(&offered.expect(202), "transfer_id").to_owned();
    let path = format!("/api/v1/transfers/{transfer}/decline");
    eve.send(eve.request(Method::POST, &path)).await.expect(204);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_gate_reports_what_it_decided_offline_and_a_supervisor_undoes_it() {
    let place = Place::find().await;
    let sale = place.sale(2, json!({})).await;
    let (show, organiser) = (&sale.show, &sale.organiser);
    let ana = place.buyer("ana").await;
    let order = ana.buys(show, &["A-1-1"]).await;
    let ticket = ana.tickets(text(&order, "order_id")).await.remove(0);
    let path = format!("/api/v1/shows/{show}");
    organiser.get(&format!("{path}/gate")).await.expect(200);
    let scan = json!({"code": ticket["code"], "at": "2026-01-01T00:00:00Z"});
    let batch = json!({"gate": "south", "device": "d1", "scans": [scan]});
    let synced = organiser.post(&format!("{path}/scans/batch"), batch).await;
    assert_eq!(synced.expect(200)["scans"][0]["result"], "admitted");
    let admitted = format!("{path}/scans/{}", text(&ticket, "ticket_id"));
    let history = organiser.get(&admitted).await.expect(200);
    assert_eq!(history["admissions"].as_array().unwrap().len(), 1);
    let undone = organiser.delete(&admitted).await.expect(200);
    assert_eq!(undone["status"], "valid");
    organiser.get(&format!("{path}/scans")).await.expect(200);
    let again = organiser.scan(show, text(&ticket, "code")).await;
    assert_eq!(again.expect(200)["result"], "admitted");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_leaves_is_gone_at_once_and_so_is_staff_that_is_sent_away() {
    let place = Place::find().await;
    let sale = place.sale(4, json!({})).await;
    let (ana, bo) = (place.buyer("ana").await, place.buyer("bo").await);
    ana.buys(&sale.show, &["A-1-1"]).await;
    ana.holds(&sale.show, &["A-1-2"]).await;

    let forgot = json!({"email": place.email("bo")});
    bo.post("/api/v1/password-resets", forgot).await.expect(202);
    let new = json!({"current_password": "correct horse", "new_password": "a battery staple"});
    let request = bo.request(Method::PUT, "/api/v1/me/password").json(&new);
    bo.send(request).await.expect(204);

    let staff = json!({"email": place.email("gate"), "name": "Gate", "show_ids": [sale.show]});
    let staff = sale
        .organiser
        .post("/api/v1/staff", staff)
        .await
        .expect(201);
    let path = format!("/api/v1/staff/{}", text(&staff, "account_id"));
    sale.organiser.delete(&path).await.expect(204);

    let request = ana.request(Method::DELETE, "/api/v1/me");
    let request = request.json(&json!({"password": "correct horse"}));
    ana.send(request).await.expect(204);
    ana.get("/api/v1/me").await.problem(401, "unauthenticated");
    // In the background: what they held is free for others.
    until("the hold is let go", async || {
        let path = format!("/api/v1/shows/{}/availability", sale.show);
        let counts = bo.get(&path).await.expect(200);
        (counts["held"] == 0).then_some(())
    })
    .await;
    // The address is nobody's any more.
    place.buyer("ana").await;
}
