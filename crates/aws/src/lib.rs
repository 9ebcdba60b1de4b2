//! The ports on DynamoDB, SQS, EventBridge, SES and S3.
//!
//! All key strings live in `keys`, all conditions in `conditions`, each with a sentence
//! that says when it holds. No other crate knows how anything is stored.

mod accounts;
mod attributes;
mod audit;
mod blocks;
mod bus;
mod buyers;
mod cancellations;
mod catalogue;
pub mod conditions;
mod deletions;
mod devices;
mod documents;
mod errors;
mod exports;
mod fans;
mod gates;
mod host;
mod index_work;
pub mod keys;
mod lists;
mod mailings;
mod mails;
mod maps;
mod objects;
mod orders;
mod passes;
mod pause;
mod prices;
mod queue;
mod resets;
mod returns;
mod sales;
mod sandbox;
mod ses;
mod sessions;
mod signed;
mod staff;
mod table;
mod tickets;
mod transfers;
mod waitlists;

pub use bus::EventBridgeBus;
pub use host::{AwsConfig, OsEntropy, SystemClock, Wires, app_from_env, ports_from_env};
pub use objects::S3Objects;
pub use queue::{SqsExpiryQueue, SqsExportQueue, SqsNotifyQueue, SqsSagaQueue, SqsWaitlistQueue};
pub use ses::SesMailer;
pub use table::DynamoStore;
