//! Journeys on the embedded platform: the real binary, over HTTP, on a data folder.

#![allow(clippy::unwrap_used)]

mod accounts;
mod bad_input;
mod catalogue;
mod checkout;
mod command_line;
mod crash;
mod expiry;
mod feed;
mod many_checkouts;
mod operator;
mod orders;
mod owners;
mod paying_crash;
mod qr;
mod race;
mod refunds;
mod room;
mod room_crowd;
mod sale;
mod scanning;
mod server;
mod show_cancellation;
mod start_up;
mod stripe;
mod visitor;
mod waiting;
mod waitlist;
mod webhooks;
