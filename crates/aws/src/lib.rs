//! The ports on DynamoDB, SQS and EventBridge.
//!
//! All key strings live in `keys`, all conditions in `conditions`, each with a sentence
//! that says when it holds. No other crate knows how anything is stored.

mod accounts;
mod attributes;
mod blocks;
mod buyers;
mod catalogue;
pub mod conditions;
mod errors;
mod host;
pub mod keys;
mod maps;
mod queue;
mod table;

pub use host::{AwsConfig, OsEntropy, SystemClock, app_from_env};
pub use queue::SqsExpiryQueue;
pub use table::DynamoStore;
