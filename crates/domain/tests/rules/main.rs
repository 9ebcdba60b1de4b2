//! Rules that are seen best from outside.

#![allow(clippy::unwrap_used)]

mod crowd;
mod events;
mod gate;
mod neighbours;
mod order;
mod sales;
