//! The store, and the few ways in which it asks its table.

use std::collections::HashSet;
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};
use onsale_table::{
    BATCH_KEYS, Failed, Item, Key, Query, Reads, Row, Rows, Table, TableError, TransactFailed,
    Update, Write,
};

use crate::error::{StoreError, Stored};
use crate::world::{Clock, Entropy};

/// A conflict between transactions is over in milliseconds: ten tries with growing pauses wait
/// about a second in all before the caller is asked to come back.
const TRIES: u32 = 10;
/// Requests under way at once when many items are read.
const READS_AT_ONCE: usize = 4;

/// Tells one write from every other.
pub(crate) type Mark = [u8; 16];
/// What each part of a transaction found that did not hold; `None`: it held.
pub(crate) type Refusals = Vec<Option<Option<Item>>>;

/// Everything the sale stores, over one table. Clones share it.
#[derive(Clone)]
pub struct Store {
    table: Arc<dyn Table>,
    clock: Arc<dyn Clock>,
    entropy: Arc<dyn Entropy>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Store").field(&self.table).finish()
    }
}

impl Store {
    pub fn new(table: Arc<dyn Table>, clock: Arc<dyn Clock>, entropy: Arc<dyn Entropy>) -> Self {
        Self {
            table,
            clock,
            entropy,
        }
    }

    /// The table underneath, for copies of everything and for its health.
    pub fn table(&self) -> &dyn Table {
        &*self.table
    }

    pub(crate) fn new_mark(&self) -> Mark {
        let mut mark = Mark::default();
        self.entropy.fill(&mut mark);
        mark
    }

    /// Full jitter: up to 5 ms at first, doubling to 160 ms.
    async fn pause(&self, tries: u32) {
        let ceiling_ms = 5u64 << tries.min(5);
        let mut bytes = [0u8; 8];
        self.entropy.fill(&mut bytes);
        let pause_ms = u64::from_be_bytes(bytes) % ceiling_ms + 1;
        self.clock.pause(pause_ms).await;
    }

    /// A consistent read.
    pub(crate) async fn get(&self, key: &Key) -> Stored<Option<Item>> {
        Ok(self.table.get(key, Reads::Consistent).await?)
    }

    /// Those of the items that exist, in any order.
    pub(crate) async fn get_many(&self, keys: &[Key], reads: Reads) -> Stored<Vec<Row>> {
        let mut seen = HashSet::with_capacity(keys.len());
        let keys: Vec<Key> = keys.iter().filter(|k| seen.insert(*k)).cloned().collect();
        if keys.len() <= BATCH_KEYS {
            return self.get_batch(keys, reads).await;
        }
        let batches: Vec<_> = keys
            .chunks(BATCH_KEYS)
            .map(|batch| self.get_batch(batch.to_vec(), reads))
            .collect();
        let read: Vec<Vec<_>> = stream::iter(batches)
            .buffer_unordered(READS_AT_ONCE)
            .try_collect()
            .await?;
        Ok(read.into_iter().flatten().collect())
    }

    /// One request, repeated for what was left unprocessed.
    async fn get_batch(&self, mut keys: Vec<Key>, reads: Reads) -> Stored<Vec<Row>> {
        let mut rows = Vec::with_capacity(keys.len());
        for tries in 0..TRIES {
            if keys.is_empty() {
                return Ok(rows);
            }
            let batch = self.table.get_many(&keys, reads).await?;
            rows.extend(batch.rows);
            if batch.unprocessed.is_empty() {
                return Ok(rows);
            }
            keys = batch.unprocessed;
            self.pause(tries).await;
        }
        Err(StoreError::Unavailable("reads are throttled".to_owned()))
    }

    /// Stores the item if its key is new. Returns the item that is there otherwise.
    pub(crate) async fn put_new(&self, key: &Key, item: Item) -> Stored<Option<Item>> {
        for tries in 0..TRIES {
            match self.table.put_new(key, item.clone()).await {
                Ok(()) => return Ok(None),
                Err(Failed::Refused(found)) => return Ok(Some(found.unwrap_or_default())),
                Err(Failed::Error(TableError::Conflict)) => self.pause(tries).await,
                Err(Failed::Error(error)) => return Err(error.into()),
            }
        }
        Err(TableError::Conflict.into())
    }

    /// One update, repeated while a transaction is in the way. The inner error is the item that
    /// refused, if there is one.
    pub(crate) async fn update(
        &self,
        key: &Key,
        update: &Update,
    ) -> Stored<Result<(), Option<Item>>> {
        for tries in 0..TRIES {
            match self.table.update(key, update).await {
                Ok(()) => return Ok(Ok(())),
                Err(Failed::Refused(found)) => return Ok(Err(found)),
                Err(Failed::Error(TableError::Conflict)) => self.pause(tries).await,
                Err(Failed::Error(error)) => return Err(error.into()),
            }
        }
        Err(TableError::Conflict.into())
    }

    /// Like `update`; returns the item as the update left it.
    pub(crate) async fn update_returning(
        &self,
        key: &Key,
        update: &Update,
    ) -> Stored<Result<Item, Option<Item>>> {
        for tries in 0..TRIES {
            match self.table.update_returning(key, update).await {
                Ok(item) => return Ok(Ok(item)),
                Err(Failed::Refused(found)) => return Ok(Err(found)),
                Err(Failed::Error(TableError::Conflict)) => self.pause(tries).await,
                Err(Failed::Error(error)) => return Err(error.into()),
            }
        }
        Err(TableError::Conflict.into())
    }

    /// Returns whether the condition held.
    pub(crate) async fn update_if(&self, key: &Key, update: &Update) -> Stored<bool> {
        Ok(self.update(key, update).await?.is_ok())
    }

    /// Deletes an item. One that is not there is deleted already.
    pub(crate) async fn delete(&self, key: &Key) -> Stored<()> {
        Ok(self.table.delete(key).await?)
    }

    /// All parts or none, repeated while another transaction is in the way.
    pub(crate) async fn transact(&self, parts: &[Write]) -> Stored<Result<(), Refusals>> {
        for tries in 0..TRIES {
            match self.table.transact(parts).await {
                Ok(()) => return Ok(Ok(())),
                Err(TransactFailed::Refused(found)) => return Ok(Err(found)),
                Err(TransactFailed::Error(TableError::Conflict)) => self.pause(tries).await,
                Err(TransactFailed::Error(error)) => return Err(error.into()),
            }
        }
        Err(TableError::Conflict.into())
    }

    pub(crate) async fn query(&self, query: &Query<'_>) -> Stored<Rows> {
        Ok(self.table.query(query).await?)
    }
}
