//! What Stripe tells us unasked. A webhook only wakes: it is believed to come from
//! Stripe when its signature holds, and even then it says where to look, not what to do.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use onsale_domain::ids::OrderId;
use onsale_domain::payment::PaymentId;
use onsale_domain::time::Millis;
use serde::Deserialize;
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq};

use super::dispute::is_inquiry;

/// How old, or how far ahead of our clock, a signature may be: a recorded webhook is of
/// no use later.
const TOLERANCE_MS: u64 = 5 * 60 * 1000;
/// Stripe sends one signature per active secret, and two while one is rotated.
const MAX_SIGNATURES: usize = 8;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookEvent {
    pub id: String,
    pub kind: WebhookKind,
    pub payment: Option<PaymentId>,
    /// The order that the object carries in its metadata.
    pub order: Option<OrderId>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebhookKind {
    /// Something moved on a payment: look at its order.
    Wake,
    /// The buyer disputes the charge at the bank, which has taken the money back.
    Dispute,
    /// The bank asks about the charge. No money has moved, and it may never do so.
    Inquiry,
    /// Something became of a refund: the bank may have sent it back.
    Refund,
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WebhookError {
    #[error("no webhook secret is configured")]
    NoSecret,
    #[error("the signature header is not of the form t=…,v1=…")]
    MalformedHeader,
    #[error("no signature of the webhook is right")]
    WrongSignature,
    #[error("the webhook was signed too long ago, or in the future")]
    OutsideTolerance,
    /// Signed, but not an event. The signer is trusted, and yet the text stays out.
    #[error("the webhook is signed but is not an event")]
    NotAnEvent,
}

/// The secrets under which webhooks may be signed: the one in use, and while it is
/// rotated the one before or after it.
#[derive(Clone, Default)]
pub struct WebhookSecrets(Vec<String>);

impl fmt::Debug for WebhookSecrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WebhookSecrets({} secrets)", self.0.len())
    }
}

impl WebhookSecrets {
    pub fn from_env() -> Self {
        Self::configured(|name| std::env::var(name).ok())
    }

    pub(crate) fn configured(setting: impl Fn(&str) -> Option<String>) -> Self {
        let list = setting("STRIPE_WEBHOOK_SECRETS").unwrap_or_default();
        let secrets = list.split(',').map(str::trim).filter(|s| !s.is_empty());
        Self(secrets.map(str::to_owned).collect())
    }

    pub fn verify(
        &self,
        payload: &[u8],
        header: &str,
        now: Millis,
    ) -> Result<WebhookEvent, WebhookError> {
        let secrets: Vec<&str> = self.0.iter().map(String::as_str).collect();
        verify(payload, header, &secrets, now)
    }
}

/// Reads an event whose `Stripe-Signature` header proves it under one of the secrets.
/// Without a secret every webhook is refused.
pub fn verify(
    payload: &[u8],
    header: &str,
    secrets: &[&str],
    now: Millis,
) -> Result<WebhookEvent, WebhookError> {
    // An empty key would let anybody sign.
    let secrets = || secrets.iter().filter(|secret| !secret.is_empty());
    if secrets().next().is_none() {
        return Err(WebhookError::NoSecret);
    }
    let header = SignatureHeader::parse(header).ok_or(WebhookError::MalformedHeader)?;
    let mut right = Choice::from(0);
    for secret in secrets() {
        let expected = signature(secret, header.time_text, payload)?;
        for given in &header.signatures {
            right |= expected.as_slice().ct_eq(given);
        }
    }
    if !bool::from(right) {
        return Err(WebhookError::WrongSignature);
    }
    if header.signed.until(now).max(now.until(header.signed)) > TOLERANCE_MS {
        return Err(WebhookError::OutsideTolerance);
    }
    event(payload).ok_or(WebhookError::NotAnEvent)
}

fn signature(secret: &str, time: &str, payload: &[u8]) -> Result<[u8; 32], WebhookError> {
    // HMAC takes keys of any length; the error exists for other algorithms.
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes())
        .map_err(|_| WebhookError::WrongSignature)?;
    mac.update(time.as_bytes());
    mac.update(b".");
    mac.update(payload);
    Ok(mac.finalize().into_bytes().into())
}

struct SignatureHeader<'a> {
    /// As it was signed, digit by digit.
    time_text: &'a str,
    signed: Millis,
    signatures: Vec<[u8; 32]>,
}

impl<'a> SignatureHeader<'a> {
    /// Schemes other than `v1` are skipped, as Stripe asks: `v0` is for tests.
    fn parse(header: &'a str) -> Option<Self> {
        let mut time_text = None;
        let mut signatures = Vec::new();
        for part in header.split(',') {
            let (name, value) = part.trim().split_once('=')?;
            match name {
                "t" if time_text.is_some() => return None,
                "t" => time_text = Some(value),
                "v1" if signatures.len() == MAX_SIGNATURES => return None,
                "v1" => {
                    let mut bytes = [0u8; 32];
                    hex::decode_to_slice(value, &mut bytes).ok()?;
                    signatures.push(bytes);
                }
                _ => {}
            }
        }
        let time_text = time_text?;
        let digits = (1..=12).contains(&time_text.len())
            && time_text.bytes().all(|byte| byte.is_ascii_digit());
        let seconds: u64 = digits.then(|| time_text.parse().ok())??;
        (!signatures.is_empty()).then_some(Self {
            time_text,
            signed: Millis(seconds * 1000),
            signatures,
        })
    }
}

#[derive(Deserialize)]
struct Envelope {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    data: Data,
}

#[derive(Deserialize)]
struct Data {
    object: serde_json::Map<String, serde_json::Value>,
}

fn event(payload: &[u8]) -> Option<WebhookEvent> {
    let envelope: Envelope = serde_json::from_slice(payload).ok()?;
    let object = envelope.data.object;
    let text = |name: &str| object.get(name).and_then(|value| value.as_str());
    let payment = if text("object") == Some("payment_intent") {
        text("id")
    } else {
        // An expanded reference is the object itself.
        text("payment_intent").or_else(|| object.get("payment_intent")?.get("id")?.as_str())
    };
    let order = object
        .get("metadata")
        .and_then(|metadata| metadata.get("order_id")?.as_str()?.parse().ok());
    Some(WebhookEvent {
        id: envelope.id,
        kind: kind(&envelope.kind, text("status")),
        payment: payment.map(|id| PaymentId(id.to_owned())),
        order,
    })
}

fn kind(name: &str, status: Option<&str>) -> WebhookKind {
    match name {
        "charge.dispute.created" if status.is_some_and(is_inquiry) => WebhookKind::Inquiry,
        // An inquiry that becomes a charge-back does so by the second: the first came before.
        "charge.dispute.created" | "charge.dispute.funds_withdrawn" => WebhookKind::Dispute,
        "charge.refunded" => WebhookKind::Wake,
        "refund.failed" | "refund.updated" | "charge.refund.updated" => WebhookKind::Refund,
        _ if name.starts_with("payment_intent.") => WebhookKind::Wake,
        _ => WebhookKind::Other,
    }
}

#[cfg(test)]
#[path = "webhook_tests.rs"]
mod tests;
