//! Journeys on any platform: the one that `ONSALE_URL` names (`scripts/smoke`, `scripts/cloud`), or
//! else the embedded one. They know nothing of it but its address, and make their own accounts.

#![allow(clippy::unwrap_used)]

#[allow(dead_code)]
#[path = "../embedded/orders.rs"]
mod orders;
#[allow(dead_code)]
#[path = "../embedded/owners.rs"]
mod owners;
#[allow(dead_code)]
#[path = "../embedded/server.rs"]
mod server;
#[allow(dead_code)]
#[path = "../embedded/visitor.rs"]
mod visitor;
#[allow(dead_code)]
#[path = "../embedded/waiting.rs"]
mod waiting;

mod buying;
mod changing;
mod emulated;
mod owning;
mod place;
mod running;
mod teardown;
