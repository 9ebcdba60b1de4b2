//! The use cases of Onsale over ports.
//!
//! A use case loads, asks the domain, and stores. It names no cloud, no web framework
//! and no clock: all of these come in through the ports. One file per use case.

pub mod account_deletion;
pub mod account_export;
pub mod accounts;
pub mod app;
pub mod audit;
pub mod availability;
pub mod cache;
pub mod checkout;
pub mod devices;
pub mod error;
pub mod events;
pub mod exports;
pub mod fans;
pub mod gate;
pub mod holds;
pub mod index_events;
pub mod log_in_links;
mod mailed_links;
pub mod notify;
pub mod password_change;
pub mod passwords;
pub mod ports;
pub mod posters;
pub mod pricing;
pub mod reconcile;
pub mod returns;
pub mod room;
pub mod sales;
pub mod show_cancellation;
pub mod shows;
mod sold_out;
pub mod staff;
pub mod tickets;
pub mod transfers;
pub mod unplugged;
mod update;
pub mod venues;
pub mod waitlist;

pub use app::{App, Caller, Ports};
pub use error::{Error, Result};
