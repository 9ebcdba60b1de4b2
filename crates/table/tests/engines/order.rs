//! Writes in order, up to the first that does not take place.

use onsale_table::{Condition, Failed, Item, Stopped, Table, TableError, Update, Write};

use crate::engine::{key, on_every_engine, put, stored};

on_every_engine!(
    writes_in_order_all_take_place,
    one_item_may_be_written_twice_in_order,
    writes_in_order_stop_at_a_refusal_and_keep_the_earlier_ones,
    writes_in_order_stop_at_a_mistake_and_keep_the_earlier_ones,
    no_writes_in_order_are_done,
    a_message_that_is_not_last_stops_before_the_first_write,
);

fn number(n: u64) -> Item {
    Item::new().with("n", n)
}

async fn writes_in_order_all_take_place(table: &dyn Table) {
    put(table, &key("A", "deleted"), number(1)).await;
    let writes = [
        Write::PutNew(key("A", "put"), number(1)),
        Write::Update(key("A", "updated"), Update::always().add("n", 2)),
        Write::Delete(key("A", "deleted"), Some(Condition::equal("n", 1u64))),
        Write::Delete(key("A", "gone"), None),
    ];
    table.in_order(&writes).await.unwrap();
    assert_eq!(stored(table, &key("A", "put")).await, Some(number(1)));
    assert_eq!(stored(table, &key("A", "updated")).await, Some(number(2)));
    assert_eq!(stored(table, &key("A", "deleted")).await, None);
}

async fn one_item_may_be_written_twice_in_order(table: &dyn Table) {
    let at = key("A", "a");
    let add = Update::when(Condition::Exists).add("n", 1);
    let writes = [
        Write::PutNew(at.clone(), number(1)),
        Write::Update(at.clone(), add.clone()),
        Write::Update(at.clone(), add),
    ];
    table.in_order(&writes).await.unwrap();
    assert_eq!(stored(table, &at).await, Some(number(3)));
}

async fn writes_in_order_stop_at_a_refusal_and_keep_the_earlier_ones(table: &dyn Table) {
    put(table, &key("A", "there"), number(7)).await;
    let writes = [
        Write::PutNew(key("A", "before"), number(1)),
        Write::Delete(key("A", "there"), Some(Condition::equal("n", 8u64))),
        Write::PutNew(key("A", "after"), number(1)),
    ];
    let stopped = Stopped {
        at: 1,
        why: Failed::Refused(Some(number(7))),
    };
    assert_eq!(table.in_order(&writes).await, Err(stopped));
    assert_eq!(stored(table, &key("A", "before")).await, Some(number(1)));
    assert_eq!(stored(table, &key("A", "there")).await, Some(number(7)));
    assert_eq!(stored(table, &key("A", "after")).await, None);
}

async fn writes_in_order_stop_at_a_mistake_and_keep_the_earlier_ones(table: &dyn Table) {
    let writes = [
        Write::PutNew(key("A", "a"), Item::new().with("t", "text")),
        Write::Update(key("A", "a"), Update::always().add("t", 1)),
    ];
    let stopped = table.in_order(&writes).await.unwrap_err();
    assert_eq!(stopped.at, 1);
    assert!(matches!(stopped.why, Failed::Error(TableError::Invalid(_))));
    assert!(stored(table, &key("A", "a")).await.is_some());
}

async fn no_writes_in_order_are_done(table: &dyn Table) {
    assert_eq!(table.in_order(&[]).await, Ok(()));
}

async fn a_message_that_is_not_last_stops_before_the_first_write(table: &dyn Table) {
    let writes = [
        Write::PutNew(key("A", "a"), Item::new()),
        Write::Send(crate::messages::message("hello")),
        Write::PutNew(key("A", "b"), Item::new()),
    ];
    let stopped = table.in_order(&writes).await.unwrap_err();
    assert!(matches!(stopped.why, Failed::Error(TableError::Invalid(_))));
    assert_eq!(stopped.at, 0);
    assert_eq!(stored(table, &key("A", "a")).await, None);
}
