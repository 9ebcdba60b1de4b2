//! [`Table`] on DynamoDB.
//!
//! Each call is one request, and `in_order` one for each write. Nothing here repeats a request or
//! waits: a conflict and unprocessed keys go back to the store, which repeats after a pause. (The
//! SDK repeats by itself what was throttled or not answered.) Only `expressions` makes
//! expressions of conditions and updates.

mod errors;
mod expressions;
mod reads;
mod transactions;
mod values;
mod writes;

use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::ReturnValue;
use onsale_table::{
    Batch, Failed, Item, Key, Query, Queue, Reads, Row, Rows, Stopped, Table, TableError,
    TransactFailed, Update, Write,
};

/// One DynamoDB table with the keys `pk` and `sk`.
#[derive(Debug, Clone)]
pub struct DynamoTable {
    client: Client,
    name: String,
    queue: Option<Arc<dyn Queue>>,
}

impl DynamoTable {
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        Self {
            client,
            name: table.into(),
            queue: None,
        }
    }

    /// The queue that takes the message at the end of writes in order.
    #[must_use]
    pub fn with_queue(mut self, queue: Arc<dyn Queue>) -> Self {
        self.queue = Some(queue);
        self
    }
}

#[async_trait]
impl Table for DynamoTable {
    async fn get(&self, key: &Key, reads: Reads) -> Result<Option<Item>, TableError> {
        reads::get(self, key, reads).await
    }

    async fn get_many(&self, keys: &[Key], reads: Reads) -> Result<Batch, TableError> {
        reads::get_many(self, keys, reads).await
    }

    async fn put_new(&self, key: &Key, item: Item) -> Result<(), Failed> {
        writes::put_new(self, key, item).await
    }

    async fn update(&self, key: &Key, update: &Update) -> Result<(), Failed> {
        writes::update(self, key, update, ReturnValue::None)
            .await
            .map(|_| ())
    }

    async fn update_returning(&self, key: &Key, update: &Update) -> Result<Item, Failed> {
        let new = writes::update(self, key, update, ReturnValue::AllNew).await?;
        Ok(values::item(new)?)
    }

    async fn delete(&self, key: &Key) -> Result<(), TableError> {
        match writes::delete(self, key, None).await {
            Ok(()) => Ok(()),
            Err(Failed::Error(error)) => Err(error),
            Err(Failed::Refused(_)) => Err(TableError::Unavailable(
                "a refusal of a delete without a condition".to_owned(),
            )),
        }
    }

    async fn transact(&self, parts: &[Write]) -> Result<(), TransactFailed> {
        transactions::transact(self, parts).await
    }

    async fn in_order(&self, writes: &[Write]) -> Result<(), Stopped> {
        writes::in_order(self, writes).await
    }

    async fn query(&self, query: &Query<'_>) -> Result<Rows, TableError> {
        reads::query(self, query).await
    }

    async fn scan(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Row>, TableError> {
        reads::scan(self, after, limit).await
    }
}
