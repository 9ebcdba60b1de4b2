//! DynamoDB, SQS, EventBridge, SES and S3 in one process, so that production store code runs unchanged.
//!
//! The real AWS SDK clients talk to a [`LocalCloud`] through an HTTP client that never opens a
//! socket: table requests go to dynoxide (DynamoDB on SQLite), queue and bus requests to a small
//! durable implementation with SQS semantics, object requests to files. [`Wiring`] reads which function consumes which queue
//! and which runs on a schedule from the same `template.yaml` that deploys the platform, and
//! [`Runner`] invokes those functions as Lambda would. Nothing in this crate knows what Onsale sells.

mod bus;
mod clock;
mod cloud;
mod connector;
mod mailbox;
mod object_store;
mod presigned;
mod queue_store;
mod queues;
mod runner;
mod s3_protocol;
mod sqs_protocol;
mod store_thread;
mod table;
pub mod testing;
mod wiring;

pub use bus::{Bus, Field, Matcher, Rule};
pub use clock::{Clock, SystemClock};
pub use cloud::{CloudError, Durability, LocalCloud};
pub use mailbox::{Mailbox, MailboxError, SentMail};
pub use object_store::StoredObject;
pub use presigned::LinkError;
pub use queues::{
    Attributes, Message, Outgoing, QueueCounts, QueueError, QueueSettings, Queues, Redrive,
};
pub use runner::{Runner, RunnerError, ScheduleHandler, SqsHandler};
pub use wiring::{
    Consumer, Schedule, TableIndex, TableWiring, Wiring, WiringError, queue_arn, queue_url,
};
