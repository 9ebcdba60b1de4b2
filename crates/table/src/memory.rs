//! A table in ordered maps, for tests and simulations.
//!
//! It keeps every promise of [`Table`] that does not need a disk, counts what its requests would
//! cost on DynamoDB, and can let its indexes lag. It asks nobody for the time and rolls no dice:
//! the same calls give the same answers.

mod index;
mod meter;
mod page;
mod state;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use crate::item::{Item, Key, Row};
use crate::message::{Message, Queue};
use crate::table::{
    Batch, Failed, Query, Reads, Rows, Schema, Stopped, Table, TableError, TransactFailed,
    check_message,
};
use crate::update::Update;
use crate::write::{Write, check_transaction};
use meter::Tariff;
pub use meter::Units;
use state::State;

use crate::requests::{check_batch, check_key, check_order};

#[derive(Debug)]
pub struct MemoryTable {
    state: Mutex<State>,
    /// Takes the messages of writes in order.
    queue: Option<Arc<dyn Queue>>,
}

impl MemoryTable {
    pub fn new(schema: Schema) -> Self {
        Self {
            state: Mutex::new(State::new(schema)),
            queue: None,
        }
    }

    /// Hands the messages of [`Table::in_order`] to this queue.
    #[must_use]
    pub fn with_queue(mut self, queue: Arc<dyn Queue>) -> Self {
        self.queue = Some(queue);
        self
    }

    /// Capacity used so far.
    pub fn meter(&self) -> Units {
        self.state().meter
    }

    /// Capacity used since the last call.
    pub fn take_meter(&self) -> Units {
        std::mem::take(&mut self.state().meter)
    }

    /// From now on queries of an index do not see what the last `writes` writes changed in it.
    /// Each part of a transaction is a write. With 0 the indexes catch up at once.
    pub fn lag_indexes(&self, writes: usize) {
        self.state().indexes.set_lag(writes);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(&self, message: &Message) -> Result<(), TableError> {
        check_message(message)?;
        let Some(queue) = &self.queue else {
            let why = "a message, but the table has no queue";
            return Err(TableError::Invalid(why.to_owned()));
        };
        queue.send(message).await
    }
}

#[async_trait]
impl Table for MemoryTable {
    async fn get(&self, key: &Key, reads: Reads) -> Result<Option<Item>, TableError> {
        let mut state = self.state();
        state.meter.requests += 1;
        check_key(key)?;
        Ok(state.read(key, reads))
    }

    async fn get_many(&self, keys: &[Key], reads: Reads) -> Result<Batch, TableError> {
        let mut state = self.state();
        state.meter.requests += 1;
        check_batch(keys)?;
        let row = |key: &Key| {
            let item = state.read(key, reads)?;
            let key = key.clone();
            Some(Row { key, item })
        };
        Ok(Batch {
            rows: keys.iter().filter_map(row).collect(),
            unprocessed: Vec::new(),
        })
    }

    async fn put_new(&self, key: &Key, item: Item) -> Result<(), Failed> {
        let write = Write::PutNew(key.clone(), item);
        self.state().write(key, &write).map(drop)
    }

    async fn update(&self, key: &Key, update: &Update) -> Result<(), Failed> {
        self.update_returning(key, update).await.map(drop)
    }

    async fn update_returning(&self, key: &Key, update: &Update) -> Result<Item, Failed> {
        let write = Write::Update(key.clone(), update.clone());
        let left = self.state().write(key, &write)?;
        Ok(left.unwrap_or_default())
    }

    async fn delete(&self, key: &Key) -> Result<(), TableError> {
        let write = Write::Delete(key.clone(), None);
        match self.state().write(key, &write) {
            // Without a condition nothing can refuse.
            Ok(_) | Err(Failed::Refused(_)) => Ok(()),
            Err(Failed::Error(error)) => Err(error),
        }
    }

    async fn transact(&self, parts: &[Write]) -> Result<(), TransactFailed> {
        let mut state = self.state();
        state.meter.requests += 1;
        check_transaction(parts)?;
        let parts = parts.iter().filter_map(|part| Some((part.key()?, part)));
        let mut judged = Vec::new();
        for (key, part) in parts {
            match state.judge(key, part) {
                Err(Failed::Error(error)) => return Err(error.into()),
                Err(Failed::Refused(found)) => judged.push((key, Err(found))),
                Ok(after) => judged.push((key, Ok(after))),
            }
        }
        if judged.iter().any(|(_, part)| part.is_err()) {
            for (key, part) in &judged {
                let after = part.as_ref().ok().and_then(Option::as_ref);
                state.charge(key, after, Tariff::Transaction);
            }
            let reports = judged.into_iter().map(|(_, part)| part.err());
            return Err(TransactFailed::Refused(reports.collect()));
        }
        for (key, after) in judged {
            state.store(key, after.ok().flatten(), Tariff::Transaction);
        }
        Ok(())
    }

    async fn in_order(&self, writes: &[Write]) -> Result<(), Stopped> {
        check_order(writes).map_err(|error| stopped(0, error))?;
        for (at, write) in writes.iter().enumerate() {
            let done = match write {
                Write::Send(message) => self.send(message).await.map_err(Failed::from),
                Write::PutNew(key, _) | Write::Update(key, _) | Write::Delete(key, _) => {
                    self.state().write(key, write).map(drop)
                }
            };
            done.map_err(|why| Stopped { at, why })?;
        }
        Ok(())
    }

    async fn query(&self, query: &Query<'_>) -> Result<Rows, TableError> {
        let mut state = self.state();
        state.meter.requests += 1;
        state.query(query)
    }

    async fn scan(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Row>, TableError> {
        let mut state = self.state();
        state.meter.requests += 1;
        state.scan(after, limit).map(|page| page.rows)
    }

    async fn forget(&self, now_s: u64, limit: usize) -> Result<usize, TableError> {
        Ok(self.state().forget(now_s, limit))
    }
}

fn stopped(at: usize, error: TableError) -> Stopped {
    Stopped {
        at,
        why: error.into(),
    }
}
