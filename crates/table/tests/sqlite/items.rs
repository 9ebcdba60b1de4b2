//! Single items.

use std::collections::BTreeSet;

use onsale_table::{
    Batch, Condition, Failed, Item, Key, Limits, Reads, Row, Table, TableError, Update, Value,
};

use crate::{key, read, table};

#[tokio::test]
async fn an_item_that_was_put_is_read_as_it_was() {
    let table = table().await;
    let mut item = Item::new()
        .with("text", "Zoë\0x")
        .with("number", u64::MAX)
        .with("bytes", vec![0u8, 1, 255]);
    item.set("texts", Value::Texts(BTreeSet::from(["a".to_owned()])));
    table.put_new(&key("a"), item.clone()).await.unwrap();
    assert_eq!(read(&table, &key("a")).await, Some(item));
    assert_eq!(read(&table, &key("b")).await, None);
}

#[tokio::test]
async fn a_put_is_refused_by_the_item_that_is_there() {
    let table = table().await;
    let first = Item::new().with("n", 1u64);
    table.put_new(&key("a"), first.clone()).await.unwrap();
    let again = table.put_new(&key("a"), Item::new().with("n", 2u64)).await;
    assert_eq!(again, Err(Failed::Refused(Some(first.clone()))));
    assert_eq!(read(&table, &key("a")).await, Some(first));
}

#[tokio::test]
async fn an_update_takes_place_only_while_its_condition_holds() {
    let table = table().await;
    let update = Update::when(Condition::lacks("n").or(Condition::below("n", 2u64))).add("n", 1);
    for n in 1..=2u64 {
        let item = table.update_returning(&key("a"), &update).await;
        assert_eq!(item, Ok(Item::new().with("n", n)));
    }
    let refused = table.update(&key("a"), &update).await;
    assert_eq!(
        refused,
        Err(Failed::Refused(Some(Item::new().with("n", 2u64))))
    );
    let exists = Update::when(Condition::Exists).set("x", "y");
    let refused = table.update(&key("b"), &exists).await;
    assert_eq!(refused, Err(Failed::Refused(None)));
}

#[tokio::test]
async fn a_deleted_item_is_gone_and_deleting_it_again_is_done() {
    let table = table().await;
    table.put_new(&key("a"), Item::new()).await.unwrap();
    for _ in 0..2 {
        table.delete(&key("a")).await.unwrap();
        assert_eq!(read(&table, &key("a")).await, None);
    }
}

#[tokio::test]
async fn a_batch_has_the_items_that_exist_whatever_its_size() {
    let table = table().await;
    for n in 0..50 {
        let item = Item::new().with("n", n as u64);
        table.put_new(&key(&format!("{n:03}")), item).await.unwrap();
    }
    for size in [0, 1, 16, 17, 100] {
        let keys: Vec<Key> = (0..size).map(|n| key(&format!("{n:03}"))).collect();
        let batch = table.get_many(&keys, Reads::Eventual).await.unwrap();
        let row = |n: usize| Row {
            key: key(&format!("{n:03}")),
            item: Item::new().with("n", n as u64),
        };
        let expected = Batch {
            rows: (0..size.min(50)).map(row).collect(),
            unprocessed: Vec::new(),
        };
        assert_eq!(batch, expected);
    }
}

#[tokio::test]
async fn an_empty_set_is_not_stored() {
    let table = table().await;
    let none = Value::Texts(BTreeSet::new());
    let item = Item::new().with("a", 1u64).with("none", none.clone());
    table.put_new(&key("a"), item).await.unwrap();
    let stored = Item::new().with("a", 1u64);
    assert_eq!(read(&table, &key("a")).await, Some(stored.clone()));
    let update = Update::always().set("none", none);
    let left = table.update_returning(&key("a"), &update).await;
    assert_eq!(left, Ok(stored));
}

fn is_invalid<T>(result: Result<T, Failed>) -> bool {
    matches!(result, Err(Failed::Error(TableError::Invalid(_))))
}

#[tokio::test]
async fn what_no_engine_takes_is_refused_as_invalid() {
    let table = table().await;
    let too_large = Item::new().with("x", vec![0u8; Limits::ITEM_BYTES]);
    assert!(is_invalid(table.put_new(&key("a"), too_large).await));
    assert!(is_invalid(table.put_new(&key(""), Item::new()).await));
    let half = vec![0u8; Limits::ITEM_BYTES / 2];
    table
        .put_new(&key("a"), Item::new().with("x", half.clone()))
        .await
        .unwrap();
    let grows = Update::always().set("y", half);
    assert!(is_invalid(table.update(&key("a"), &grows).await));
    let misfit = Update::always().add("x", 1);
    assert!(is_invalid(table.update(&key("a"), &misfit).await));
    let twice = Update::always().set("b", 1u64).remove("b");
    assert!(is_invalid(table.update(&key("a"), &twice).await));
    assert!(
        table
            .get(&Key::new("", "x"), Reads::Eventual)
            .await
            .is_err()
    );
    assert!(table.delete(&Key::new("", "x")).await.is_err());
}

#[tokio::test]
async fn a_batch_with_too_many_keys_or_one_twice_is_refused() {
    let table = table().await;
    let many: Vec<Key> = (0..101).map(|n| key(&n.to_string())).collect();
    for keys in [many, vec![key("a"), key("b"), key("a")]] {
        let batch = table.get_many(&keys, Reads::Eventual).await;
        assert!(matches!(batch, Err(TableError::Invalid(_))));
    }
}

#[tokio::test]
async fn a_key_of_an_index_that_is_no_text_or_empty_is_refused() {
    let table = table().await;
    for value in [Value::from(7u64), Value::from("")] {
        let item = Item::new().with("npk", value.clone());
        assert!(is_invalid(table.put_new(&key("a"), item).await));
        let update = Update::always().set("wsk", value);
        assert!(is_invalid(table.update(&key("a"), &update).await));
    }
    assert_eq!(read(&table, &key("a")).await, None);
}

#[tokio::test]
async fn items_are_forgotten_after_their_time_and_not_at_it() {
    let table = table().await;
    for (sk, at) in [("a", 10u64), ("b", 11), ("c", 12)] {
        let item = Item::new().with("forget_at", at).with("npk", "N");
        table.put_new(&key(sk), item.with("nsk", sk)).await.unwrap();
    }
    table.put_new(&key("d"), Item::new()).await.unwrap();
    let renewed = Update::always().set("forget_at", 99u64);
    table.update(&key("b"), &renewed).await.unwrap();
    let kept = Update::always().remove("forget_at");
    table.update(&key("c"), &kept).await.unwrap();

    assert_eq!(table.forget(10, 100).await, Ok(0));
    assert_eq!(table.forget(50, 100).await, Ok(1));
    assert_eq!(read(&table, &key("a")).await, None);
    assert_eq!(table.forget(100, 0).await, Ok(0));
    assert_eq!(table.forget(u64::MAX, 100).await, Ok(1));
    let left = table.scan(None, 100).await.unwrap();
    let left: Vec<&str> = left.iter().map(|row| &*row.key.sk).collect();
    assert_eq!(left, ["c", "d"]);
    assert_eq!(
        crate::lists::places(&table, crate::NARROW, "N").await,
        ["c"]
    );
}
