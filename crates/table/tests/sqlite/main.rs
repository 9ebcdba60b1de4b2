//! The durable engine: each method of the table, and the file under it.
#![cfg(feature = "sqlite")]
#![allow(clippy::unwrap_used)]

mod cost;
mod file;
mod items;
mod lists;
mod messages;
mod several;

use std::sync::Arc;

use onsale_table::sqlite::{SqliteFile, SqliteTable};
use onsale_table::{Index, Item, Key, Projection, Reads, Schema, Table};

pub const NARROW: Index = Index {
    name: "narrow",
    pk: "npk",
    sk: "nsk",
    projection: Projection::Keys,
};
pub const WIDE: Index = Index {
    name: "wide",
    pk: "wpk",
    sk: "wsk",
    projection: Projection::All,
};
pub const SCHEMA: Schema = Schema {
    indexes: &[NARROW, WIDE],
    forget_at: "forget_at",
};

/// A table in a file that is deleted with it.
pub async fn table() -> SqliteTable {
    let file = SqliteFile::temporary().unwrap();
    SqliteTable::open(file, SCHEMA).await.unwrap()
}

pub async fn table_in(file: &Arc<SqliteFile>) -> SqliteTable {
    SqliteTable::open(Arc::clone(file), SCHEMA).await.unwrap()
}

pub fn key(sk: &str) -> Key {
    Key::new("P", sk.to_owned())
}

pub async fn read(table: &SqliteTable, key: &Key) -> Option<Item> {
    table.get(key, Reads::Consistent).await.unwrap()
}
