//! Search of events, by tantivy.
//!
//! The index is a handful of immutable files and a manifest in object storage
//! (`snapshot`). One writer at a time changes a copy of it and publishes the next
//! manifest (`writer`); readers follow the manifest without a restart (`reader`). What an
//! event is found by is in `schema` and `words`, how it is asked for in `query` and
//! `collect`.

mod collect;
mod facets;
mod query;
mod reader;
mod schema;
mod snapshot;
mod view;
mod words;
mod writer;

pub use reader::SnapshotSearch;
pub use writer::SnapshotIndex;
