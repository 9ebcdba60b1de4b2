//! New passwords, leaving and taking one's data along, on the running platform.

use onsale_domain::account::Email;
use onsale_domain::password_reset::{LINK_WINDOW_MS, ResetKeys, ResetPurpose};
use onsale_domain::time::Millis;
use reqwest::Method;
use serde_json::{Value, json};

use crate::orders::text;
use crate::sale::Sale;
use crate::visitor::{Answer, Visitor};

/// The links that an address may have been mailed within this half hour: each follows from the
/// address and the keys in the data folder, as whoever mails it derives it.
pub(crate) fn links(sale: &Sale, email: &str, purpose: ResetPurpose) -> Vec<String> {
    let keys = std::fs::read_to_string(sale.data.path().join("reset.keys")).unwrap();
    let keys: ResetKeys = keys.trim().parse().unwrap();
    let email = Email::parse(email).unwrap();
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis() as u64;
    let windows = [now, now - LINK_WINDOW_MS];
    let ids = windows.into_iter().flat_map(|at| {
        let email = &email;
        (0..3)
            .map(move |nth| onsale_domain::ids::ResetId::nth(email, true, purpose, Millis(at), nth))
    });
    ids.map(|id| keys.token(id).to_string()).collect()
}

/// Follows the link that works; how many of them did.
pub(crate) async fn follow(stranger: &Visitor, links: &[String], password: &str) -> usize {
    let mut worked = 0;
    for link in links {
        let path = format!("/api/v1/password-resets/{link}");
        let answer = stranger.post(&path, json!({"password": password})).await;
        match answer.status.as_u16() {
            204 => worked += 1,
            _ => {
                answer.problem(404, "not_found");
            }
        }
    }
    worked
}

async fn log_in(url: &str, email: &str, password: &str) -> Answer {
    let body = json!({"email": email, "password": password});
    Visitor::anonymous(url).post("/api/v1/sessions", body).await
}

async fn with_body(visitor: &Visitor, method: Method, path: &str, body: Value) -> Answer {
    visitor
        .send(visitor.request(method, path).json(&body))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_password_ends_other_sessions_and_a_mailed_link_all_of_them() {
    let sale = Sale::small(json!({})).await;
    let url = &sale.server.url;
    let ana = sale.buyer("ana").await;
    let mut other = ana.clone();
    other.log_in("ana").await;
    let change = json!({"current_password": "correct horse", "new_password": "second horse"});
    with_body(&ana, Method::PUT, "/api/v1/me/password", change)
        .await
        .expect(204);
    other
        .get("/api/v1/me")
        .await
        .problem(401, "unauthenticated");
    // The hold path asks the same question.
    let held = other
        .hold(&sale.show, "k", json!({"seats": ["A-1-1"]}))
        .await;
    held.problem(401, "unauthenticated");
    ana.get("/api/v1/me").await.expect(200);
    ana.hold(&sale.show, "k", json!({"seats": ["A-1-1"]}))
        .await
        .expect(201);

    let stranger = Visitor::anonymous(url);
    for email in ["ana@example.org", "nobody@example.org"] {
        let asked = stranger
            .post("/api/v1/password-resets", json!({"email": email}))
            .await;
        assert_eq!(asked.expect(202), json!({}));
    }
    let links = links(&sale, "ana@example.org", ResetPurpose::Reset);
    let forged: Vec<_> = links.iter().map(|link| format!("{link}A")).collect();
    assert_eq!(follow(&stranger, &forged, "third horse").await, 0);
    ana.get("/api/v1/me").await.expect(200);
    assert_eq!(follow(&stranger, &links, "third horse").await, 1);
    ana.get("/api/v1/me").await.problem(401, "unauthenticated");
    assert_eq!(follow(&stranger, &links, "fourth horse").await, 0);
    log_in(url, "ana@example.org", "second horse")
        .await
        .problem(401, "unauthenticated");
    log_in(url, "ana@example.org", "third horse")
        .await
        .expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_leaves_frees_their_holds_and_email_and_their_ticket_still_admits() {
    let sale = Sale::small(json!({})).await;
    let ana = sale.buyer("ana").await;
    let order = ana.buys(&sale.show, &["A-1-1"]).await;
    let tickets = ana.tickets(text(&order, "order_id")).await;
    ana.hold(&sale.show, "k", json!({"seats": ["A-1-2"]}))
        .await
        .expect(201);
    let bo = sale.buyer("bo").await;
    let bos = bo.buys(&sale.show, &["A-1-3"]).await;
    let bos = bo.tickets(text(&bos, "order_id")).await;
    let mut offers = Vec::new();
    for (from, ticket, to) in [(&ana, &tickets[0], "bo"), (&bo, &bos[0], "ana")] {
        let path = format!("/api/v1/tickets/{}/transfer", text(ticket, "ticket_id"));
        let to = json!({"to_email": format!("{to}@example.org")});
        let offer = from.post(&path, to).await.expect(202);
        offers.push(text(&offer, "transfer_id").to_owned());
    }
    let wish = json!({"quantity": 4, "sections": ["A"]});
    let waitlist = format!("/api/v1/shows/{}/waitlist", sale.show);
    ana.post(&waitlist, wish).await.expect(201);

    let export = ana.get("/api/v1/me/export").await;
    let disposition = export.headers["content-disposition"].to_str().unwrap();
    assert!(disposition.starts_with("attachment"), "{disposition}");
    let export = export.expect(200);
    assert_eq!(export["account"]["email"], "ana@example.org");
    assert_eq!(export["orders"][0]["order_id"], order["order_id"]);
    let exported = &export["orders"][0]["tickets"][0];
    assert_eq!(exported["ticket_id"], tickets[0]["ticket_id"]);
    let seats: Vec<_> = export["holds"].as_array().unwrap().iter().collect();
    assert!(seats.len() >= 2, "{export}");
    assert_eq!(export["sessions"].as_array().unwrap().len(), 1);
    let written = export.to_string();
    for secret in [
        text(&tickets[0], "code"),
        &ana.token,
        "argon2",
        "correct horse",
    ] {
        assert!(!written.contains(secret), "{written}");
    }
    let waited = &export["waitlists"][0];
    assert_eq!(waited["show_id"], sale.show.as_str(), "{export}");
    let status = text(waited, "status");
    assert!(["waiting", "offered"].contains(&status), "{export}");
    assert_eq!(waited["sections"], json!(["A"]));
    let sent = &export["transfers"][0];
    assert_eq!(
        (&sent["direction"], &sent["to_email"]),
        (&json!("out"), &json!("bo@example.org"))
    );
    // The mail alone has the id of what is offered to her, until she answers.
    assert!(!written.contains(&offers[1]), "{written}");
    let decline = format!("/api/v1/transfers/{}/decline", offers[1]);
    let declined = ana.send(ana.request(Method::POST, &decline)).await;
    declined.expect(204);
    let export = ana.get("/api/v1/me/export").await.expect(200);
    let (sent, got) = (&export["transfers"][1], &export["transfers"][0]);
    assert_eq!(sent["direction"], "out");
    assert_eq!(
        (&got["direction"], &got["status"]),
        (&json!("in"), &json!("declined"))
    );
    let bad = ana.get("/api/v1/me/export?cursor=nonsense").await;
    bad.problem(400, "invalid_request");

    let wrong = json!({"password": "wrong horse"});
    with_body(&ana, Method::DELETE, "/api/v1/me", wrong)
        .await
        .problem(403, "forbidden");
    let body = json!({"password": "correct horse"});
    with_body(&sale.organiser, Method::DELETE, "/api/v1/me", body.clone())
        .await
        .problem(409, "conflict");
    with_body(&ana, Method::DELETE, "/api/v1/me", body)
        .await
        .expect(204);
    ana.get("/api/v1/me").await.problem(401, "unauthenticated");
    log_in(&sale.server.url, "ana@example.org", "correct horse")
        .await
        .problem(401, "unauthenticated");

    crate::owners::wait_for_counts(&sale.organiser, &sale.show, 18, 0).await;
    let scan = sale
        .organiser
        .scan(&sale.show, text(&tickets[0], "code"))
        .await;
    assert_eq!(scan.expect(200)["result"], "admitted");
    let again = Visitor::new(&sale.server.url, "ana", "buyer").await;
    let orders = again.get("/api/v1/orders").await.expect(200);
    assert_eq!(orders["items"], json!([]), "a new account has no past");
}
