//! The waiting room as a whole, simulated: crowds of up to a million, and a network that
//! loses, repeats, delays and reorders.

#![allow(clippy::unwrap_used)]

mod chance;
mod crowd;
mod room_cap;
mod room_crowd;
mod room_live;
mod room_small;
mod room_wait;
