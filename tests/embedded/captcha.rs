//! A CAPTCHA on the embedded platform, judged by a service on this machine that speaks
//! Turnstile's protocol.

use std::collections::HashMap;

use axum::extract::State;
use axum::routing::post;
use axum::{Json, Router};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::sale::Sale;
use crate::server::{Server, command};
use crate::visitor::{Answer, Visitor, rows};
use crate::waiting::{Waiting, solved};

const SECRET: &str = "0x4AAA-embedded-secret";

/// A service that knows our secret and takes one token.
async fn siteverify() -> String {
    let judge = |State(good): State<&'static str>, body: String| async move {
        let fields: HashMap<_, _> = form_urlencoded::parse(body.as_bytes()).collect();
        let passed = fields["secret"] == SECRET && fields["response"] == good;
        let errors: &[&str] = match passed {
            true => &[],
            false => &["invalid-input-response"],
        };
        Json(json!({"success": passed, "hostname": "tickets.example", "error-codes": errors}))
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/siteverify", listener.local_addr().unwrap());
    let router = Router::new().route("/siteverify", post(judge));
    let server = axum::serve(listener, router.with_state("good"));
    tokio::spawn(server.into_future());
    url
}

async fn sale(args: &[&str], room: Value) -> Sale {
    let data = tempfile::tempdir().unwrap();
    let mut command = command(
        data.path(),
        &["--empty", "--rate-limit", "off", "--port", "0"],
    );
    command
        .args(args)
        .env("CAPTCHA_SECRET", SECRET)
        .env("CAPTCHA_VERIFY_URL", siteverify().await)
        .env("CAPTCHA_HOSTNAME", "tickets.example");
    let server = Server::from_command(command).await.unwrap();
    let (sections, prices) = (json!([rows("A", 2, 10)]), json!({"A": 4501}));
    Sale::open_on(server, data, sections, prices, json!({"room": room})).await
}

/// Logs somebody in on a device that four accounts use.
async fn suspect(sale: &Sale) -> Visitor {
    let anybody = Visitor::anonymous(&sale.server.url);
    let asked = anybody.get(&format!("/room/{}/challenge", sale.show)).await;
    let device = asked.headers.get("set-cookie").unwrap().to_str().unwrap();
    let device = device.split(';').next().unwrap();
    let mut suspect = anybody.clone();
    for n in 0..4 {
        let name = format!("suspect-{n}");
        Visitor::new(&sale.server.url, &name, "buyer").await;
        let body = json!({"email": format!("{name}@example.org"), "password": "correct horse"});
        let request = anybody.request(Method::POST, "/api/v1/sessions");
        let session = anybody.send(request.header("cookie", device).json(&body));
        let session = session.await.expect(201);
        suspect.token = session["token"].as_str().unwrap().to_owned();
    }
    suspect
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspect_holds_with_a_captcha_that_the_service_accepts_and_with_no_other() {
    let sale = sale(&[], json!({"mode": "off"})).await;
    let suspect = suspect(&sale).await;
    let hold = async |token: Option<&str>| -> Answer {
        let path = format!("/api/v1/shows/{}/holds", sale.show);
        let mut request = suspect.request(Method::POST, &path);
        request = request.header("idempotency-key", "h");
        if let Some(token) = token {
            request = request.header("onsale-captcha", token);
        }
        suspect
            .send(request.json(&json!({"seats": ["A-1-1"]})))
            .await
    };
    let asked = hold(None).await.problem(428, "work_required");
    let detail = asked["detail"].as_str().unwrap();
    assert!(detail.contains("Onsale-Captcha"), "{detail}");
    hold(Some("bad")).await.problem(428, "work_required");
    hold(Some("good")).await.expect(201);
    // The room asks for none unless it is told to.
    Waiting::join(&suspect, &sale.show).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_room_takes_a_captcha_where_it_is_told_to() {
    let room = json!({"mode": "queue_all", "capacity": 10, "rate_per_second": 10});
    let sale = sale(&["--room-captcha"], room).await;
    let ana = Visitor::anonymous(&sale.server.url);
    let altcha = solved(&ana, &sale.show).await;
    let path = format!("/room/{}/join", sale.show);
    for (body, status) in [
        (json!({"altcha": altcha}), 400),
        (json!({"altcha": altcha, "captcha": "bad"}), 400),
        (json!({"altcha": altcha, "captcha": "good"}), 201),
    ] {
        ana.post(&path, body).await.expect(status);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_that_cannot_work_are_named_at_the_start_without_the_secret() {
    let data = tempfile::tempdir().unwrap();
    for (args, url, expected) in [
        (["--room-captcha"].as_slice(), None, "CAPTCHA_SECRET"),
        (
            &[],
            Some("http://elsewhere.example/verify"),
            "must be https",
        ),
    ] {
        let mut command = command(data.path(), &["--empty", "--port", "0"]);
        command.args(args).env_remove("CAPTCHA_SECRET");
        if let Some(url) = url {
            command.env("CAPTCHA_SECRET", SECRET);
            command.env("CAPTCHA_VERIFY_URL", url);
        }
        let said = Server::from_command(command).await.err().unwrap();
        assert!(said.contains(expected) && !said.contains(SECRET), "{said}");
    }
}
