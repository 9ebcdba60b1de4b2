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
pub mod site;
pub mod watching;

mod catalogue;
#[cfg(target_arch = "wasm32")]
mod cloudflare;
mod counting;
mod internal;
mod legal;
mod local_time;
mod pages;
mod plain;
mod refusal_page;
mod rendered;
mod room;
mod room_view;
mod shell;
mod switch_language;
mod web;
mod words;

pub use edge::{Edge, EdgeLimits, FeedKind, FeedRequest, MAX_BODY, Reply};
pub use host::{Host, Links, MaybeSend, MaybeSync, Objects, Storage, Told, Trouble};
pub use secrets::Secrets;
pub use site::Site;
