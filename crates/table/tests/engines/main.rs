//! The promises of `Table`, each written once and checked on every engine, and the extras of the
//! engine in memory.

#![allow(clippy::unwrap_used)]

mod conditions;
#[cfg(feature = "differential")]
mod differential;
mod engine;
mod faults;
mod indexes;
mod lag;
mod limits;
mod lists;
mod messages;
mod meter;
mod order;
mod transactions;
mod writes;
