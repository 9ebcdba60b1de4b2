//! The local cloud as its users see it: through the real SDK clients, and through its runner.
#![allow(clippy::unwrap_used)]

mod bus;
mod clients;
mod faults;
mod mailbox;
mod queues;
mod runner;
mod schedules;
mod table;
mod wiring;
