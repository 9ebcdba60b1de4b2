//! The receipt of an order: a PDF for its buyer, in their language, with what was paid back.

use std::process::Command;

use reqwest::Method;
use serde_json::json;

use crate::orders::{text, until};
use crate::sale::Sale;
use crate::visitor::Visitor;

/// What a program that reads PDFs finds in one. `None`: there is no such program here.
fn words_of(pdf: &[u8]) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("receipt.pdf");
    std::fs::write(&file, pdf).unwrap();
    let mut reader = Command::new("pdftotext");
    let read = reader.arg("-layout").arg(&file).arg("-").output().ok()?;
    assert!(read.status.success(), "{read:?}");
    Some(String::from_utf8(read.stdout).unwrap())
}

async fn receipt(buyer: &Visitor, order: &str, language: &str) -> Option<String> {
    let path = format!("/api/v1/orders/{order}/receipt");
    let request = buyer.request(Method::GET, &path);
    let answer = request
        .header("accept-language", language.to_owned())
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "application/pdf");
    assert_eq!(answer.headers()["cache-control"], "private, no-store");
    let pdf = answer.bytes().await.unwrap();
    assert!(pdf.starts_with(b"%PDF-"));
    words_of(&pdf)
}

#[track_caller]
fn says(receipt: &Option<String>, parts: &[&str]) {
    for part in receipt.iter().flat_map(|_| parts) {
        let receipt = receipt.as_deref().unwrap_or_default();
        assert!(receipt.contains(part), "no {part} in {receipt}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receipt_says_what_was_paid_and_what_was_paid_back() {
    let sale = Sale::small(json!({})).await;
    let (ana, bo) = (sale.buyer("ana").await, sale.buyer("bo").await);
    let order = ana.buys(&sale.show, &["A-1-1", "A-1-2"]).await;
    let (id, number) = (text(&order, "order_id"), text(&order, "number"));
    let english = receipt(&ana, id, "en").await;
    let places = ["A, row 1, seat 1 ", "A, row 1, seat 2 ", "€45.01", "€90.02"];
    says(&english, &places);
    says(
        &english,
        &[
            "Receipt",
            number,
            "Evening",
            "Hall, Graz",
            "organiser",
            "ana",
        ],
    );
    let is_refunded =
        |receipt: &Option<String>| receipt.as_ref().map(|it| it.contains("Paid back"));
    assert_ne!(is_refunded(&english), Some(true));
    let german = receipt(&ana, id, "de-AT").await;
    says(
        &german,
        &["Beleg", "Bestellnummer", "A, Reihe 1, Platz 2", "90,02"],
    );

    let path = format!("/api/v1/orders/{id}/receipt");
    bo.get(&path).await.problem(404, "not_found");
    sale.organiser.get(&path).await.problem(404, "not_found");
    let nobody = Visitor::anonymous(&sale.server.url);
    nobody.get(&path).await.problem(401, "unauthenticated");

    ana.cancel(id, "c").await.expect(202);
    until("the order is refunded", async || {
        let order = ana.read_order(id).await;
        (order["status"] == "refunded").then_some(())
    })
    .await;
    says(&receipt(&ana, id, "en").await, &["Paid back", "−€90.02"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_that_nobody_paid_has_no_receipt() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let hold = ana.holds(&sale.show, &["A-1-1"]).await;
    let path = format!("/api/v1/shows/{}/holds/{hold}/checkout", sale.show);
    let declined = json!({"payment_method": "pm_card_chargeDeclined"});
    let request = ana.request(Method::POST, &path).json(&declined);
    let order = ana
        .send(request.header("idempotency-key", "c"))
        .await
        .expect(202);
    let path = format!("/api/v1/orders/{}/receipt", text(&order, "order_id"));
    ana.get(&path).await.problem(409, "conflict");
}
