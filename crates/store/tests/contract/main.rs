//! What the store promises, on each table of this process. `onsale-aws` runs the same rules on
//! DynamoDB.

#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use onsale_machine::{OsEntropy, SystemClock};
use onsale_store::{SCHEMA, Store};
use onsale_table::Table;
use onsale_table::memory::MemoryTable;
use onsale_table::sqlite::{SqliteFile, SqliteTable};

/// Runs each rule on the table in memory, and on SQLite.
macro_rules! contract {
    ($($rule:ident,)*) => {
        mod memory {
            $(#[tokio::test] async fn $rule() {
                super::$rule(&crate::in_memory()).await;
            })*
        }
        mod sqlite {
            $(#[tokio::test] async fn $rule() {
                super::$rule(&crate::on_sqlite().await).await;
            })*
        }
    };
}

mod rules;

fn over(table: impl Table + 'static) -> Store {
    Store::new(Arc::new(table), Arc::new(SystemClock), Arc::new(OsEntropy))
}

fn in_memory() -> Store {
    over(MemoryTable::new(SCHEMA))
}

async fn on_sqlite() -> Store {
    let file = SqliteFile::temporary().unwrap();
    over(SqliteTable::open(file, SCHEMA).await.unwrap())
}
