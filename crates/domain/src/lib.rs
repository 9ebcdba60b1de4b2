//! The rules of an on-sale.
//!
//! Everything here is a pure function of its arguments: no I/O, no clock, no
//! randomness of its own. Time and random bytes come in as values, so any decision
//! can be replayed. The crate builds for wasm32, because the edge decides by the
//! same rules as the cloud.

pub mod account;
pub mod announcement;
pub mod audit;
pub mod best_available;
pub mod block;
pub mod buyer;
pub mod buyer_codec;
pub mod cancellation;
pub mod captcha;
pub mod checkout_saga;
pub mod claim;
pub mod csv;
pub mod deletion;
pub mod device;
pub mod event;
pub mod export;
pub mod feedback;
pub mod gate;
pub mod gate_book;
pub mod general;
pub mod ids;
pub mod internal_call;
pub mod language;
pub mod layout;
pub mod layout_codec;
pub mod letter;
pub mod limiter;
pub mod mail;
pub mod mailing;
pub mod map;
pub mod map_news;
pub mod money;
pub mod neighbours;
pub mod order;
pub mod password_reset;
pub mod payment;
pub mod poster;
pub mod pricing;
pub mod receipt;
pub mod refund_saga;
pub mod request_hash;
pub mod request_id;
pub mod resale;
pub mod room;
pub mod sales;
pub mod seed;
pub mod show;
pub mod sorted;
pub mod staff;
pub mod ticket;
pub mod ticket_code;
pub mod ticket_return;
pub mod time;
pub mod told_name;
pub mod transfer;
pub mod venue;
pub mod waitlist;
pub mod work;
