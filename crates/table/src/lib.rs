//! What a table can do. Keys, items, conditions and updates are values: no expression text,
//! no type of an SDK.
//!
//! [`Table`] is the border between what the sale stores and where it is stored. It has three
//! implementations: [`memory`] (ordered maps, for tests and simulations), [`sqlite`] (durable,
//! for the embedded platform) and DynamoDB (`onsale-aws`). [`faults`] wraps any of them.
//! Nothing here knows what Onsale sells.

mod condition;
#[cfg(feature = "differential")]
pub mod differential;
pub mod faults;
mod item;
pub mod memory;
mod message;
mod requests;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod table;
pub mod units;
mod update;
mod write;

pub use condition::Condition;
pub use item::{Item, Key, Name, Row, Value};
pub use message::{Message, Queue};
pub use requests::check_batch;
pub use table::{
    BATCH_KEYS, Batch, Cursor, Failed, Index, Limits, PAGE_BYTES, Projection, Query, Reads, Rows,
    Schema, Stopped, TRANSACTION_PARTS, Table, TableError, TransactFailed,
};
pub use update::{Action, Update};
pub use write::{Write, check_transaction};
