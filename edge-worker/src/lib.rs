//! The edge of Onsale: the waiting room, the live map, and the way to the functions.
//!
//! Everything here is the same wherever it runs. [`host`] names what it needs; the worker
//! brings that at Cloudflare, and `onsale serve` in one process. The rules are in
//! `onsale-domain`: this crate reads requests, asks the rules, and keeps what they decide.

pub mod answer;
pub mod edge;
pub mod forward;
pub mod host;
pub mod objects;
pub mod secrets;
pub mod watching;
pub mod web;

#[cfg(target_arch = "wasm32")]
mod cloudflare;
mod counting;
mod internal;
mod pages;
mod room;
mod room_view;

pub use edge::{Edge, EdgeLimits, FeedKind, FeedRequest, MAX_BODY, Reply};
pub use host::{Host, Links, MaybeSend, MaybeSync, Storage, Told, Trouble};
pub use secrets::Secrets;
