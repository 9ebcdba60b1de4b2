//! The queue of `expire-holds` on SQS.

use async_trait::async_trait;
use aws_sdk_sqs::Client;
use aws_sdk_sqs::error::{ProvideErrorMetadata, SdkError};
use onsale_app::ports::{ExpireHold, ExpiryQueue, StoreError, Stored};

#[derive(Debug, Clone)]
pub struct SqsExpiryQueue {
    client: Client,
    url: String,
}

impl SqsExpiryQueue {
    pub fn new(client: Client, url: impl Into<String>) -> Self {
        Self {
            client,
            url: url.into(),
        }
    }
}

#[async_trait]
impl ExpiryQueue for SqsExpiryQueue {
    async fn send(&self, message: &ExpireHold, delay_s: u32) -> Stored<()> {
        let body =
            serde_json::to_string(message).map_err(|e| StoreError::Corrupt(e.to_string()))?;
        let send = self
            .client
            .send_message()
            .queue_url(&self.url)
            .message_body(body);
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
