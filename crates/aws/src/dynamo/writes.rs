//! Writes of one item, alone or one after the other.

use aws_sdk_dynamodb::types::{
    ReturnConsumedCapacity, ReturnValue, ReturnValuesOnConditionCheckFailure,
};
use onsale_table::{
    Condition, Failed, Item, Key, Limits, Message, Queue, Stopped, TableError, Update, Write, units,
};

use super::DynamoTable;
use super::errors::failed;
use super::expressions::{Expressions, IS_NEW};
use super::values::{Attributes, item_attributes, key_attributes};

pub(super) async fn put_new(table: &DynamoTable, key: &Key, item: Item) -> Result<(), Failed> {
    units::check_item(key, &item)?;
    let put = table
        .client
        .put_item()
        .table_name(&table.name)
        .set_item(Some(item_attributes(key, item)))
        .condition_expression(IS_NEW)
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
        .return_consumed_capacity(ReturnConsumedCapacity::Total);
    put.send().await.map(|_| ()).map_err(failed)
}

/// Returns what DynamoDB was asked to return of the item.
pub(super) async fn update(
    table: &DynamoTable,
    key: &Key,
    update: &Update,
    returned: ReturnValue,
) -> Result<Attributes, Failed> {
    let expressions = Expressions::of_update(update);
    let update = table
        .client
        .update_item()
        .table_name(&table.name)
        .set_key(Some(key_attributes(key)))
        .set_update_expression(expressions.update)
        .set_condition_expression(expressions.condition)
        .set_expression_attribute_names(expressions.names)
        .set_expression_attribute_values(expressions.values)
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
        .return_values(returned)
        .return_consumed_capacity(ReturnConsumedCapacity::Total);
    let answer = update.send().await.map_err(failed)?;
    Ok(answer.attributes.unwrap_or_default())
}

pub(super) async fn delete(
    table: &DynamoTable,
    key: &Key,
    condition: Option<&Condition>,
) -> Result<(), Failed> {
    let expressions = Expressions::of_condition(condition);
    let delete = table
        .client
        .delete_item()
        .table_name(&table.name)
        .set_key(Some(key_attributes(key)))
        .set_condition_expression(expressions.condition)
        .set_expression_attribute_names(expressions.names)
        .set_expression_attribute_values(expressions.values)
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld);
    delete.send().await.map(|_| ()).map_err(failed)
}

pub(super) async fn in_order(table: &DynamoTable, writes: &[Write]) -> Result<(), Stopped> {
    let queue = table.queue.as_deref();
    // The order is checked before the first write, so a mistake in it stops at 0: nothing was done.
    check_order(writes, queue.is_some()).map_err(|error| Stopped {
        at: 0,
        why: error.into(),
    })?;
    for (at, write) in writes.iter().enumerate() {
        let done = one_write(table, queue, write).await;
        done.map_err(|why| Stopped { at, why })?;
    }
    Ok(())
}

async fn one_write(
    table: &DynamoTable,
    queue: Option<&dyn Queue>,
    write: &Write,
) -> Result<(), Failed> {
    match (write, queue) {
        (Write::PutNew(key, item), _) => put_new(table, key, item.clone()).await,
        (Write::Update(key, change), _) => update(table, key, change, ReturnValue::None)
            .await
            .map(|_| ()),
        (Write::Delete(key, condition), _) => delete(table, key, condition.as_ref()).await,
        (Write::Send(message), Some(queue)) => Ok(queue.send(message).await?),
        (Write::Send(_), None) => Err(no_queue().into()),
    }
}

fn no_queue() -> TableError {
    TableError::Invalid("a message for a table without a queue".to_owned())
}

fn check_order(writes: &[Write], has_queue: bool) -> Result<(), TableError> {
    let Some((last, earlier)) = writes.split_last() else {
        return Ok(());
    };
    if earlier.iter().any(|write| matches!(write, Write::Send(_))) {
        return Err(TableError::Invalid(
            "a message before other writes".to_owned(),
        ));
    }
    match last {
        Write::Send(_) if !has_queue => Err(no_queue()),
        Write::Send(message) => check_delay(message),
        _ => Ok(()),
    }
}

fn check_delay(message: &Message) -> Result<(), TableError> {
    if message.delay_s > Limits::DELAY_S {
        return Err(TableError::Invalid(format!(
            "a delay of {} s is longer than a queue takes",
            message.delay_s
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn send(delay_s: u32) -> Write {
        Write::Send(Message {
            queue: "expire-holds",
            body: "{}".to_owned(),
            attributes: Vec::new(),
            delay_s,
        })
    }

    #[test]
    fn a_message_is_the_last_of_several_writes() {
        let delete = Write::Delete(Key::new("ORD#1", "ORD"), None);
        assert_eq!(check_order(&[], false), Ok(()));
        assert_eq!(check_order(&[delete.clone(), send(0)], true), Ok(()));
        assert!(check_order(&[send(0), delete.clone()], true).is_err());
        assert!(check_order(&[send(0), send(0)], true).is_err());
        assert!(check_order(&[delete, send(0)], false).is_err());
        assert!(check_order(&[send(Limits::DELAY_S + 1)], true).is_err());
    }
}
