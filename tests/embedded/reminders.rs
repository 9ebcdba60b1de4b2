//! Whoever waits may ask to be told by mail when it is their turn.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::mails::{inbox, mails};
use crate::orders::text;
use crate::sale::Sale;
use crate::server::Server;
use crate::visitor::{Answer, Visitor};
use crate::waiting::Waiting;

/// One goes in at a time.
async fn narrow() -> Sale {
    let room = json!({"mode": "queue_all", "capacity": 1, "rate_per_second": 5});
    Sale::small(json!({"room": room})).await
}

impl Waiting {
    async fn remind(&self, body: Value) -> Answer {
        let path = format!("/room/{}/remind", self.show);
        let request = self.visitor.request(Method::POST, &path);
        let request = request
            .header("onsale-ticket", &self.ticket)
            .header("accept-language", "de-AT, en;q=0.5");
        self.visitor.send(request.json(&body)).await
    }

    async fn asks(&self, name: &str) -> Value {
        let email = json!({"email": format!("{name}@example.org")});
        self.remind(email).await.expect(202)
    }

    fn at(&self, url: &str) -> Self {
        Self {
            visitor: self.visitor.at(url),
            ..self.clone()
        }
    }
}

/// Somebody inside, and somebody who waits for them to leave.
async fn in_line(sale: &Sale) -> (Waiting, Waiting) {
    let anybody = Visitor::anonymous(&sale.server.url);
    let inside = Waiting::join(&anybody, &sale.show).await;
    inside.pass().await;
    let waiting = Waiting::join(&anybody, &sale.show).await;
    waiting.until("waiting").await;
    (inside, waiting)
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_asked_gets_one_mail_when_the_room_lets_them_in() {
    let sale = narrow().await;
    let (inside, waiting) = in_line(&sale).await;
    // A second address takes the place of the first; asking again changes nothing.
    waiting.asks("wrong").await;
    for _ in 0..2 {
        assert_eq!(waiting.asks("ana").await["state"], "waiting");
    }
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    assert!(inbox(&waiting.visitor, "ana").await.is_empty(), "not yet");
    inside.leave().await.expect(204);
    // Nobody polls for them: they have closed the page.
    let mail = mails(&waiting.visitor, "ana", 1).await.remove(0);
    assert!(
        text(&mail, "subject").starts_with("Sie sind als Nächstes dran"),
        "{mail}"
    );
    let link = format!("{}/room/{}", sale.server.url, sale.show);
    assert_eq!(mail["links"], json!([link]));
    waiting.pass().await;
    let again = waiting.remind(json!({"email": "more@example.org"})).await;
    again.problem(409, "conflict");
    for nobody in ["wrong", "more"] {
        assert!(inbox(&waiting.visitor, nobody).await.is_empty(), "{nobody}");
    }
    mails(&waiting.visitor, "ana", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_promise_to_write_survives_the_process() {
    let sale = narrow().await;
    let (inside, waiting) = in_line(&sale).await;
    waiting.asks("ana").await;
    let Sale { server, data, .. } = sale;
    server.kill().await;
    let server = Server::start(data.path()).await;
    let (inside, waiting) = (inside.at(&server.url), waiting.at(&server.url));
    inside.leave().await.expect(204);
    mails(&waiting.visitor, "ana", 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_else_is_written_to() {
    let sale = narrow().await;
    let (inside, waiting) = in_line(&sale).await;
    let path = format!("/room/{}/remind", sale.show);
    let email = json!({"email": "ana@example.org"});
    let stranger = Visitor::anonymous(&sale.server.url);
    stranger
        .post(&path, email.clone())
        .await
        .problem(401, "unauthenticated");
    for wrong in [
        json!({}),
        json!({"email": "ana"}),
        json!({"email": 7}),
        json!({"email": "ana@example.org", "name": "Ana"}),
        json!({"email": "ana@example.org\nBcc: bo@example.org"}),
        json!({"email": format!("{}@example.org", "a".repeat(300))}),
    ] {
        let told = waiting.remind(wrong).await.problem(400, "invalid_request");
        assert!(!text(&told, "detail").contains("ana"), "{told}");
    }
    let forged = Waiting {
        ticket: waiting.ticket.replace(&waiting.ticket[..4], "AAAA"),
        ..waiting.clone()
    };
    forged
        .remind(email.clone())
        .await
        .problem(401, "unauthenticated");
    let already = inside.remind(email.clone()).await;
    assert_eq!(already.problem(409, "conflict")["state"], "door");
    let request = stranger.request(Method::POST, &path).json(&email);
    let request = request
        .header("onsale-ticket", &waiting.ticket)
        .header("origin", "https://elsewhere.example");
    stranger.send(request).await.problem(403, "forbidden");
    let put = stranger.request(Method::PUT, &path);
    assert_eq!(
        stranger.send(put).await.status,
        StatusCode::METHOD_NOT_ALLOWED
    );
    let nowhere = format!("/room/shw_{}/remind", "0".repeat(32));
    assert_eq!(stranger.get(&nowhere).await.status, StatusCode::NOT_FOUND);
    inside.leave().await.expect(204);
    waiting.until("admitted").await;
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    assert!(inbox(&stranger, "ana").await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_form_works_without_a_script() {
    let sale = narrow().await;
    let (_inside, waiting) = in_line(&sale).await;
    let path = format!("/room/{}/remind", sale.show);
    let visitor = &waiting.visitor;
    let page = async |query: &str, with_ticket: bool| {
        let request = visitor.request(Method::GET, &format!("{path}{query}"));
        let request = match with_ticket {
            true => request.header("onsale-ticket", &waiting.ticket),
            false => request,
        };
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 200);
        assert!(answer.headers().contains_key("content-security-policy"));
        answer.text().await.unwrap()
    };
    let action = format!("action=\"{path}\"");
    let form = page("", true).await;
    assert!(form.contains(&action), "{form}");
    assert!(!page("", false).await.contains(&action));
    let send = async |email: &str| {
        let request = visitor.request(Method::POST, &path);
        let request = request.header("onsale-ticket", &waiting.ticket);
        request.form(&[("email", email)]).send().await.unwrap()
    };
    let refused = send("nobody").await;
    assert_eq!(refused.status(), 400);
    assert!(
        refused.headers()["content-type"]
            .to_str()
            .unwrap()
            .starts_with("text/html")
    );
    let after = send("ana@example.org").await;
    assert_eq!(after.status(), 200);
    assert!(
        after.url().as_str().ends_with("/remind?sent"),
        "{}",
        after.url()
    );
    assert!(page("?sent", true).await.contains("We will write to you"));
}
