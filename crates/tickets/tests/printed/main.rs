//! Tickets as they are printed.

#![allow(clippy::unwrap_used)]

mod document;
mod picture;
mod sample;
mod scanned;
