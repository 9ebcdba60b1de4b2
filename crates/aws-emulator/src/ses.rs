//! `SendEmail` of SES, as whole messages to one address.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use onsale_local_cloud::{Mailbox, MailboxError};
use serde::Deserialize;
use serde_json::json;

use crate::connector::Reply;

/// The path under which SES takes messages.
pub(crate) const SEND_PATH: &str = "/v2/email/outbound-emails";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct SendEmail {
    from_email_address: String,
    destination: Destination,
    content: Content,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Destination {
    to_addresses: [String; 1],
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Content {
    raw: Raw,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Raw {
    data: String,
}

pub(crate) async fn answer(mailbox: &Mailbox, body: &[u8]) -> Reply {
    let refused = |reason: &str| Reply::error(400, "BadRequestException", reason);
    let request: SendEmail = match serde_json::from_slice(body) {
        Ok(request) => request,
        Err(error) => return refused(&error.to_string()),
    };
    let raw = match BASE64_STANDARD.decode(request.content.raw.data) {
        Ok(raw) => raw,
        Err(error) => return refused(&error.to_string()),
    };
    let [to] = &request.destination.to_addresses;
    match mailbox.keep(&request.from_email_address, to, raw).await {
        Ok(id) => Reply::ok(json!({ "MessageId": id }).to_string()),
        Err(MailboxError::Refused(reason)) => refused(reason),
        Err(error) => Reply::error(500, "InternalFailure", &error.to_string()),
    }
}
