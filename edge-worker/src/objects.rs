//! The few places with a memory: one [`controller`] per show, eight [`gate`]s, eight
//! [`counter`]s, eight for [`reminders`] and a [`feed`]. Each is a Durable Object at Cloudflare and a value in
//! memory, beside a file, in one process.
//!
//! An object stores what it decided before anybody hears of it. When storing fails
//! nobody knows what is on disk, so it forgets what it has in memory and loads again.

pub mod controller;
pub mod counter;
pub mod feed;
mod format;
pub mod gate;
pub mod reminders;
pub mod wire;
