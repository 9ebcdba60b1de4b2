//! The table and the few ways in which items of it are read and written.

use std::collections::HashSet;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{
    Delete, KeysAndAttributes, Put, ReturnValue, ReturnValuesOnConditionCheckFailure,
    TransactWriteItem, Update,
};
use futures_util::{StreamExt, TryStreamExt, stream};
use onsale_app::ports::{StoreError, Stored};

use crate::attributes::Item;
use crate::conditions::Change;
use crate::errors::{Failed, cancellation, unavailable};
use crate::keys::Key;
use crate::pause::before_retry;

/// DynamoDB answers at most this many items in one BatchGetItem.
const BATCH_GET: usize = 100;
/// A conflict between transactions is over in milliseconds: ten tries with growing
/// pauses wait about a second in all before the caller is asked to come back.
const CONFLICT_TRIES: u32 = 10;
/// Requests under way at once when many items are read.
const READS_AT_ONCE: usize = 4;

/// All ports on one DynamoDB table.
#[derive(Debug, Clone)]
pub struct DynamoStore {
    pub(crate) client: Client,
    pub(crate) table: String,
}

impl DynamoStore {
    pub fn new(client: Client, table: impl Into<String>) -> Self {
        Self {
            client,
            table: table.into(),
        }
    }

    pub(crate) async fn get(&self, key: &Key) -> Stored<Option<Item>> {
        let answer = self
            .client
            .get_item()
            .table_name(&self.table)
            .set_key(Some(key.attributes()))
            .consistent_read(true)
            .send()
            .await
            .map_err(unavailable)?;
        Ok(answer.item)
    }

    /// Those of the items that exist, in any order.
    pub(crate) async fn get_many(&self, keys: &[Key], consistent: bool) -> Stored<Vec<Item>> {
        // DynamoDB turns down a request that names one key twice.
        let mut seen = HashSet::with_capacity(keys.len());
        let keys: Vec<_> = keys.iter().filter(|key| seen.insert(&key.pk)).collect();
        let batches: Vec<_> = keys
            .chunks(BATCH_GET)
            .map(|batch| self.get_batch(batch, consistent))
            .collect();
        let read: Vec<Vec<_>> = stream::iter(batches)
            .buffer_unordered(READS_AT_ONCE)
            .try_collect()
            .await?;
        Ok(read.into_iter().flatten().collect())
    }

    /// Up to a hundred items in one request; repeats for what was left unprocessed.
    async fn get_batch(&self, keys: &[&Key], consistent: bool) -> Stored<Vec<Item>> {
        let mut wanted: Vec<_> = keys.iter().map(|key| key.attributes()).collect();
        let mut items = Vec::with_capacity(wanted.len());
        for pause in 0..CONFLICT_TRIES {
            let request = KeysAndAttributes::builder()
                .set_keys(Some(std::mem::take(&mut wanted)))
                .consistent_read(consistent)
                .build()
                .map_err(|e| StoreError::Corrupt(e.to_string()))?;
            let mut answer = self
                .client
                .batch_get_item()
                .request_items(&self.table, request)
                .return_consumed_capacity(aws_sdk_dynamodb::types::ReturnConsumedCapacity::Total)
                .send()
                .await
                .map_err(unavailable)?;
            if let Some(found) = answer
                .responses
                .as_mut()
                .and_then(|r| r.remove(&self.table))
            {
                items.extend(found);
            }
            let left = answer
                .unprocessed_keys
                .as_mut()
                .and_then(|r| r.remove(&self.table));
            match left {
                Some(left) if !left.keys.is_empty() => wanted = left.keys,
                _ => return Ok(items),
            }
            before_retry(pause).await;
        }
        Err(StoreError::Unavailable("reads are throttled".into()))
    }

    /// A put that takes place only if its key is new; the item that is there otherwise.
    pub(crate) async fn put_new(&self, key: &Key, mut item: Item) -> Stored<Option<Item>> {
        item.extend(key.attributes());
        self.put_item_new(item).await
    }

    /// The same of an item that has its keys.
    pub(crate) async fn put_item_new(&self, item: Item) -> Stored<Option<Item>> {
        use aws_sdk_dynamodb::error::SdkError;
        use aws_sdk_dynamodb::operation::put_item::PutItemError;
        let put = self
            .client
            .put_item()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression(crate::conditions::IS_NEW)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .return_consumed_capacity(aws_sdk_dynamodb::types::ReturnConsumedCapacity::Total);
        match put.send().await {
            Ok(_) => Ok(None),
            Err(SdkError::ServiceError(service))
                if service.err().is_conditional_check_failed_exception() =>
            {
                match service.into_err() {
                    PutItemError::ConditionalCheckFailedException(refused) => {
                        Ok(Some(refused.item.unwrap_or_default()))
                    }
                    other => Err(StoreError::Unavailable(other.to_string())),
                }
            }
            Err(error) => Err(unavailable(error)),
        }
    }

    pub(crate) fn put_new_part(&self, key: &Key, mut item: Item) -> Stored<TransactWriteItem> {
        item.extend(key.attributes());
        let put = Put::builder()
            .table_name(&self.table)
            .set_item(Some(item))
            .condition_expression(crate::conditions::IS_NEW)
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .build()
            .map_err(|e| StoreError::Corrupt(e.to_string()))?;
        Ok(TransactWriteItem::builder().put(put).build())
    }

    pub(crate) fn update_part(&self, key: &Key, change: Change) -> Stored<TransactWriteItem> {
        let update = Update::builder()
            .table_name(&self.table)
            .set_key(Some(key.attributes()))
            .update_expression(change.update)
            .set_condition_expression(change.condition)
            .set_expression_attribute_values(Some(change.values))
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .build()
            .map_err(|e| StoreError::Corrupt(e.to_string()))?;
        Ok(TransactWriteItem::builder().update(update).build())
    }

    pub(crate) fn delete_part(
        &self,
        key: &Key,
        condition: Option<(&str, Item)>,
    ) -> Stored<TransactWriteItem> {
        let (condition, values) = condition.unzip();
        let delete = Delete::builder()
            .table_name(&self.table)
            .set_key(Some(key.attributes()))
            .set_condition_expression(condition.map(str::to_owned))
            .set_expression_attribute_values(values)
            .build()
            .map_err(|e| StoreError::Corrupt(e.to_string()))?;
        Ok(TransactWriteItem::builder().delete(delete).build())
    }

    /// Deletes an item; what is not there is gone already.
    pub(crate) async fn delete(&self, key: &Key) -> Stored<()> {
        let delete = self
            .client
            .delete_item()
            .table_name(&self.table)
            .set_key(Some(key.attributes()));
        delete.send().await.map(|_| ()).map_err(unavailable)
    }

    /// One update, repeated while another transaction is in the way.
    pub(crate) async fn update(&self, key: &Key, change: Change) -> Result<(), Failed> {
        self.update_returning(key, change, ReturnValue::None)
            .await
            .map(|_| ())
    }

    /// The same, and what it made of the item.
    pub(crate) async fn update_returning(
        &self,
        key: &Key,
        change: Change,
        returned: ReturnValue,
    ) -> Result<Item, Failed> {
        for pause in 0..CONFLICT_TRIES {
            let update = self
                .client
                .update_item()
                .table_name(&self.table)
                .set_key(Some(key.attributes()))
                .update_expression(&change.update)
                .set_condition_expression(change.condition.clone())
                .set_expression_attribute_values(Some(change.values.clone()))
                .return_values_on_condition_check_failure(
                    ReturnValuesOnConditionCheckFailure::AllOld,
                )
                .return_values(returned.clone())
                .return_consumed_capacity(aws_sdk_dynamodb::types::ReturnConsumedCapacity::Total);
            match update.send().await.map_err(crate::errors::failed_update) {
                Ok(answer) => return Ok(answer.attributes.unwrap_or_default()),
                Err(Failed::Conflict) => before_retry(pause).await,
                Err(failed) => return Err(failed),
            }
        }
        Err(Failed::Conflict)
    }

    /// One conditional update; `false`: its condition did not hold.
    pub(crate) async fn update_if(&self, key: &Key, change: Change) -> Stored<bool> {
        match self.update(key, change).await {
            Ok(()) => Ok(true),
            Err(Failed::Condition(_)) => Ok(false),
            Err(failed) => Err(failed.into()),
        }
    }

    /// All parts or none, repeated while another transaction is in the way. When a
    /// condition fails: for each part the item that refused, `None` for one that did
    /// not refuse.
    pub(crate) async fn transact(
        &self,
        parts: Vec<TransactWriteItem>,
    ) -> Stored<Result<(), Vec<Option<Item>>>> {
        for pause in 0..CONFLICT_TRIES {
            let write = self
                .client
                .transact_write_items()
                .set_transact_items(Some(parts.clone()))
                .return_consumed_capacity(aws_sdk_dynamodb::types::ReturnConsumedCapacity::Total);
            let error = match write.send().await {
                Ok(_) => return Ok(Ok(())),
                Err(error) => error,
            };
            match cancellation(error) {
                Ok(reasons) => {
                    let refused = reasons
                        .into_iter()
                        .map(|r| {
                            let failed = r.code.as_deref() == Some(crate::errors::CONDITION_FAILED);
                            failed.then(|| r.item.unwrap_or_default())
                        })
                        .collect();
                    return Ok(Err(refused));
                }
                Err(Failed::Conflict) => before_retry(pause).await,
                Err(failed) => return Err(failed.into()),
            }
        }
        Err(Failed::Conflict.into())
    }
}
