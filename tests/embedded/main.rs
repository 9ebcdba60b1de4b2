//! Journeys on the embedded platform: the real binary, over HTTP, on a data folder.

#![allow(clippy::unwrap_used)]

mod account_ends;
mod accounts;
mod bad_input;
mod captcha;
mod catalogue;
mod checkout;
mod command_line;
mod crash;
mod expiry;
mod feed;
mod gates;
mod mails;
mod many_checkouts;
mod observing;
mod operator;
mod orders;
mod owners;
mod pages;
mod paying_crash;
mod pricing;
mod qr;
mod race;
mod refunds;
mod reminders;
mod returns;
mod room;
mod room_crowd;
mod room_small;
mod sale;
mod sales;
mod scanning;
mod search;
mod server;
mod show_cancellation;
mod staff;
mod start_up;
mod stripe;
mod transfers;
mod visitor;
mod waiting;
mod waitlist;
mod webhooks;
