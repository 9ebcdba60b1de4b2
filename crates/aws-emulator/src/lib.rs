//! DynamoDB, SQS, EventBridge, SES and S3 in one process, for tests of what speaks to AWS.
//!
//! The real SDK clients talk to an [`Emulator`] through an HTTP client that never opens a
//! socket: table requests go to dynoxide (DynamoDB on SQLite), all others to the queues, the
//! bus, the mailbox and the objects of a local cloud. Only ever a dev-dependency: the embedded
//! platform uses the local cloud itself.

mod connector;
mod create_table;
mod dynamodb;
mod emulator;
mod events;
mod presigned;
mod s3;
mod ses;
mod sqs;
mod store_thread;
pub mod testing;

pub use emulator::{Emulator, EmulatorError};
pub use onsale_local_cloud::{TableIndex, TableWiring, Wiring, WiringError};
pub use presigned::LinkError;
pub use sqs::queue_url;
