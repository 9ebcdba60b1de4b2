//! Mails as they arrive: bought, declined, cancelled, moved, called off.

use std::time::Duration;

use serde_json::{Value, json};

use crate::orders::{order_of, text, until};
use crate::sale::Sale;
use crate::visitor::Visitor;

/// The mails to somebody, newest first.
pub(crate) async fn inbox(visitor: &Visitor, name: &str) -> Vec<Value> {
    let path = format!("/dev/mail?to={name}@example.org");
    let request = visitor.request(reqwest::Method::GET, &path);
    let answer = request.header("accept", "application/json").send().await;
    let list: Value = answer.unwrap().json().await.unwrap();
    list["items"].as_array().unwrap().clone()
}

/// Waits until somebody has so many mails, and looks whether it stays at that.
pub(crate) async fn mails(visitor: &Visitor, name: &str, count: usize) -> Vec<Value> {
    let came = async || (inbox(visitor, name).await.len() >= count).then_some(());
    until("the mails to come", came).await;
    tokio::time::sleep(Duration::from_millis(500)).await;
    let all = inbox(visitor, name).await;
    let subjects: Vec<_> = all.iter().map(|mail| &mail["subject"]).collect();
    assert_eq!(all.len(), count, "{subjects:?}");
    let mut read = Vec::new();
    for mail in &all {
        let path = format!("/dev/mail/{}", text(mail, "id"));
        let request = visitor.request(reqwest::Method::GET, &path);
        let answer = request.header("accept", "application/json").send().await;
        read.push(answer.unwrap().json().await.unwrap());
    }
    read
}

async fn bytes(visitor: &Visitor, path: &str) -> Vec<u8> {
    let answer = visitor.request(reqwest::Method::GET, path).send().await;
    answer.unwrap().bytes().await.unwrap().to_vec()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_buyer_gets_one_confirmation_with_a_page_for_each_ticket() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let order = ana.buys(&sale.show, &["A-1-1", "A-1-2", "A-1-3"]).await;
    let mail = mails(&ana, "ana", 1).await.remove(0);
    assert!(
        text(&mail, "subject").starts_with("Your tickets: "),
        "{mail}"
    );
    let link = format!("{}/orders/{}", sale.server.url, text(&order, "order_id"));
    assert_eq!(mail["links"], json!([link]));
    assert!(text(&mail, "text").contains("€135.03"), "{mail}");
    assert!(
        text(&mail, "html").contains("A, row 1, seats 1–3"),
        "{mail}"
    );
    let attachments = mail["attachments"].as_array().unwrap();
    assert_eq!(attachments.len(), 1);
    let pdf = bytes(&ana, text(&attachments[0], "href")).await;
    assert_eq!(pages(&pdf), 3);
}

/// The pages of a PDF, by another program where there is one.
fn pages(pdf: &[u8]) -> usize {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("tickets.pdf");
    std::fs::write(&file, pdf).unwrap();
    let info = std::process::Command::new("pdfinfo").arg(&file).output();
    if let Ok(info) = info {
        let said = String::from_utf8_lossy(&info.stdout).into_owned();
        let count = said.lines().find_map(|line| line.strip_prefix("Pages:"));
        return count.unwrap().trim().parse().unwrap();
    }
    let text = String::from_utf8_lossy(pdf);
    let all = text.matches("/Type/Page").count() + text.matches("/Type /Page").count();
    all - text.matches("/Type/Pages").count() - text.matches("/Type /Pages").count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decline_and_a_cancellation_are_told_in_the_language_of_the_buyer() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let change = async |body: Value| {
        let request = ana.request(reqwest::Method::PATCH, "/api/v1/me");
        let answer = request.json(&body).send().await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.json::<Value>().await.unwrap())
    };
    for wrong in [
        json!({}),
        json!({"language": "it"}),
        json!({"language": null}),
    ] {
        assert_eq!(change(wrong.clone()).await.0, 400, "{wrong}");
    }
    let (status, account) = change(json!({"language": "de"})).await;
    assert_eq!((status, &account["language"]), (200, &json!("de")));
    let hold = ana.holds(&sale.show, &["A-1-1"]).await;
    let pay = ana.check_out(&sale.show, &hold, "pay", "pm_card_chargeDeclined");
    pay.await.expect(202);
    ana.order_becomes(&order_of(&hold), "declined").await;
    let mail = mails(&ana, "ana", 1).await.remove(0);
    assert!(
        text(&mail, "subject").starts_with("Zahlung abgelehnt: "),
        "{mail}"
    );

    let again = ana.check_out(&sale.show, &hold, "again", "pm_card_visa");
    again.await.expect(202);
    let order = order_of(&hold);
    ana.order_becomes(&order, "confirmed").await;
    mails(&ana, "ana", 2).await;
    ana.cancel(&order, "c").await.expect(202);
    ana.order_becomes(&order, "refunded").await;
    let mail = mails(&ana, "ana", 3).await.remove(0);
    assert!(
        text(&mail, "subject").starts_with("Bestellung storniert: "),
        "{mail}"
    );
    assert!(text(&mail, "text").contains("45,01\u{a0}€"), "{mail}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_buyer_hears_that_a_show_moves_and_that_it_is_cancelled() {
    let sale = Sale::small(json!({})).await;
    let (ana, bo) = (sale.buyer("ana").await, sale.buyer("bo").await);
    ana.buys(&sale.show, &["A-1-1"]).await;
    bo.buys(&sale.show, &["A-2-1"]).await;
    let path = format!("/api/v1/shows/{}", sale.show);
    let change = json!({"starts_at": "2098-01-02T19:00:00Z"});
    let request = sale.organiser.request(reqwest::Method::PATCH, &path);
    let changed = request.json(&change).send().await.unwrap();
    assert_eq!(changed.status(), 200);
    for (buyer, name) in [(&ana, "ana"), (&bo, "bo")] {
        let mail = mails(buyer, name, 2).await.remove(0);
        assert!(text(&mail, "subject").starts_with("Changed: "), "{mail}");
        assert!(text(&mail, "text").contains("2 January 2098"), "{mail}");
    }
    let cancel = format!("{path}/cancel");
    let cancelled = sale.organiser.post(&cancel, Value::Null).await;
    cancelled.expect(202);
    for (buyer, name) in [(&ana, "ana"), (&bo, "bo")] {
        let all = mails(buyer, name, 4).await;
        let subjects: Vec<_> = all.iter().map(|mail| text(mail, "subject")).collect();
        let has = |start: &str| subjects.iter().any(|subject| subject.starts_with(start));
        assert!(
            has("Cancelled: ") && has("Refund for a cancelled show: "),
            "{subjects:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_inbox_shows_mails_safely_and_to_this_machine_only() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    ana.buys(&sale.show, &["A-1-1"]).await;
    let mail = mails(&ana, "ana", 1).await.remove(0);
    let path = format!("/dev/mail/{}", text(&mail, "id"));
    let get = |path: String, host: Option<&'static str>| {
        let request = ana.request(reqwest::Method::GET, &path);
        let request = match host {
            Some(host) => request.header("host", host),
            None => request,
        };
        async move { request.send().await.unwrap() }
    };
    let policy = |answer: &reqwest::Response| {
        let policy = &answer.headers()["content-security-policy"];
        policy.to_str().unwrap().to_owned()
    };
    let page = get(path.clone(), None).await;
    assert!(policy(&page).contains("default-src 'none'"));
    let html = page.text().await.unwrap();
    assert!(
        html.contains("<iframe") && html.contains(" sandbox "),
        "{html}"
    );
    let part = get(format!("{path}/html"), None).await;
    assert!(policy(&part).starts_with("sandbox; default-src 'none'"));
    assert!(get("/dev/mail".into(), None).await.status().is_success());
    assert_eq!(get(path, Some("evil.example")).await.status(), 404);
    assert_eq!(get("/dev/mail/none".into(), None).await.status(), 404);
    let metrics = String::from_utf8(bytes(&ana, "/metrics").await).unwrap();
    let counted = "onsale_mails_total{kind=\"confirmation\",result=\"sent\"} 1";
    assert!(metrics.contains(counted), "{metrics}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_language_can_be_chosen_when_registering() {
    let sale = Sale::small(json!({})).await;
    let new = json!({"email": "eva@example.org", "password": "correct horse", "name": "Eva",
        "role": "buyer", "language": "de"});
    let stranger = Visitor::anonymous(&sale.server.url);
    let account = stranger.post("/api/v1/accounts", new).await.expect(201);
    assert_eq!(account["language"], "de");
    let mut eva = stranger;
    eva.log_in("eva").await;
    assert_eq!(eva.get("/api/v1/me").await.expect(200)["language"], "de");
    eva.buys(&sale.show, &["A-1-1"]).await;
    let mail = mails(&eva, "eva", 1).await.remove(0);
    assert!(
        text(&mail, "subject").starts_with("Ihre Tickets: "),
        "{mail}"
    );
}
