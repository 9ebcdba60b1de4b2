//! What single writes and reads do.

use std::collections::BTreeSet;

use onsale_table::{Item, Key, Reads, Table, Update, Value};

use crate::engine::{is_invalid_write, key, on_every_engine, put, stored};

on_every_engine!(
    every_kind_of_value_is_read_as_it_was_stored,
    keys_that_differ_only_in_their_border_are_different,
    each_action_changes_its_attribute,
    an_update_creates_an_item_and_returns_it,
    an_update_without_actions_creates_an_empty_item,
    an_action_that_does_not_fit_is_invalid_and_writes_nothing,
    an_update_that_names_an_attribute_twice_is_invalid,
    an_empty_set_is_not_stored,
    deleting_what_is_not_there_is_done,
    a_batch_has_what_exists_and_nothing_unprocessed,
    items_are_forgotten_after_their_time,
);

fn set(elements: &[&str]) -> BTreeSet<String> {
    elements.iter().map(|e| (*e).to_owned()).collect()
}

async fn every_kind_of_value_is_read_as_it_was_stored(table: &dyn Table) {
    let item = Item::new()
        .with("text", "Größe \u{1d11e}")
        .with("empty", "")
        .with("zero\0inside", "a\0b")
        .with("small", i64::MIN)
        .with("large", u64::MAX)
        .with("bytes", (0..=255).collect::<Vec<u8>>())
        .with("no bytes", Vec::new())
        .with("set", Value::Texts(set(&["one", "", "Zwölf"])));
    let key = key("A#1", "a");
    put(table, &key, item.clone()).await;
    assert_eq!(stored(table, &key).await, Some(item.clone()));
    assert_eq!(table.get(&key, Reads::Eventual).await, Ok(Some(item)));
}

async fn keys_that_differ_only_in_their_border_are_different(table: &dyn Table) {
    let keys = [
        key("a", "bc"),
        key("ab", "c"),
        key("a\0b", "c"),
        key("a", "b\0c"),
    ];
    for (n, key) in (0u64..).zip(&keys) {
        put(table, key, Item::new().with("n", n)).await;
    }
    for (n, key) in (0u64..).zip(&keys) {
        assert_eq!(stored(table, key).await, Some(Item::new().with("n", n)));
    }
}

async fn each_action_changes_its_attribute(table: &dyn Table) {
    let key = key("A#1", "a");
    let before = Item::new()
        .with("set", 1u64)
        .with("kept", "old")
        .with("added", 5u64)
        .with("elements", Value::Texts(set(&["one"])))
        .with("removed", "x")
        .with("untouched", "x");
    put(table, &key, before).await;
    let update = Update::always()
        .set("set", "of another kind")
        .set_if_missing("kept", "new")
        .set_if_missing("new", "new")
        .add("added", -7)
        .add("from zero", 3)
        .insert("elements", "two")
        .insert("from nothing", "one")
        .remove("removed")
        .remove("never there");
    table.update(&key, &update).await.unwrap();
    let after = Item::new()
        .with("set", "of another kind")
        .with("kept", "old")
        .with("new", "new")
        .with("added", -2i64)
        .with("from zero", 3u64)
        .with("elements", Value::Texts(set(&["one", "two"])))
        .with("from nothing", Value::Texts(set(&["one"])))
        .with("untouched", "x");
    assert_eq!(stored(table, &key).await, Some(after));
}

async fn an_update_creates_an_item_and_returns_it(table: &dyn Table) {
    let key = key("A#1", "a");
    let update = Update::always().add("n", 1);
    let first = table.update_returning(&key, &update).await;
    assert_eq!(first, Ok(Item::new().with("n", 1u64)));
    let second = table.update_returning(&key, &update).await;
    assert_eq!(second, Ok(Item::new().with("n", 2u64)));
    assert_eq!(stored(table, &key).await, Some(Item::new().with("n", 2u64)));
}

async fn an_update_without_actions_creates_an_empty_item(table: &dyn Table) {
    let key = key("A#1", "a");
    table.update(&key, &Update::always()).await.unwrap();
    assert_eq!(stored(table, &key).await, Some(Item::new()));
}

async fn an_action_that_does_not_fit_is_invalid_and_writes_nothing(table: &dyn Table) {
    let key = key("A#1", "a");
    let item = Item::new().with("t", "text").with("n", 1u64);
    put(table, &key, item.clone()).await;
    for misfit in [
        Update::always().set("n", 2u64).add("t", 1),
        Update::always().set("t", "other").insert("n", "one"),
    ] {
        assert!(is_invalid_write(&table.update(&key, &misfit).await));
    }
    assert_eq!(stored(table, &key).await, Some(item));
}

async fn an_update_that_names_an_attribute_twice_is_invalid(table: &dyn Table) {
    let key = key("A#1", "a");
    let twice = Update::always().set("n", 1u64).add("n", 1);
    assert!(is_invalid_write(&table.update(&key, &twice).await));
    assert_eq!(stored(table, &key).await, None);
}

async fn an_empty_set_is_not_stored(table: &dyn Table) {
    let (put_key, updated) = (key("A#1", "a"), key("A#1", "b"));
    let empty = || Value::Texts(BTreeSet::new());
    put(
        table,
        &put_key,
        Item::new().with("s", empty()).with("n", 1u64),
    )
    .await;
    assert_eq!(
        stored(table, &put_key).await,
        Some(Item::new().with("n", 1u64))
    );

    put(
        table,
        &updated,
        Item::new().with("s", Value::Texts(set(&["one"]))),
    )
    .await;
    let emptied = Update::always().set("s", empty());
    let returned = table.update_returning(&updated, &emptied).await;
    assert_eq!(returned, Ok(Item::new()));
    assert_eq!(stored(table, &updated).await, Some(Item::new()));
}

async fn deleting_what_is_not_there_is_done(table: &dyn Table) {
    let key = key("A#1", "a");
    table.delete(&key).await.unwrap();
    put(table, &key, Item::new()).await;
    table.delete(&key).await.unwrap();
    assert_eq!(stored(table, &key).await, None);
    put(table, &key, Item::new()).await;
}

async fn a_batch_has_what_exists_and_nothing_unprocessed(table: &dyn Table) {
    let there = [key("A#1", "a"), key("A#1", "b"), key("B", "a")];
    for key in &there {
        put(table, key, Item::new().with("of", &*key.sk)).await;
    }
    let asked = [&there[..], &[key("B", "gone")]].concat();
    let batch = table.get_many(&asked, Reads::Consistent).await.unwrap();
    assert!(batch.unprocessed.is_empty());
    let mut found: Vec<Key> = batch.rows.iter().map(|row| row.key.clone()).collect();
    found.sort();
    assert_eq!(found, there);
    for row in batch.rows {
        assert_eq!(row.item.text("of"), Some(&*row.key.sk));
    }
}

async fn items_are_forgotten_after_their_time(table: &dyn Table) {
    let at = |n: u64| Item::new().with("forget_at", n);
    for (sk, item) in [("a", at(1)), ("b", at(10)), ("c", at(11)), ("d", at(2))] {
        put(table, &key("A", sk), item).await;
    }
    put(table, &key("A", "never"), Item::new()).await;
    let text = Item::new().with("forget_at", "1");
    put(table, &key("A", "text"), text).await;

    assert_eq!(table.forget(11, 2).await, Ok(2));
    assert_eq!(table.forget(11, 2).await, Ok(1));
    assert_eq!(table.forget(11, 2).await, Ok(0));
    assert!(stored(table, &key("A", "c")).await.is_some());
    assert!(stored(table, &key("A", "never")).await.is_some());
    assert!(stored(table, &key("A", "text")).await.is_some());
}
