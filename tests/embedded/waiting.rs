//! Somebody who waits: solves a challenge, joins, asks how things stand, enters.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use onsale_domain::work::{Challenge, TRIES, payload};
use reqwest::Method;
use serde_json::{Value, json};

use crate::visitor::{Answer, Visitor};

#[derive(Clone)]
pub(crate) struct Waiting {
    pub(crate) visitor: Visitor,
    pub(crate) show: String,
    pub(crate) ticket: String,
}

/// How long a test waits for the room to do what it must.
const PATIENCE: Duration = Duration::from_secs(60);
/// Between two attempts to enter: short at first, then as long as a ticket has to wait that may
/// ask ten times in ten seconds.
const PAUSES: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];

/// A challenge of this room, solved.
pub(crate) async fn solved(visitor: &Visitor, show: &str) -> String {
    let challenge = visitor.get(&format!("/room/{show}/challenge")).await;
    let challenge = challenge.expect(200).to_string();
    tokio::task::spawn_blocking(move || {
        let challenge = Challenge::from_json(&challenge).unwrap();
        let solution = challenge.solve(0..TRIES).unwrap();
        payload(&challenge, &solution)
    })
    .await
    .unwrap()
}

/// The same solution as somebody else might write it: with the time it took or without, with
/// spaces, and with the parts in another order.
pub(crate) fn spelled(altcha: &str, n: usize) -> String {
    let text = BASE64_STANDARD.decode(altcha).unwrap();
    let mut solved: Value = serde_json::from_slice(&text).unwrap();
    if !n.is_multiple_of(3) {
        solved["solution"]["time"] = json!(n);
    }
    let text = match n % 4 {
        0 => solved.to_string(),
        1 => serde_json::to_string_pretty(&solved).unwrap(),
        2 => format!(
            r#"{{"solution":{},"challenge":{}}}"#,
            solved["solution"], solved["challenge"]
        ),
        _ => return altcha.to_owned(),
    };
    BASE64_STANDARD.encode(text)
}

impl Waiting {
    pub(crate) async fn join(visitor: &Visitor, show: &str) -> Self {
        let altcha = solved(visitor, show).await;
        Self::join_with(visitor, show, json!({"altcha": altcha})).await
    }

    pub(crate) async fn join_with(visitor: &Visitor, show: &str, body: Value) -> Self {
        let joined = visitor.post(&format!("/room/{show}/join"), body).await;
        let ticket = joined.expect(201)["ticket"].as_str().unwrap().to_owned();
        Self {
            visitor: visitor.clone(),
            show: show.to_owned(),
            ticket,
        }
    }

    pub(crate) async fn ask(&self, method: Method, action: &str) -> Answer {
        let path = format!("/room/{}/{action}", self.show);
        let request = self.visitor.request(method, &path);
        let request = request.header("onsale-ticket", &self.ticket);
        self.visitor.send(request).await
    }

    pub(crate) async fn status(&self) -> Value {
        self.ask(Method::GET, "status").await.expect(200)
    }

    pub(crate) async fn enter(&self) -> Answer {
        self.ask(Method::POST, "enter").await
    }

    pub(crate) async fn leave(&self) -> Answer {
        self.ask(Method::POST, "leave").await
    }

    /// Waits until the room says so.
    pub(crate) async fn until(&self, state: &str) -> Value {
        let waited = async {
            loop {
                let status = self.status().await;
                if status["state"] == state {
                    return status;
                }
                tokio::time::sleep(Duration::from_millis(200)).await;
            }
        };
        match tokio::time::timeout(PATIENCE, waited).await {
            Ok(status) => status,
            Err(_) => panic!("never {state}: {}", self.status().await),
        }
    }

    /// Waits for the turn and takes it.
    pub(crate) async fn pass(&self) -> String {
        let waited = async {
            let mut pause = PAUSES[0];
            loop {
                let answer = self.enter().await;
                if answer.status == 200 {
                    return answer.body["pass"].as_str().unwrap().to_owned();
                }
                answer.problem(425, "not_admitted");
                tokio::time::sleep(pause).await;
                pause = PAUSES[1].min(pause.mul_f64(1.2));
            }
        };
        tokio::time::timeout(PATIENCE, waited).await.unwrap()
    }
}

impl Visitor {
    /// A hold with a pass.
    pub(crate) async fn hold_with(&self, pass: &str, show: &str, key: &str, body: Value) -> Answer {
        let path = format!("/api/v1/shows/{show}/holds");
        let request = self
            .request(Method::POST, &path)
            .header("idempotency-key", key)
            .header("onsale-pass", pass)
            .json(&body);
        self.send(request).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        self.send(self.request(Method::PUT, path).json(&body)).await
    }
}
