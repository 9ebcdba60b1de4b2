//! The durable engine of the embedded platform: one SQLite file, one thread that writes it.
//!
//! [`SqliteFile`] owns the file. Everything that the platform stores in it goes through its one
//! writer, which flushes the writes of all waiting callers together and answers them afterwards.
//! [`SqliteTable`] is the [`Table`](crate::Table) in that file; queues and other parts keep
//! tables of their own beside it.

mod codec;
mod file;
mod format;
mod health;
mod items;
mod job;
mod names;
mod outbox;
mod pages;
mod readers;
mod schema;
mod table;
mod writer;

pub use file::{FailedFlush, Options, SqliteFile};
pub use format::{Durability, OpenError};
pub use outbox::Outbox;
pub use table::SqliteTable;
