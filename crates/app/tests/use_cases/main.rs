//! What buyers, organisers and the platform itself do, on the store in memory.

#![allow(clippy::unwrap_used)]
#![allow(
    clippy::disallowed_methods,
    reason = "tests start tasks, which use cases never do"
)]

mod accounts;
mod catalogue;
mod checkout;
mod exports;
mod fans;
mod holds;
mod notify;
mod waitlist;
