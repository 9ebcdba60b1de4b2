//! The engines, and what the rules share.

use std::sync::Arc;

use onsale_table::faults::{Faults, FaultyTable};
use onsale_table::memory::MemoryTable;
use onsale_table::{
    Failed, Index, Item, Key, Projection, Query, Reads, Row, Schema, Table, TableError,
};

/// Lists items by `npk` and `nsk`, with nothing but their keys.
pub const NARROW: Index = Index {
    name: "narrow",
    pk: "npk",
    sk: "nsk",
    projection: Projection::Keys,
};

/// Lists items by `wpk` and `wsk`, with all they have.
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

/// An empty table.
pub struct Engine {
    pub name: &'static str,
    pub table: Arc<dyn Table>,
}

/// Empty tables of this shape, one of each engine: the list to which a new engine is added.
pub async fn engines(schema: Schema) -> Vec<Engine> {
    vec![
        engine("memory", MemoryTable::new(schema)),
        engine("memory behind faults", faultless(schema)),
        #[cfg(feature = "sqlite")]
        engine("sqlite", sqlite(schema).await),
    ]
}

fn engine(name: &'static str, table: impl Table + 'static) -> Engine {
    let table = Arc::new(table);
    Engine { name, table }
}

/// Without a planned fault the wrapper changes nothing.
fn faultless(schema: Schema) -> FaultyTable {
    let inner = Arc::new(MemoryTable::new(schema));
    FaultyTable::new(inner, Arc::new(Faults::default()))
}

#[cfg(feature = "sqlite")]
async fn sqlite(schema: Schema) -> onsale_table::sqlite::SqliteTable {
    use onsale_table::sqlite::{SqliteFile, SqliteTable};
    let file = SqliteFile::temporary().unwrap();
    SqliteTable::open(file, schema).await.unwrap()
}

/// Makes a test of each rule, which checks it on every engine.
macro_rules! on_every_engine {
    ($($rule:ident),+ $(,)?) => {
        mod on_every_engine {
            $(
                #[tokio::test]
                async fn $rule() {
                    for engine in crate::engine::engines(crate::engine::SCHEMA).await {
                        println!("on {}", engine.name);
                        super::$rule(&*engine.table).await;
                    }
                }
            )+
        }
    };
}
pub(crate) use on_every_engine;

pub fn key(pk: &str, sk: &str) -> Key {
    Key::new(pk, sk.to_owned())
}

pub async fn stored(table: &dyn Table, key: &Key) -> Option<Item> {
    table.get(key, Reads::Consistent).await.unwrap()
}

pub async fn put(table: &dyn Table, key: &Key, item: Item) {
    table.put_new(key, item).await.unwrap();
}

pub fn is_invalid<T>(result: &Result<T, TableError>) -> bool {
    matches!(result, Err(TableError::Invalid(_)))
}

pub fn is_invalid_write<T>(result: &Result<T, Failed>) -> bool {
    matches!(result, Err(Failed::Error(TableError::Invalid(_))))
}

/// A query of the first page, upwards.
pub fn list(index: Option<Index>, partition: &str, limit: usize) -> Query<'_> {
    Query {
        index,
        partition,
        after: None,
        descending: false,
        limit,
        reads: Reads::Consistent,
    }
}

/// The rows of every page from the query's own place on, page by page.
pub async fn pages(table: &dyn Table, mut query: Query<'_>) -> Vec<Vec<Row>> {
    let mut pages = Vec::new();
    for _ in 0..1000 {
        let page = table.query(&query).await.unwrap();
        pages.push(page.rows);
        match page.next {
            Some(next) => query.after = Some(next),
            None => return pages,
        }
    }
    panic!("the list has no end");
}

/// The sort keys of the rows, in the table.
pub fn sort_keys(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| &*row.key.sk).collect()
}
