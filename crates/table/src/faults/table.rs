//! A table whose calls go wrong as planned.
//!
//! The name of a call is its operation and the kinds of the keys it touches, where the kind of a
//! key is its partition key up to the first `#`: `update BLK`, `transact TKT+ORD`,
//! `query gsi4 OPENORD`, `query table SAL`, `scan`.

use std::future::{Future, pending};
use std::sync::Arc;

use async_trait::async_trait;

use super::{Fault, Faults};
use crate::item::{Item, Key, Row};
use crate::requests::check_order;
use crate::table::{Batch, Failed, Query, Reads, Rows, Stopped, Table, TableError, TransactFailed};
use crate::update::Update;
use crate::write::Write;

/// Each write of [`Table::in_order`] is a call of its own, named after the kind of write, so that
/// a test can die between any two.
#[derive(Debug)]
pub struct FaultyTable {
    inner: Arc<dyn Table>,
    faults: Arc<Faults>,
}

/// What a call does: only writes are repeated, and only writes of items conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Call {
    Read,
    Write,
    Send,
}

impl FaultyTable {
    pub fn new(inner: Arc<dyn Table>, faults: Arc<Faults>) -> Self {
        Self { inner, faults }
    }

    async fn call<T, E, F>(&self, call: Call, name: &str, run: impl Fn() -> F) -> Result<T, E>
    where
        E: From<TableError>,
        F: Future<Output = Result<T, E>>,
    {
        let lost = |when: &str| Err(unavailable(&format!("a planned fault {when} {name}")).into());
        match self.faults.next(name).await {
            Some(Fault::DieBefore) => pending().await,
            Some(Fault::DieAfter) => {
                drop(run().await);
                pending().await
            }
            Some(Fault::FailBefore) => lost("before"),
            Some(Fault::FailAfter) => {
                drop(run().await);
                lost("after")
            }
            Some(Fault::Repeated) if call != Call::Read => {
                drop(run().await);
                run().await
            }
            Some(Fault::Throttled) => Err(unavailable("throttled").into()),
            Some(Fault::Conflict) if call == Call::Write => Err(TableError::Conflict.into()),
            None | Some(Fault::Repeated | Fault::Conflict) => run().await,
        }
    }

    async fn write_one(&self, write: &Write) -> Result<(), Failed> {
        let call = match write {
            Write::Send(_) => Call::Send,
            _ => Call::Write,
        };
        let one = std::slice::from_ref(write);
        let run = || async {
            self.inner
                .in_order(one)
                .await
                .map_err(|stopped| stopped.why)
        };
        self.call(call, &name_of_write(write), run).await
    }
}

#[async_trait]
impl Table for FaultyTable {
    async fn get(&self, key: &Key, reads: Reads) -> Result<Option<Item>, TableError> {
        let run = || self.inner.get(key, reads);
        self.call(Call::Read, &name("get", [key]), run).await
    }

    async fn get_many(&self, keys: &[Key], reads: Reads) -> Result<Batch, TableError> {
        let run = || self.inner.get_many(keys, reads);
        self.call(Call::Read, &name("get_many", keys), run).await
    }

    async fn put_new(&self, key: &Key, item: Item) -> Result<(), Failed> {
        let run = || self.inner.put_new(key, item.clone());
        self.call(Call::Write, &name("put_new", [key]), run).await
    }

    async fn update(&self, key: &Key, update: &Update) -> Result<(), Failed> {
        let run = || self.inner.update(key, update);
        self.call(Call::Write, &name("update", [key]), run).await
    }

    async fn update_returning(&self, key: &Key, update: &Update) -> Result<Item, Failed> {
        let run = || self.inner.update_returning(key, update);
        self.call(Call::Write, &name("update", [key]), run).await
    }

    async fn delete(&self, key: &Key) -> Result<(), TableError> {
        let run = || self.inner.delete(key);
        self.call(Call::Write, &name("delete", [key]), run).await
    }

    async fn transact(&self, parts: &[Write]) -> Result<(), TransactFailed> {
        let name = name("transact", parts.iter().filter_map(Write::key));
        let run = || self.inner.transact(parts);
        self.call(Call::Write, &name, run).await
    }

    async fn in_order(&self, writes: &[Write]) -> Result<(), Stopped> {
        // The inner table sees one write at a time, so it cannot tell that a message is not last.
        check_order(writes).map_err(|error| Stopped {
            at: 0,
            why: error.into(),
        })?;
        for (at, write) in writes.iter().enumerate() {
            let done = self.write_one(write).await;
            done.map_err(|why| Stopped { at, why })?;
        }
        Ok(())
    }

    async fn query(&self, query: &Query<'_>) -> Result<Rows, TableError> {
        let list = query.index.map_or("table", |index| index.name);
        let name = format!("query {list} {}", kind(query.partition));
        self.call(Call::Read, &name, || self.inner.query(query))
            .await
    }

    async fn scan(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Row>, TableError> {
        let run = || self.inner.scan(after, limit);
        self.call(Call::Read, "scan", run).await
    }

    async fn forget(&self, now_s: u64, limit: usize) -> Result<usize, TableError> {
        let run = || self.inner.forget(now_s, limit);
        self.call(Call::Write, "forget", run).await
    }

    fn trouble(&self) -> Option<String> {
        self.inner.trouble()
    }
}

fn unavailable(why: &str) -> TableError {
    TableError::Unavailable(why.to_owned())
}

/// A partition key up to the first `#`.
fn kind(pk: &str) -> &str {
    pk.split_once('#').map_or(pk, |(kind, _)| kind)
}

/// The operation and the kinds of the keys, each once.
fn name<'a>(operation: &str, keys: impl IntoIterator<Item = &'a Key>) -> String {
    let mut kinds = Vec::new();
    for key in keys {
        let kind = kind(&key.pk);
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    format!("{operation} {}", kinds.join("+"))
}

fn name_of_write(write: &Write) -> String {
    match write {
        Write::PutNew(key, _) => name("put_new", [key]),
        Write::Update(key, _) => name("update", [key]),
        Write::Delete(key, _) => name("delete", [key]),
        Write::Send(message) => format!("send {}", message.queue),
    }
}
