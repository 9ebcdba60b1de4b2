//! The queues of the application's work, by the names that the template gives them.

use async_trait::async_trait;
use onsale_app::ports::{
    Drive, ExpireHold, ExpiryQueue, ExportQueue, Notify, NotifyQueue, OfferPlaces, SagaQueue,
    StoreError, Stored, WaitlistQueue, WriteExport,
};
use onsale_observe::{Cause, cause};
use serde::Serialize;

use crate::queues::{Attributes, Outgoing, QueueError, Queues};

const EXPIRE_HOLDS: &str = "ExpireHoldsQueue";
const SAGA: &str = "SagaQueue";
const NOTIFY: &str = "NotifyQueue";
const EXPORTS: &str = "ExportsQueue";
const OFFER_WAITLIST: &str = "OfferWaitlistQueue";

/// All five queue ports of the application.
#[derive(Debug, Clone)]
pub struct WorkQueues {
    queues: Queues,
}

impl WorkQueues {
    /// Refuses queues of which one that the application needs was not declared.
    pub fn new(queues: Queues) -> Result<Self, QueueError> {
        for name in [EXPIRE_HOLDS, SAGA, NOTIFY, EXPORTS, OFFER_WAITLIST] {
            queues.check_declared(name)?;
        }
        Ok(Self { queues })
    }

    async fn put(&self, queue: &str, message: &impl Serialize, delay_s: u32) -> Stored<()> {
        let body =
            serde_json::to_string(message).map_err(|e| StoreError::Corrupt(e.to_string()))?;
        let message = Outgoing {
            queue: queue.to_owned(),
            body,
            delay_s: Some(delay_s),
            attributes: cause_attributes(),
        };
        self.queues.send(vec![message]).await?;
        Ok(())
    }
}

/// What caused a message goes beside it and not in it: its body stays what it is, for
/// those that know nothing of causes.
fn cause_attributes() -> Attributes {
    let Some(cause) = Cause::current() else {
        return Attributes::new();
    };
    let trace = cause
        .trace()
        .map(|trace| (cause::TRACEPARENT, trace.to_string()));
    let request = (cause::REQUEST_ID, cause.request_id().to_owned());
    let told = trace.into_iter().chain([request]);
    told.map(|(name, value)| (name.to_owned(), value)).collect()
}

impl From<QueueError> for StoreError {
    fn from(error: QueueError) -> Self {
        match error {
            QueueError::Storage(why) => Self::Unavailable(format!("queue: {why}")),
            refused => Self::Corrupt(format!("queue: {refused}")),
        }
    }
}

#[async_trait]
impl ExpiryQueue for WorkQueues {
    async fn send(&self, message: &ExpireHold, delay_s: u32) -> Stored<()> {
        self.put(EXPIRE_HOLDS, message, delay_s).await
    }
}

#[async_trait]
impl SagaQueue for WorkQueues {
    async fn send_drive(&self, message: &Drive, delay_s: u32) -> Stored<()> {
        self.put(SAGA, message, delay_s).await
    }
}

#[async_trait]
impl NotifyQueue for WorkQueues {
    async fn send_notify(&self, message: &Notify, delay_s: u32) -> Stored<()> {
        self.put(NOTIFY, message, delay_s).await
    }
}

#[async_trait]
impl ExportQueue for WorkQueues {
    async fn send_export(&self, message: &WriteExport) -> Stored<()> {
        self.put(EXPORTS, message, 0).await
    }
}

#[async_trait]
impl WaitlistQueue for WorkQueues {
    async fn send_offer_places(&self, message: &OfferPlaces, delay_s: u32) -> Stored<()> {
        self.put(OFFER_WAITLIST, message, delay_s).await
    }
}
