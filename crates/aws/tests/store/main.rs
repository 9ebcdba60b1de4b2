//! What every store promises, and what the DynamoDB store promises on top.
//!
//! `contract` runs against the memory store, against DynamoDB in this process, and,
//! when `ONSALE_MINISTACK_URL` is set, against MiniStack's. `lost_reply` and `cost` look
//! at the requests that the hold path makes, `lost_write`, `order_cost` and `mail_cost`
//! at those of an order and its mail, `unreadable` at what is spoilt. `messages` looks
//! at the queue and the bus, `map_rebuild`, `cap_race` and `crowd` at what happens when
//! many ask at once.

#![allow(clippy::unwrap_used)]

mod cap_race;
mod contract;
mod cost;
mod crowd;
mod lost_reply;
mod lost_write;
mod mail_cost;
mod map_rebuild;
mod messages;
mod ministack_order;
mod network;
mod objects;
mod order_cost;
mod places;
mod sample_orders;
mod unreadable;
