//! Transactions: all parts or none.

use onsale_table::{
    Condition, Item, TRANSACTION_PARTS, Table, TableError, TransactFailed, Update, Write,
};

use crate::engine::{key, on_every_engine, put, stored};

on_every_engine!(
    all_parts_take_place,
    a_refusal_reports_each_part_and_writes_nothing,
    deleting_nothing_in_a_transaction_is_no_refusal,
    a_mistake_in_one_part_is_reported_instead_of_refusals,
    two_parts_on_one_key_are_invalid,
    a_transaction_has_at_most_a_hundred_parts,
    a_transaction_without_parts_is_invalid,
    a_message_is_no_part_of_a_transaction,
    an_update_of_nothing_is_no_part_of_a_transaction,
);

fn is_invalid(result: &Result<(), TransactFailed>) -> bool {
    matches!(result, Err(TransactFailed::Error(TableError::Invalid(_))))
}

fn number(n: u64) -> Item {
    Item::new().with("n", n)
}

fn many(parts: usize) -> Vec<Write> {
    let part = |n| Write::PutNew(key("A", &format!("{n:03}")), Item::new());
    (0..parts).map(part).collect()
}

async fn all_parts_take_place(table: &dyn Table) {
    put(table, &key("A", "updated"), number(1)).await;
    put(table, &key("A", "deleted"), number(1)).await;
    let parts = [
        Write::PutNew(key("A", "put"), number(1)),
        Write::Update(
            key("A", "updated"),
            Update::when(Condition::equal("n", 1u64)).add("n", 1),
        ),
        Write::Delete(key("A", "deleted"), Some(Condition::Exists)),
    ];
    table.transact(&parts).await.unwrap();
    assert_eq!(stored(table, &key("A", "put")).await, Some(number(1)));
    assert_eq!(stored(table, &key("A", "updated")).await, Some(number(2)));
    assert_eq!(stored(table, &key("A", "deleted")).await, None);
}

async fn a_refusal_reports_each_part_and_writes_nothing(table: &dyn Table) {
    put(table, &key("A", "there"), number(1)).await;
    put(table, &key("A", "other"), number(2)).await;
    let parts = [
        Write::PutNew(key("A", "new"), number(9)),
        Write::PutNew(key("A", "there"), number(9)),
        Write::Update(
            key("A", "gone"),
            Update::when(Condition::Exists).add("n", 1),
        ),
        Write::Update(key("A", "other"), Update::always().set("n", 9u64)),
        Write::Delete(key("A", "lost"), Some(Condition::Exists)),
    ];
    let reports = vec![None, Some(Some(number(1))), Some(None), None, Some(None)];
    assert_eq!(
        table.transact(&parts).await,
        Err(TransactFailed::Refused(reports))
    );
    assert_eq!(stored(table, &key("A", "new")).await, None);
    assert_eq!(stored(table, &key("A", "there")).await, Some(number(1)));
    assert_eq!(stored(table, &key("A", "other")).await, Some(number(2)));
}

async fn deleting_nothing_in_a_transaction_is_no_refusal(table: &dyn Table) {
    let parts = [
        Write::Delete(key("A", "gone"), None),
        Write::Delete(key("A", "lost"), Some(Condition::lacks("n"))),
    ];
    table.transact(&parts).await.unwrap();
}

async fn a_mistake_in_one_part_is_reported_instead_of_refusals(table: &dyn Table) {
    put(table, &key("A", "there"), Item::new().with("t", "text")).await;
    put(table, &key("A", "also"), Item::new()).await;
    let misfit = Write::Update(key("A", "there"), Update::always().add("t", 1));
    let refused = Write::PutNew(key("A", "also"), Item::new());
    for parts in [[misfit.clone(), refused.clone()], [refused, misfit]] {
        assert!(is_invalid(&table.transact(&parts).await));
    }
}

async fn two_parts_on_one_key_are_invalid(table: &dyn Table) {
    let parts = [
        Write::PutNew(key("A", "a"), Item::new()),
        Write::PutNew(key("A", "b"), Item::new()),
        Write::Update(key("A", "a"), Update::always().set("n", 1u64)),
    ];
    assert!(is_invalid(&table.transact(&parts).await));
    assert_eq!(stored(table, &key("A", "b")).await, None);
}

async fn a_transaction_has_at_most_a_hundred_parts(table: &dyn Table) {
    let too_many = table.transact(&many(TRANSACTION_PARTS + 1)).await;
    assert!(is_invalid(&too_many));
    assert_eq!(stored(table, &key("A", "000")).await, None);
    table.transact(&many(TRANSACTION_PARTS)).await.unwrap();
    assert!(stored(table, &key("A", "099")).await.is_some());
}

async fn a_transaction_without_parts_is_invalid(table: &dyn Table) {
    assert!(is_invalid(&table.transact(&[]).await));
}

async fn a_message_is_no_part_of_a_transaction(table: &dyn Table) {
    let parts = [
        Write::PutNew(key("A", "a"), Item::new()),
        Write::Send(crate::messages::message("hello")),
    ];
    assert!(is_invalid(&table.transact(&parts).await));
    assert_eq!(stored(table, &key("A", "a")).await, None);
}

async fn an_update_of_nothing_is_no_part_of_a_transaction(table: &dyn Table) {
    let nothing = Write::Update(key("A", "a"), Update::when(Condition::New));
    assert!(is_invalid(&table.transact(&[nothing]).await));
    assert_eq!(stored(table, &key("A", "a")).await, None);
}
