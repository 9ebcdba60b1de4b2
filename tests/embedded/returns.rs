//! A ticket is put back and goes to somebody who waits; its seller gets the money.

use serde_json::{Value, json};

use crate::command_line::reconcile;
use crate::mails::inbox;
use crate::orders::{order_of, text, until};
use crate::sale::Sale;
use crate::visitor::{Answer, Visitor, rows};

/// A sold-out row of two seats that Ana has, and Bo who may wait for one of them.
struct Return {
    sale: Sale,
    ana: Visitor,
    bo: Visitor,
    order: String,
    tickets: Vec<Value>,
}

impl Return {
    async fn new() -> Self {
        let sections = json!([rows("A", 1, 2)]);
        let sale = Sale::open(sections, json!({"A": 4501}), json!({})).await;
        let (ana, bo) = (sale.buyer("ana").await, sale.buyer("bo").await);
        let order = ana.buys(&sale.show, &["A-1-1", "A-1-2"]).await;
        let order = text(&order, "order_id").to_owned();
        let tickets = ana.tickets(&order).await;
        Self {
            sale,
            ana,
            bo,
            order,
            tickets,
        }
    }

    fn path(&self) -> String {
        let ticket = text(&self.tickets[0], "ticket_id");
        format!("/api/v1/tickets/{ticket}/return")
    }

    async fn put_back(&self, visitor: &Visitor, key: &str) -> Answer {
        let request = visitor.request(reqwest::Method::POST, &self.path());
        visitor.send(request.header("idempotency-key", key)).await
    }

    async fn scan(&self, ticket: &Value) -> Value {
        let scan = self
            .sale
            .organiser
            .scan(&self.sale.show, text(ticket, "code"));
        scan.await.expect(200)["result"].clone()
    }

    /// Bo waits for one seat, and is offered this.
    async fn offered(&self) -> Value {
        let path = format!("/api/v1/shows/{}/waitlist", self.sale.show);
        let joined = self
            .bo
            .post(&path, json!({"quantity": 1}))
            .await
            .expect(201);
        let path = format!("{path}/{}", text(&joined, "waitlist_id"));
        until("an offer", async || {
            let entry = self.bo.get(&path).await.expect(200);
            (entry["status"] == "offered").then(|| entry["offer"].clone())
        })
        .await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_that_was_put_back_is_resold_and_paid_back() {
    let life = Return::new().await;
    let (ana, bo, sale) = (&life.ana, &life.bo, &life.sale);
    life.put_back(bo, "r").await.problem(404, "not_found");
    let answer = life.put_back(ana, "r").await.expect(202);
    assert_eq!(answer["status"], "valid");
    assert_eq!(answer["return"]["status"], "offered");
    assert_eq!(
        answer["return"]["refund"],
        json!({"amount": 4501, "currency": "EUR"})
    );
    let again = life.put_back(ana, "r").await.expect(202);
    assert_eq!(
        again["return"]["put_back_at"],
        answer["return"]["put_back_at"]
    );

    let offer = life.offered().await;
    assert_eq!(offer["seats"][0]["seat"], "A-1-1");
    let kept = &ana.tickets(&life.order).await[0];
    assert_eq!(
        (&kept["status"], &kept["return"]["status"]),
        (&json!("valid"), &json!("being_bought"))
    );
    let hold = text(&offer, "hold_id");
    bo.check_out(&sale.show, hold, "pay", "pm_card_visa")
        .await
        .expect(202);
    let bought = bo.order_becomes(&order_of(hold), "confirmed").await;
    assert_eq!(bought["total"], json!({"amount": 4501, "currency": "EUR"}));

    // Ana's code is dead, for gates without a line too; Bo's is good, and so is her other.
    let sold = until("the money to go back", async || {
        let order = ana.read_order(&life.order).await;
        (order["resold"][0]["refunded"] == true).then_some(order)
    })
    .await;
    assert_eq!(sold["status"], "confirmed");
    assert_eq!(sold["refund"], json!({"amount": 4501, "currency": "EUR"}));
    assert_eq!(sold["resold"][0]["seat"], "A-1-1");
    assert_eq!(life.scan(&life.tickets[0]).await, "revoked");
    let gate = format!("/api/v1/shows/{}/gate", sale.show);
    let book = sale.organiser.get(&gate).await.expect(200);
    let short = &text(&life.tickets[0], "ticket_id")["tkt_".len()..][..16];
    assert_eq!(book["revoked"], json!([short]));
    assert_eq!(
        life.scan(&bo.tickets(&order_of(hold)).await[0]).await,
        "admitted"
    );
    assert_eq!(life.scan(&life.tickets[1]).await, "admitted");
    ana.delete(&life.path()).await.problem(409, "conflict");
    life.put_back(ana, "other").await.problem(409, "conflict");

    // The books, the ledger, the export and the mail.
    let books = reconcile(sale.data.path()).await;
    assert_eq!(
        (books.sold, books.captured, books.refunded),
        (2, 13_503, 4_501)
    );
    let path = format!("/api/v1/shows/{}/sales", sale.show);
    let sales = sale.organiser.get(&path).await.expect(200);
    assert_eq!(sales["revenue"]["amount"], 9_002, "{sales}");
    let export = ana.get("/api/v1/me/export").await.expect(200);
    let exported = &export["orders"][0];
    assert_eq!(exported["refund"]["amount"], 4_501);
    let tickets = exported["tickets"].as_array().unwrap();
    assert!(tickets.iter().any(|t| t["return"]["status"] == "resold"));
    let mail = until("the mail", async || {
        let mails = inbox(ana, "ana").await;
        let resold = |mail: &&Value| text(mail, "subject").starts_with("Your ticket was resold");
        mails.iter().find(resold).cloned()
    });
    mail.await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ticket_that_is_kept_after_all_is_good_and_nobody_pays_for_it() {
    let life = Return::new().await;
    let (ana, bo, sale) = (&life.ana, &life.bo, &life.sale);
    life.put_back(ana, "r").await.expect(202);
    let offer = life.offered().await;
    for _ in 0..2 {
        ana.delete(&life.path()).await.expect(204);
    }
    bo.delete(&life.path()).await.problem(404, "not_found");
    let late = life.put_back(ana, "r").await.expect(202);
    assert_eq!(
        late["return"]["status"], "ended",
        "the same request, come late"
    );
    let hold = text(&offer, "hold_id");
    let paid = bo.check_out(&sale.show, hold, "pay", "pm_card_visa").await;
    paid.problem(410, "hold_expired");
    assert_eq!(life.scan(&life.tickets[0]).await, "admitted");
    life.put_back(ana, "again").await.problem(409, "conflict");
    let books = reconcile(sale.data.path()).await;
    assert_eq!((books.sold, books.captured, books.refunded), (2, 9_002, 0));
}
