//! Rules that are seen best from outside.

#![allow(clippy::unwrap_used)]

mod events;
mod gate;
mod order;
mod sales;
