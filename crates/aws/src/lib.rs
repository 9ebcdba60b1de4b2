//! The ports on DynamoDB, SQS and EventBridge.
//!
//! All key strings live in `keys`, all conditions in `conditions`, each with a sentence
//! that says when it holds. No other crate knows how anything is stored.

mod accounts;
mod attributes;
mod blocks;
mod bus;
mod buyers;
mod cancellations;
mod catalogue;
pub mod conditions;
mod devices;
mod documents;
mod errors;
mod fans;
mod host;
pub mod keys;
mod lists;
mod maps;
mod orders;
mod passes;
mod pause;
mod queue;
mod sandbox;
mod table;
mod tickets;
mod waitlists;

pub use bus::EventBridgeBus;
pub use host::{AwsConfig, OsEntropy, SystemClock, Wires, app_from_env, ports_from_env};
pub use queue::{SqsExpiryQueue, SqsSagaQueue, SqsWaitlistQueue};
pub use table::DynamoStore;
