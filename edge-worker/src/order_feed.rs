//! The status of an order as it changes, asked for on behalf of whoever watches.

use http::header::{AUTHORIZATION, COOKIE, HOST};
use http::{HeaderMap, Request, StatusCode};
use onsale_domain::ids::OrderId;
use onsale_domain::time::Millis;
use serde_json::Value;

use crate::answer::{Answer, Problem};
use crate::host::Host;

pub const ASK_MS: u64 = 1_000;
/// Nobody watches one order for longer; a browser connects again by itself.
const LONGEST_MS: u64 = 600_000;
const TIMEOUT_MS: u64 = 10_000;
const ENDS: &[&str] = &["confirmed", "declined", "cancelled", "refunded", "failed"];

#[derive(Debug)]
pub struct OrderWatch {
    order: OrderId,
    who: HeaderMap,
    began: Millis,
    last: Option<String>,
    over: bool,
}

impl OrderWatch {
    pub fn new(order: OrderId, headers: &HeaderMap, now: Millis) -> Self {
        let mut who = HeaderMap::new();
        for name in [AUTHORIZATION, COOKIE, HOST] {
            if let Some(value) = headers.get(&name) {
                who.insert(name, value.clone());
            }
        }
        Self {
            order,
            who,
            began: now,
            last: None,
            over: false,
        }
    }

    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Asks once. A text is an event to send; an answer ends the watch, and is what the
    /// client gets if nothing was sent before.
    pub async fn ask<H: Host>(&mut self, host: &H) -> Result<Option<String>, Answer> {
        if host.now() - self.began > LONGEST_MS {
            self.over = true;
            return Ok(None);
        }
        let mut request = Request::new(Vec::new());
        *request.headers_mut() = self.who.clone();
        let path = format!("/api/v1/orders/{}", self.order);
        *request.uri_mut() = path.parse().map_err(|_| Problem::unavailable().answer())?;
        let answer = match host.function("checkout", request, TIMEOUT_MS).await {
            Ok(answer) => answer,
            Err(trouble) if self.last.is_none() => {
                host.log(&format!("an order cannot be watched: {trouble}"));
                return Err(Problem::unavailable().answer());
            }
            // Somebody who saw a status already waits for the next one.
            Err(_) => return Ok(None),
        };
        if answer.status() != StatusCode::OK {
            return Err(answer);
        }
        let order: Value = serde_json::from_slice(answer.body()).unwrap_or_default();
        let status = order["status"].as_str().unwrap_or_default();
        self.over = ENDS.contains(&status);
        if self.last.as_deref() == Some(status) {
            return Ok(None);
        }
        self.last = Some(status.to_owned());
        let event = serde_json::json!({"order_id": self.order, "status": status});
        Ok(Some(format!("event: status\ndata: {event}\n\n")))
    }
}
