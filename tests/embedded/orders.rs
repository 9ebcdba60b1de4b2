//! Somebody who pays, and what becomes of it.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::{Value, json};

use crate::visitor::{Answer, Visitor};

/// How long something that should happen within seconds may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(40);
/// Between two questions: short at first, then longer, since an account may ask a hundred times a
/// minute and an emulated cloud answers slowly.
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(1)];
/// An order leaves these only when somebody asks for it, and then at once.
const FINAL: [&str; 6] = [
    "confirmed",
    "declined",
    "cancelled",
    "refunded",
    "failed",
    "stuck",
];

/// Asks again and again until there is an answer.
pub(crate) async fn until<T>(what: &str, ask: impl AsyncFn() -> Option<T>) -> T {
    let began = Instant::now();
    let mut pause = PAUSES[0];
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(began.elapsed() < PATIENCE, "still waiting: {what}");
        tokio::time::sleep(pause).await;
        pause = PAUSES[1].min(pause.mul_f64(1.2));
    }
}

/// A hold and its order share the digits of their ids.
pub(crate) fn order_of(hold: &str) -> String {
    format!("ord_{}", hold.strip_prefix("hld_").unwrap())
}

pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap()
}

impl Visitor {
    pub(crate) async fn try_check_out(
        &self,
        show: &str,
        hold: &str,
        key: &str,
        method: &str,
    ) -> reqwest::Result<Answer> {
        let path = format!("/api/v1/shows/{show}/holds/{hold}/checkout");
        let request = self
            .request(Method::POST, &path)
            .header("idempotency-key", key)
            .json(&json!({"payment_method": method}));
        self.try_send(request).await
    }

    pub(crate) async fn check_out(
        &self,
        show: &str,
        hold: &str,
        key: &str,
        method: &str,
    ) -> Answer {
        self.try_check_out(show, hold, key, method).await.unwrap()
    }

    /// Holds these seats; the id of the hold.
    pub(crate) async fn holds(&self, show: &str, seats: &[&str]) -> String {
        let body = json!({"seats": seats});
        let held = self.hold(show, &seats.join(" "), body).await.expect(201);
        text(&held, "hold_id").to_owned()
    }

    pub(crate) async fn read_hold(&self, show: &str, hold: &str) -> Value {
        let path = format!("/api/v1/shows/{show}/holds/{hold}");
        self.get(&path).await.expect(200)
    }

    pub(crate) async fn read_order(&self, order: &str) -> Value {
        self.get(&format!("/api/v1/orders/{order}"))
            .await
            .expect(200)
    }

    /// The order once it has this status.
    pub(crate) async fn order_becomes(&self, order: &str, status: &str) -> Value {
        until(&format!("{order} becomes {status}"), async || {
            let read = self.read_order(order).await;
            let now = text(&read, "status");
            assert!(
                now == status || !FINAL.contains(&now),
                "wanted {status}: {read}"
            );
            (now == status).then_some(read)
        })
        .await
    }

    /// Pays for a hold; the confirmed order.
    pub(crate) async fn pays(&self, show: &str, hold: &str) -> Value {
        let begun = self.check_out(show, hold, "pay", "pm_card_visa").await;
        let begun = begun.expect(202);
        self.order_becomes(text(&begun, "order_id"), "confirmed")
            .await
    }

    /// Holds and pays; the confirmed order.
    pub(crate) async fn buys(&self, show: &str, seats: &[&str]) -> Value {
        let hold = self.holds(show, seats).await;
        self.pays(show, &hold).await
    }

    pub(crate) async fn tickets(&self, order: &str) -> Vec<Value> {
        let path = format!("/api/v1/orders/{order}/tickets");
        let listed = self.get(&path).await.expect(200);
        listed["items"].as_array().unwrap().clone()
    }

    pub(crate) async fn cancel(&self, order: &str, key: &str) -> Answer {
        let path = format!("/api/v1/orders/{order}/cancel");
        let request = self.request(Method::POST, &path);
        self.send(request.header("idempotency-key", key)).await
    }

    pub(crate) async fn scan(&self, show: &str, code: &str) -> Answer {
        let path = format!("/api/v1/shows/{show}/scans");
        self.post(&path, json!({"code": code, "gate": "north"}))
            .await
    }
}
