//! What buyers, organisers and the platform itself do, on the store in memory.

#![allow(clippy::unwrap_used)]

mod accounts;
mod catalogue;
mod checkout;
mod exports;
mod fans;
mod holds;
mod notify;
mod waitlist;
