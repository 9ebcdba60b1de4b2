//! Tickets and their keys over HTTP.

#![allow(clippy::unwrap_used)]

mod keys;
mod scan;
