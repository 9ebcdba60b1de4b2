//! The queues of `expire-holds`, `drive-saga`, `notify`, `write-exports` and `offer-waitlist` on SQS.

use std::collections::HashMap;

use async_trait::async_trait;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_sqs::types::MessageAttributeValue;
use onsale_app::ports::{
    Drive, ExpireHold, ExpiryQueue, ExportQueue, Notify, NotifyQueue, OfferPlaces, SagaQueue,
    StoreError, Stored, WaitlistQueue, WriteExport,
};
use onsale_observe::{Cause, cause};
use serde::Serialize;

#[derive(Debug, Clone)]
struct Queue {
    client: Client,
    url: String,
}

impl Queue {
    async fn send(&self, message: &impl Serialize, delay_s: u32) -> Stored<()> {
        let body =
            serde_json::to_string(message).map_err(|e| StoreError::Corrupt(e.to_string()))?;
        let send = self
            .client
            .send_message()
            .queue_url(&self.url)
            .message_body(body)
            .set_message_attributes(attributes()?);
        let sent = send
            .delay_seconds(i32::try_from(delay_s).unwrap_or(900))
            .send()
            .await;
        sent.map(|_| ()).map_err(|error| {
            let code = match &error {
                SdkError::ServiceError(service) => service.err().code().unwrap_or("error"),
                _ => "no answer",
            };
            StoreError::Unavailable(format!("queue: {code}"))
        })
    }
}

/// What caused a message goes beside it and not in it: its body stays what it is, for
/// those that know nothing of causes.
fn attributes() -> Stored<Option<HashMap<String, MessageAttributeValue>>> {
    let Some(cause) = Cause::current() else {
        return Ok(None);
    };
    let mut attributes = HashMap::from([text(cause::REQUEST_ID, cause.request_id())?]);
    if let Some(place) = cause.trace() {
        attributes.extend([text(cause::TRACEPARENT, &place.to_string())?]);
    }
    Ok(Some(attributes))
}

fn text(name: &str, value: &str) -> Stored<(String, MessageAttributeValue)> {
    let value = MessageAttributeValue::builder()
        .data_type("String")
        .string_value(value)
        .build()
        .map_err(|error| StoreError::Corrupt(error.to_string()))?;
    Ok((name.to_owned(), value))
}

#[derive(Debug, Clone)]
pub struct SqsExpiryQueue(Queue);

impl SqsExpiryQueue {
    pub fn new(client: Client, url: impl Into<String>) -> Self {
        let url = url.into();
        Self(Queue { client, url })
    }
}

#[async_trait]
impl ExpiryQueue for SqsExpiryQueue {
    async fn send(&self, message: &ExpireHold, delay_s: u32) -> Stored<()> {
        self.0.send(message, delay_s).await
    }
}

#[derive(Debug, Clone)]
pub struct SqsSagaQueue(Queue);

impl SqsSagaQueue {
    pub fn new(client: Client, url: impl Into<String>) -> Self {
        let url = url.into();
        Self(Queue { client, url })
    }
}

#[async_trait]
impl SagaQueue for SqsSagaQueue {
    async fn send_drive(&self, message: &Drive, delay_s: u32) -> Stored<()> {
        self.0.send(message, delay_s).await
    }
}

#[derive(Debug, Clone)]
pub struct SqsNotifyQueue(Queue);

impl SqsNotifyQueue {
    pub fn new(client: Client, url: impl Into<String>) -> Self {
        let url = url.into();
        Self(Queue { client, url })
    }
}

#[async_trait]
impl NotifyQueue for SqsNotifyQueue {
    async fn send_notify(&self, message: &Notify, delay_s: u32) -> Stored<()> {
        self.0.send(message, delay_s).await
    }
}

#[derive(Debug, Clone)]
pub struct SqsExportQueue(Queue);

impl SqsExportQueue {
    pub fn new(client: Client, url: impl Into<String>) -> Self {
        let url = url.into();
        Self(Queue { client, url })
    }
}

#[async_trait]
impl ExportQueue for SqsExportQueue {
    async fn send_export(&self, message: &WriteExport) -> Stored<()> {
        self.0.send(message, 0).await
    }
}

#[derive(Debug, Clone)]
pub struct SqsWaitlistQueue(Queue);

impl SqsWaitlistQueue {
    pub fn new(client: Client, url: impl Into<String>) -> Self {
        let url = url.into();
        Self(Queue { client, url })
    }
}

#[async_trait]
impl WaitlistQueue for SqsWaitlistQueue {
    async fn send_offer_places(&self, message: &OfferPlaces, delay_s: u32) -> Stored<()> {
        self.0.send(message, delay_s).await
    }
}
