//! Random operations, for tests that compare engines.
//!
//! A [`Script`] is an endless list of operations on few keys and few attributes, so that they
//! collide. [`run`] gives the outcome of one as a text in which everything that [`Table`] leaves
//! open is the same on every engine: the order of a batch and of a scan, the text of an error,
//! and whether the last page knows that it is the last. Two engines that keep the same promises
//! give the same texts, provided that both list items at one place of an index by their keys.

mod script;

use std::fmt::Debug;

use crate::item::{Item, Key, Row};
use crate::table::{
    Cursor, Failed, Index, Projection, Query, Reads, Rows, Schema, Stopped, Table, TableError,
    TransactFailed,
};
use crate::update::Update;
use crate::write::Write;
pub use script::Script;

/// The table that the operations are for.
pub const SCHEMA: Schema = Schema {
    indexes: &[
        Index {
            name: "narrow",
            pk: "npk",
            sk: "nsk",
            projection: Projection::Keys,
        },
        Index {
            name: "wide",
            pk: "wpk",
            sk: "wsk",
            projection: Projection::All,
        },
    ],
    forget_at: "forget_at",
};

/// Batches and walks that have not ended after so many requests never will.
const ENDLESS: usize = 10_000;

/// A list that is read page by page.
#[derive(Debug, Clone)]
pub struct List {
    /// `None`: the table itself.
    pub index: Option<Index>,
    pub partition: String,
    pub after: Option<Cursor>,
    pub descending: bool,
    /// Items of each page.
    pub limit: usize,
    pub reads: Reads,
}

#[derive(Debug, Clone)]
pub enum Operation {
    Get(Key, Reads),
    GetMany(Vec<Key>, Reads),
    PutNew(Key, Item),
    Update(Key, Update),
    UpdateReturning(Key, Update),
    Delete(Key),
    Transact(Vec<Write>),
    InOrder(Vec<Write>),
    /// Reads one page, and looks whether there is more.
    Page(List),
    /// Reads the first page, writes, and reads the other pages.
    Walk(List, Option<Write>),
    /// Reads everything in pages of this size.
    Scan(usize),
}

/// Does the operation; returns its outcome.
pub async fn run(table: &dyn Table, operation: &Operation) -> String {
    match operation {
        Operation::Get(key, reads) => outcome(table.get(key, *reads).await),
        Operation::GetMany(keys, reads) => outcome(get_many(table, keys, *reads).await),
        Operation::PutNew(key, item) => outcome(table.put_new(key, item.clone()).await),
        Operation::Update(key, update) => outcome(table.update(key, update).await),
        Operation::UpdateReturning(key, update) => {
            outcome(table.update_returning(key, update).await)
        }
        Operation::Delete(key) => outcome(table.delete(key).await),
        Operation::Transact(parts) => outcome(table.transact(parts).await),
        Operation::InOrder(writes) => outcome(table.in_order(writes).await),
        Operation::Page(list) => outcome(page(table, list).await),
        Operation::Walk(list, between) => outcome(walk(table, list, between.as_ref()).await),
        Operation::Scan(limit) => outcome(scan(table, *limit).await),
    }
}

/// Runs the same script on all tables; an error describes the first operation whose outcome
/// differs. The tables must be empty and have the shape of [`SCHEMA`].
pub async fn compare(
    tables: &[(&str, &dyn Table)],
    seed: u64,
    operations: usize,
) -> Result<(), String> {
    for (n, operation) in Script::new(seed).take(operations).enumerate() {
        let mut first: Option<(&str, String)> = None;
        for (name, table) in tables {
            let outcome = run(*table, &operation).await;
            let (of, expected) = first.get_or_insert_with(|| (name, outcome.clone()));
            if *expected != outcome {
                return Err(format!(
                    "seed {seed}, operation {n}: {operation:#?}\n{of}: {expected}\n{name}: {outcome}"
                ));
            }
        }
    }
    Ok(())
}

async fn get_many(table: &dyn Table, keys: &[Key], reads: Reads) -> Result<Vec<Row>, TableError> {
    let mut rows = Vec::new();
    let mut keys = keys.to_vec();
    for _ in 0..ENDLESS {
        let batch = table.get_many(&keys, reads).await?;
        rows.extend(batch.rows);
        if batch.unprocessed.is_empty() {
            rows.sort_by(|one, other| one.key.cmp(&other.key));
            return Ok(rows);
        }
        keys = batch.unprocessed;
    }
    Err(TableError::Unavailable("a batch without end".to_owned()))
}

/// The rows of a page, and whether there are more.
async fn page(table: &dyn Table, list: &List) -> Result<(Vec<Row>, bool), TableError> {
    let page = query(table, list, list.after.clone()).await?;
    let has_more = match page.next {
        None => false,
        next => !query(table, list, next).await?.rows.is_empty(),
    };
    Ok((page.rows, has_more))
}

async fn walk(
    table: &dyn Table,
    list: &List,
    between: Option<&Write>,
) -> Result<Vec<Row>, TableError> {
    let Rows { mut rows, mut next } = query(table, list, list.after.clone()).await?;
    if let Some(write) = between {
        // Whether it took place shows in what is read later.
        let _ = table.in_order(std::slice::from_ref(write)).await;
    }
    for _ in 0..ENDLESS {
        let Some(after) = next else { return Ok(rows) };
        let page = query(table, list, Some(after)).await?;
        rows.extend(page.rows);
        next = page.next;
    }
    Err(TableError::Unavailable("a list without end".to_owned()))
}

async fn scan(table: &dyn Table, limit: usize) -> Result<Vec<Row>, TableError> {
    let mut rows: Vec<Row> = Vec::new();
    for _ in 0..ENDLESS {
        let page = table.scan(rows.last().map(|row| &row.key), limit).await?;
        if page.is_empty() {
            rows.sort_by(|one, other| one.key.cmp(&other.key));
            return Ok(rows);
        }
        rows.extend(page);
    }
    Err(TableError::Unavailable("a scan without end".to_owned()))
}

async fn query(table: &dyn Table, list: &List, after: Option<Cursor>) -> Result<Rows, TableError> {
    let query = Query {
        index: list.index,
        partition: &list.partition,
        after,
        descending: list.descending,
        limit: list.limit,
        reads: list.reads,
    };
    table.query(&query).await
}

/// An error without its text.
trait Kind {
    fn kind(&self) -> String;
}

impl Kind for TableError {
    fn kind(&self) -> String {
        let kind = match self {
            Self::Unavailable(_) => "unavailable",
            Self::Conflict => "conflict",
            Self::Invalid(_) => "invalid",
        };
        kind.to_owned()
    }
}

impl Kind for Failed {
    fn kind(&self) -> String {
        match self {
            Self::Refused(found) => format!("refused by {found:?}"),
            Self::Error(error) => error.kind(),
        }
    }
}

impl Kind for TransactFailed {
    fn kind(&self) -> String {
        match self {
            Self::Refused(parts) => format!("refused by {parts:?}"),
            Self::Error(error) => error.kind(),
        }
    }
}

impl Kind for Stopped {
    fn kind(&self) -> String {
        format!("stopped at {}: {}", self.at, self.why.kind())
    }
}

fn outcome<T: Debug, E: Kind>(result: Result<T, E>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => error.kind(),
    }
}
