//! DynamoDB through the SDK against the tables of one process: `outcomes` compares what they
//! answer, `capacity` what they charge.

#![allow(clippy::unwrap_used)]

mod capacity;
#[path = "../cloud/mod.rs"]
mod cloud;
mod metered;
mod outcomes;
