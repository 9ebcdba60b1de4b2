//! Tickets and their keys over HTTP.

#![allow(clippy::unwrap_used)]

mod calendar;
mod keys;
mod scan;
