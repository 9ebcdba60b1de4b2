//! Transactions: several writes at one moment, all or none.

use aws_sdk_dynamodb::types::{
    Delete, Put, ReturnConsumedCapacity, ReturnValuesOnConditionCheckFailure, TransactWriteItem,
    Update as UpdatePart,
};
use onsale_table::{
    Condition, Item, Key, TableError, TransactFailed, Update, Write, check_transaction, units,
};

use super::DynamoTable;
use super::errors::{incomplete, transact_failed};
use super::expressions::{Expressions, IS_NEW};
use super::values::{item_attributes, key_attributes};

type Part = Result<TransactWriteItem, TableError>;

pub(super) async fn transact(table: &DynamoTable, parts: &[Write]) -> Result<(), TransactFailed> {
    check_transaction(parts)?;
    let parts: Result<Vec<_>, _> = parts.iter().map(|part| write_part(table, part)).collect();
    let transaction = table
        .client
        .transact_write_items()
        .set_transact_items(Some(parts?))
        .return_consumed_capacity(ReturnConsumedCapacity::Total);
    transaction
        .send()
        .await
        .map(|_| ())
        .map_err(transact_failed)
}

fn write_part(table: &DynamoTable, write: &Write) -> Part {
    match write {
        Write::PutNew(key, item) => put_part(table, key, item),
        Write::Update(key, update) => update_part(table, key, update),
        Write::Delete(key, condition) => delete_part(table, key, condition.as_ref()),
        Write::Send(_) => Err(TableError::Invalid("a message in a transaction".to_owned())),
    }
}

fn put_part(table: &DynamoTable, key: &Key, item: &Item) -> Part {
    units::check_item(key, item)?;
    let put = Put::builder()
        .table_name(&table.name)
        .set_item(Some(item_attributes(key, item.clone())))
        .condition_expression(IS_NEW)
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
        .build()
        .map_err(incomplete)?;
    Ok(TransactWriteItem::builder().put(put).build())
}

fn update_part(table: &DynamoTable, key: &Key, update: &Update) -> Part {
    let expressions = Expressions::of_update(update);
    let update = UpdatePart::builder()
        .table_name(&table.name)
        .set_key(Some(key_attributes(key)))
        .set_update_expression(expressions.update)
        .set_condition_expression(expressions.condition)
        .set_expression_attribute_names(expressions.names)
        .set_expression_attribute_values(expressions.values)
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
        .build()
        .map_err(incomplete)?;
    Ok(TransactWriteItem::builder().update(update).build())
}

fn delete_part(table: &DynamoTable, key: &Key, condition: Option<&Condition>) -> Part {
    let expressions = Expressions::of_condition(condition);
    let delete = Delete::builder()
        .table_name(&table.name)
        .set_key(Some(key_attributes(key)))
        .set_condition_expression(expressions.condition)
        .set_expression_attribute_names(expressions.names)
        .set_expression_attribute_values(expressions.values)
        .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
        .build()
        .map_err(incomplete)?;
    Ok(TransactWriteItem::builder().delete(delete).build())
}
