//! Everything the sale stores, written once over a [`Table`](onsale_table::Table).
//!
//! [`Store`] has every key (`keys.rs`, `documents.rs`), every list (`lists.rs`) and every
//! condition (`conditions.rs`, `blocks.rs`); no other crate knows how anything is stored. A kind
//! of document is one file here that says its key, its lists and when it may be forgotten.
//!
//! Every write may have happened although it answers [`StoreError::Unavailable`], so every write
//! can be repeated: it is conditional, and a refusal returns what was found.

mod accounts;
mod attributes;
mod audit;
mod blocks;
mod buyers;
mod cancellations;
mod catalogue;
mod conditions;
mod deletions;
mod devices;
mod documents;
mod error;
mod exports;
mod fans;
mod gates;
mod index_work;
mod indexes;
pub mod keys;
mod lists;
mod mailings;
mod mails;
mod maps;
mod orders;
mod passes;
mod prices;
mod resets;
mod sales;
mod sandbox;
mod sessions;
mod staff;
mod store;
mod tickets;
mod transfers;
mod waitlists;
mod world;

pub use accounts::{Credentials, PasswordHash, Registration};
pub use blocks::{BlockCells, CellsWrite};
pub use buyers::{HoldRead, Replaced};
pub use catalogue::ShowNotes;
pub use documents::{Creation, Document, Name, Together, Versioned, Written};
pub use error::{StoreError, Stored};
pub use gates::{EntryRight, GateChange, GateCount, KeptScan};
pub use indexes::{BY_BUYER, BY_LIST, BY_OWNER, BY_WORK, SCHEMA, WORK_SHARDS};
pub use lists::{List, Page, Place, Sorted, by_time};
pub use onsale_table::Reads;
pub use passes::EndedPass;
pub use sessions::Session;
pub use store::Store;
pub use world::{Clock, Entropy};
