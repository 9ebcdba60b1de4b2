//! A ticket goes to a friend.

use futures_util::future::join_all;
use reqwest::Method;
use serde_json::{Value, json};

use crate::command_line::reconcile;
use crate::orders::{text, until};
use crate::sale::Sale;
use crate::server::Server;
use crate::visitor::{Answer, Visitor};

struct Gift {
    sale: Sale,
    ana: Visitor,
    bo: Visitor,
    order: String,
    ticket: String,
    code: String,
}

impl Gift {
    async fn new() -> Self {
        let sale = Sale::small(json!({})).await;
        let (ana, bo) = (sale.buyer("ana").await, sale.buyer("bo").await);
        let order = ana.buys(&sale.show, &["A-1-1", "A-1-2"]).await;
        let order = text(&order, "order_id").to_owned();
        let tickets = ana.tickets(&order).await;
        let field = |name| text(&tickets[0], name).to_owned();
        let (ticket, code) = (field("ticket_id"), field("code"));
        Self {
            sale,
            ana,
            bo,
            order,
            ticket,
            code,
        }
    }

    async fn offer(&self, to: &str) -> Answer {
        let path = format!("/api/v1/tickets/{}/transfer", self.ticket);
        self.ana.post(&path, json!({"to_email": to})).await
    }

    async fn offered(&self) -> String {
        let offered = self.offer(" Bo@Example.ORG ").await.expect(202);
        text(&offered, "transfer_id").to_owned()
    }

    async fn scan(&self, code: &str) -> Value {
        let scan = self.sale.organiser.scan(&self.sale.show, code).await;
        scan.expect(200)["result"].clone()
    }
}

async fn accept(visitor: &Visitor, transfer: &str) -> Answer {
    let path = format!("/api/v1/transfers/{transfer}/accept");
    visitor.send(visitor.request(Method::POST, &path)).await
}

async fn owned(visitor: &Visitor) -> Vec<Value> {
    let listed = visitor.get("/api/v1/tickets").await.expect(200);
    listed["items"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_that_was_given_away_is_the_friends_and_its_old_code_is_dead() {
    let gift = Gift::new().await;
    let transfer = gift.offered().await;
    assert!(transfer.starts_with("trf_"));
    let answers = join_all((0..50).map(|_| accept(&gift.bo, &transfer))).await;
    let answers: Vec<_> = answers
        .into_iter()
        .map(|answer| answer.expect(200))
        .collect();
    assert!(answers.iter().all(|answer| answer == &answers[0]));
    let (new, code) = (text(&answers[0], "ticket_id"), text(&answers[0], "code"));
    assert_ne!(new, gift.ticket);
    assert_ne!(code, gift.code);

    // At the gate, and offline by the list of revocations.
    assert_eq!(gift.scan(&gift.code).await, "revoked");
    let path = format!("/api/v1/shows/{}/gate", gift.sale.show);
    let snapshot = gift.sale.organiser.get(&path).await.expect(200);
    assert_eq!(
        snapshot["revoked"],
        json!([gift.ticket["tkt_".len()..][..16]])
    );

    // On paper, and in everybody's list.
    for kind in ["pdf", "svg"] {
        gift.bo
            .bytes(&format!("/api/v1/tickets/{new}/{kind}"))
            .await;
        let path = format!("/api/v1/tickets/{new}/{kind}");
        gift.ana.get(&path).await.problem(404, "not_found");
        let path = format!("/api/v1/tickets/{}/{kind}", gift.ticket);
        gift.ana.get(&path).await.problem(409, "conflict");
        gift.bo.get(&path).await.problem(404, "not_found");
    }
    let bos = owned(&gift.bo).await;
    assert_eq!(bos.len(), 1);
    assert_eq!(
        (text(&bos[0], "ticket_id"), text(&bos[0], "code")),
        (new, code)
    );
    assert_eq!(owned(&gift.ana).await.len(), 1);
    assert_eq!(gift.ana.tickets(&gift.order).await[0]["status"], "revoked");
    let listed = gift.ana.get("/api/v1/transfers").await.expect(200);
    assert_eq!(
        (
            &listed["items"][0]["direction"],
            &listed["items"][0]["status"]
        ),
        (&json!("out"), &json!("accepted"))
    );
    let listed = gift.bo.get("/api/v1/transfers").await.expect(200);
    assert_eq!(listed["items"][0]["direction"], "in");
    assert_eq!(text(&listed["items"][0], "ticket_id"), new);

    assert_eq!(gift.scan(code).await, "admitted");
    let books = reconcile(gift.sale.data.path()).await;
    assert_eq!((books.sold, books.orphans), (2, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_offer_is_between_two_people_and_ends() {
    let gift = Gift::new().await;
    let cleo = gift.sale.buyer("cleo").await;
    let anonymous = Visitor::anonymous(&gift.sale.server.url);
    for wrong in ["", "bo", "bo@example"] {
        gift.offer(wrong).await.problem(400, "invalid_request");
    }
    gift.offer("ana@example.org")
        .await
        .problem(400, "invalid_request");
    let path = format!("/api/v1/tickets/{}/transfer", gift.ticket);
    let body = json!({"to_email": "cleo@example.org"});
    gift.bo
        .post(&path, body.clone())
        .await
        .problem(404, "not_found");
    anonymous
        .post(&path, body)
        .await
        .problem(401, "unauthenticated");

    let transfer = gift.offered().await;
    gift.offer("cleo@example.org")
        .await
        .problem(409, "conflict");
    let path = format!("/api/v1/transfers/{transfer}");
    for stranger in [&cleo, &gift.sale.organiser] {
        accept(stranger, &transfer).await.problem(404, "not_found");
        stranger.get(&path).await.problem(404, "not_found");
        stranger.delete(&path).await.problem(404, "not_found");
    }
    accept(&gift.ana, &transfer).await.problem(404, "not_found");
    gift.bo.delete(&path).await.problem(404, "not_found");
    let seen = gift.bo.get(&path).await.expect(200);
    assert_eq!(
        (&seen["status"], &seen["from_name"]),
        (&json!("open"), &json!("ana"))
    );
    assert!(!seen.to_string().contains("ana@example.org"), "{seen}");
    assert!(
        gift.ana
            .get(&path)
            .await
            .expect(200)
            .get("from_name")
            .is_none()
    );
    let listed = gift.bo.get("/api/v1/transfers").await.expect(200);
    assert_eq!(listed["items"], json!([]), "the mail has the id");
    gift.ana.delete(&path).await.expect(204);
    gift.ana.delete(&path).await.expect(204);
    accept(&gift.bo, &transfer).await.problem(409, "conflict");

    let transfer = gift.offered().await;
    let decline = format!("/api/v1/transfers/{transfer}/decline");
    cleo.send(cleo.request(Method::POST, &decline))
        .await
        .problem(404, "not_found");
    let declined = gift.bo.send(gift.bo.request(Method::POST, &decline)).await;
    declined.expect(204);
    accept(&gift.bo, &transfer).await.problem(409, "conflict");
    assert_eq!(
        gift.scan(&gift.code).await,
        "admitted",
        "nothing happened to it"
    );
    gift.offer("bo@example.org").await.problem(409, "conflict");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_gave_a_ticket_away_cannot_cancel_but_a_cancelled_show_reaches_everybody() {
    let gift = Gift::new().await;
    let transfer = gift.offered().await;
    let accepted = accept(&gift.bo, &transfer).await.expect(200);
    let refused = gift.ana.cancel(&gift.order, "c").await;
    let problem = refused.problem(409, "conflict");
    assert!(text(&problem, "detail").contains("passed on"), "{problem}");
    let path = format!("/api/v1/shows/{}/cancel", gift.sale.show);
    let organiser = &gift.sale.organiser;
    let request = organiser.request(Method::POST, &path);
    let request = request.header("idempotency-key", "c");
    organiser.send(request).await.expect(202);
    // It is confirmed until the cancellation reaches it.
    let order = until("the order is refunded", async || {
        let order = gift.ana.read_order(&gift.order).await;
        (order["status"] == "refunded").then_some(order)
    });
    let order = order.await;
    assert_eq!(order["refund"]["amount"], 9002, "the payer gets it back");
    assert_eq!(gift.scan(text(&accepted, "code")).await, "revoked");
    assert_eq!(owned(&gift.bo).await[0]["status"], "revoked");
}

/// What was accepted survives `kill -9`, and asking again gives the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_is_accepted_across_a_crash() {
    let gift = Gift::new().await;
    let transfer = gift.offered().await;
    let first = accept(&gift.bo, &transfer).await.expect(200);
    gift.sale.server.kill().await;
    let server = Server::start(gift.sale.data.path()).await;
    let bo = gift.bo.at(&server.url);
    assert_eq!(accept(&bo, &transfer).await.expect(200), first);
    assert_eq!(owned(&bo).await.len(), 1);
}
