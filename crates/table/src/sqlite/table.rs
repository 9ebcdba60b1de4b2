//! The table of the embedded platform.

use std::sync::Arc;

use async_trait::async_trait;

use super::file::SqliteFile;
use super::format::OpenError;
use super::outbox::Outbox;
use super::schema::{self, check_write, without_empty_sets};
use super::{items, pages};
use crate::item::{Item, Key, Row};
use crate::requests::{check_batch, check_key, check_order};
use crate::table::{
    Batch, Failed, Query, Reads, Rows, Schema, Stopped, Table, TableError, TransactFailed,
};
use crate::update::Update;
use crate::write::{Write, check_transaction};

/// Reads of at most this many items are done on the caller's thread; they take microseconds.
const KEYS_HERE: usize = 16;
const ROWS_HERE: usize = 100;

/// A [`Table`] in a [`SqliteFile`]. All reads are consistent.
#[derive(Debug)]
pub struct SqliteTable {
    file: Arc<SqliteFile>,
    schema: Schema,
    outbox: Option<Arc<dyn Outbox>>,
}

impl SqliteTable {
    /// The table of the file. If it was written for other indexes, they are built anew first.
    pub async fn open(file: Arc<SqliteFile>, schema: Schema) -> Result<Self, OpenError> {
        file.migrate(schema::PART, schema::VERSION, schema::SQL)
            .await?;
        file.write(move |db| schema::adopt(db, &schema))
            .await
            .map_err(|error| OpenError::Storage(error.to_string()))?;
        Ok(Self {
            file,
            schema,
            outbox: None,
        })
    }

    /// Hands the messages of [`Table::in_order`] to this outbox.
    #[must_use]
    pub fn with_outbox(mut self, outbox: Arc<dyn Outbox>) -> Self {
        self.outbox = Some(outbox);
        self
    }

    /// Does one write; returns what it left of the item.
    async fn change(&self, write: Write) -> Result<Option<Item>, Failed> {
        let schema = self.schema;
        check_write(&schema, &write)?;
        self.file
            .write(move |db| items::apply(db, &schema, &write))
            .await?
    }
}

#[async_trait]
impl Table for SqliteTable {
    async fn get(&self, key: &Key, _: Reads) -> Result<Option<Item>, TableError> {
        check_key(key)?;
        self.file.read_now(|db| items::get(db, key))
    }

    async fn get_many(&self, keys: &[Key], _: Reads) -> Result<Batch, TableError> {
        check_batch(keys)?;
        if keys.len() <= KEYS_HERE {
            return self.file.read_now(|db| pages::get_many(db, keys));
        }
        let keys = keys.to_vec();
        self.file.read(move |db| pages::get_many(db, &keys)).await
    }

    async fn put_new(&self, key: &Key, item: Item) -> Result<(), Failed> {
        let write = Write::PutNew(key.clone(), without_empty_sets(item));
        self.change(write).await.map(drop)
    }

    async fn update(&self, key: &Key, update: &Update) -> Result<(), Failed> {
        let write = Write::Update(key.clone(), update.clone());
        self.change(write).await.map(drop)
    }

    async fn update_returning(&self, key: &Key, update: &Update) -> Result<Item, Failed> {
        let write = Write::Update(key.clone(), update.clone());
        Ok(self.change(write).await?.unwrap_or_default())
    }

    async fn delete(&self, key: &Key) -> Result<(), TableError> {
        match self.change(Write::Delete(key.clone(), None)).await {
            // Without a condition nothing can refuse.
            Ok(_) | Err(Failed::Refused(_)) => Ok(()),
            Err(Failed::Error(error)) => Err(error),
        }
    }

    async fn transact(&self, parts: &[Write]) -> Result<(), TransactFailed> {
        check_transaction(parts)?;
        let schema = self.schema;
        let parts = storable(parts);
        for part in &parts {
            check_write(&schema, part)?;
        }
        self.file
            .write(move |db| items::transact(db, &schema, &parts))
            .await?
    }

    async fn in_order(&self, writes: &[Write]) -> Result<(), Stopped> {
        check_order(writes).map_err(|error| stopped(0, error))?;
        let schema = self.schema;
        let mut writes = storable(writes);
        // Those before a write that is wrong in itself are done all the same.
        let wrong = writes.iter().enumerate().find_map(|(at, write)| {
            let error = check_write(&schema, write).err()?;
            Some(stopped(at, error))
        });
        if let Some(wrong) = &wrong {
            writes.truncate(wrong.at);
        }
        self.write_in_order(writes).await?;
        wrong.map_or(Ok(()), Err)
    }

    async fn query(&self, query: &Query<'_>) -> Result<Rows, TableError> {
        check_query(&self.schema, query)?;
        if query.limit <= ROWS_HERE {
            return self.file.read_now(|db| pages::query(db, query));
        }
        let partition = query.partition.to_owned();
        let query = Query {
            partition: "",
            ..query.clone()
        };
        let with_partition = move |db: &_| {
            let partition = &partition;
            pages::query(db, &Query { partition, ..query })
        };
        self.file.read(with_partition).await
    }

    async fn scan(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Row>, TableError> {
        check_limit(limit)?;
        let after = after.cloned();
        self.file
            .read(move |db| pages::scan(db, after.as_ref(), limit))
            .await
    }

    async fn forget(&self, now_s: u64, limit: usize) -> Result<usize, TableError> {
        let schema = self.schema;
        let now_s = i64::try_from(now_s).unwrap_or(i64::MAX);
        self.file
            .write(move |db| items::forget(db, &schema, now_s, limit))
            .await
    }

    fn trouble(&self) -> Option<String> {
        self.file.trouble()
    }
}

impl SqliteTable {
    /// Does the writes with one flush, then tells the outbox of a message among them.
    async fn write_in_order(&self, writes: Vec<Write>) -> Result<(), Stopped> {
        if writes.is_empty() {
            return Ok(());
        }
        let schema = self.schema;
        let writes: Arc<[Write]> = writes.into();
        let flushed = Arc::clone(&writes);
        let outbox = self.outbox.clone();
        let to_tell = self.outbox.clone();
        let done = self.file.write_then(
            move |db| items::in_order(db, &schema, outbox.as_deref(), &writes),
            move |done| {
                if let (Ok(()), Some(Write::Send(message)), Some(outbox)) =
                    (done, flushed.last(), to_tell)
                {
                    outbox.sent(message);
                }
            },
        );
        done.await.map_err(|error| stopped(0, error))?
    }
}

/// Copies of the writes as the writer takes them.
fn storable(writes: &[Write]) -> Vec<Write> {
    let copy = |write: &Write| match write.clone() {
        Write::PutNew(key, item) => Write::PutNew(key, without_empty_sets(item)),
        other => other,
    };
    writes.iter().map(copy).collect()
}

fn check_query(schema: &Schema, query: &Query<'_>) -> Result<(), TableError> {
    check_limit(query.limit)?;
    if query.partition.is_empty() {
        return Err(TableError::Invalid("a partition without a key".to_owned()));
    }
    match &query.index {
        Some(index) if !schema.indexes.contains(index) => Err(TableError::Invalid(format!(
            "the table has no index {}",
            index.name
        ))),
        _ => Ok(()),
    }
}

fn check_limit(limit: usize) -> Result<(), TableError> {
    match limit {
        0 => Err(TableError::Invalid("a page of no items".to_owned())),
        _ => Ok(()),
    }
}

fn stopped(at: usize, error: TableError) -> Stopped {
    Stopped {
        at,
        why: error.into(),
    }
}
