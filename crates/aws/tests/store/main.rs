//! What every store promises, and what the DynamoDB store promises on top.
//!
//! `contract` runs against the memory store, against DynamoDB in this process, and,
//! when `ONSALE_MINISTACK_URL` is set, against MiniStack's. `lost_reply` and `cost` look
//! at the requests that the hold path makes.

#![allow(clippy::unwrap_used)]

mod contract;
mod cost;
mod lost_reply;
mod places;
