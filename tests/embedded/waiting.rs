//! Somebody who waits: solves a challenge, joins, asks how things stand, enters.

use std::time::Duration;

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
            loop {
                let answer = self.enter().await;
                if answer.status == 200 {
                    return answer.body["pass"].as_str().unwrap().to_owned();
                }
                answer.problem(425, "not_admitted");
                tokio::time::sleep(Duration::from_millis(200)).await;
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
