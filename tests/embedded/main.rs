//! Journeys on the embedded platform: the real binary, over HTTP, on a data folder.

#![allow(clippy::unwrap_used)]

mod accounts;
mod bad_input;
mod catalogue;
mod crash;
mod expiry;
mod owners;
mod race;
mod server;
mod start_up;
mod visitor;
