//! Indexes: what is in them, what they show, and pages of items at one place.

use onsale_table::{Cursor, Index, Item, Key, Projection, Query, Row, Table, Update, Value};

use crate::engine::{
    NARROW, WIDE, is_invalid, is_invalid_write, key, list, on_every_engine, pages, put, sort_keys,
    stored,
};

on_every_engine!(
    a_narrow_index_shows_keys_and_a_wide_one_everything,
    an_item_is_in_an_index_only_with_both_attributes,
    an_item_leaves_an_index_with_its_attribute_and_when_deleted,
    an_item_moves_to_its_new_place_in_an_index,
    a_wide_index_shows_the_item_as_it_is_now,
    items_at_one_place_are_read_once_across_pages_in_both_directions,
    an_index_is_ordered_by_its_sort_key,
    a_cursor_of_an_index_stays_good_when_its_item_is_deleted_or_moved,
    a_cursor_of_an_index_without_a_key_is_beyond_all_at_its_place,
    a_key_of_an_index_that_is_no_text_or_empty_is_invalid,
    an_unknown_index_is_invalid,
    a_transaction_changes_indexes_too,
);

fn wide(pk: &str, sk: &str) -> Item {
    Item::new().with("wpk", pk).with("wsk", sk).with("n", 1u64)
}

async fn rows(table: &dyn Table, index: Index, partition: &str) -> Vec<Row> {
    pages(table, list(Some(index), partition, 100))
        .await
        .concat()
}

async fn keys(table: &dyn Table, index: Index, partition: &str) -> Vec<Key> {
    let rows = rows(table, index, partition).await;
    rows.into_iter().map(|row| row.key).collect()
}

async fn a_narrow_index_shows_keys_and_a_wide_one_everything(table: &dyn Table) {
    let at = key("A", "a");
    let item = wide("W", "1").with("npk", "N").with("nsk", "1");
    put(table, &at, item.clone()).await;
    let narrow = Row {
        key: at.clone(),
        item: Item::new().with("npk", "N").with("nsk", "1"),
    };
    assert_eq!(rows(table, NARROW, "N").await, [narrow]);
    assert_eq!(rows(table, WIDE, "W").await, [Row { key: at, item }]);
}

async fn an_item_is_in_an_index_only_with_both_attributes(table: &dyn Table) {
    put(table, &key("A", "a"), Item::new().with("wpk", "W")).await;
    put(table, &key("A", "b"), Item::new().with("wsk", "1")).await;
    assert!(rows(table, WIDE, "W").await.is_empty());
    let update = Update::always().set("wsk", "1");
    table.update(&key("A", "a"), &update).await.unwrap();
    assert_eq!(keys(table, WIDE, "W").await, [key("A", "a")]);
}

async fn an_item_leaves_an_index_with_its_attribute_and_when_deleted(table: &dyn Table) {
    for sk in ["a", "b", "c"] {
        put(table, &key("A", sk), wide("W", "1")).await;
    }
    let update = Update::always().remove("wsk");
    table.update(&key("A", "a"), &update).await.unwrap();
    table.delete(&key("A", "b")).await.unwrap();
    assert_eq!(keys(table, WIDE, "W").await, [key("A", "c")]);
    assert!(stored(table, &key("A", "a")).await.is_some());
}

async fn an_item_moves_to_its_new_place_in_an_index(table: &dyn Table) {
    let at = key("A", "a");
    put(table, &at, wide("W", "1")).await;
    let place = Update::always().set("wsk", "2");
    table.update(&at, &place).await.unwrap();
    let places: Vec<_> = rows(table, WIDE, "W").await;
    assert_eq!(places.len(), 1);
    assert_eq!(places[0].item.text("wsk"), Some("2"));
    let partition = Update::always().set("wpk", "V");
    table.update(&at, &partition).await.unwrap();
    assert!(rows(table, WIDE, "W").await.is_empty());
    assert_eq!(keys(table, WIDE, "V").await, [at]);
}

async fn a_wide_index_shows_the_item_as_it_is_now(table: &dyn Table) {
    let at = key("A", "a");
    put(table, &at, wide("W", "1")).await;
    table
        .update(&at, &Update::always().add("n", 1))
        .await
        .unwrap();
    assert_eq!(rows(table, WIDE, "W").await[0].item.number("n"), Some(2));
}

/// Nine items at three places.
async fn put_ties(table: &dyn Table) {
    for (n, sk) in ["a", "b", "c", "d", "e", "f", "g", "h", "i"]
        .iter()
        .enumerate()
    {
        let place = ["1", "2", "3"][n / 3];
        let partition = ["A", "B"][n % 2];
        put(table, &key(partition, sk), wide("W", place)).await;
    }
}

fn places(rows: &[Row]) -> Vec<&str> {
    rows.iter().filter_map(|row| row.item.text("wsk")).collect()
}

async fn items_at_one_place_are_read_once_across_pages_in_both_directions(table: &dyn Table) {
    put_ties(table).await;
    for limit in 1..=9 {
        for descending in [false, true] {
            let query = Query {
                descending,
                ..list(Some(WIDE), "W", limit)
            };
            let mut rows = pages(table, query).await.concat();
            if descending {
                rows.reverse();
            }
            assert!(places(&rows).is_sorted());
            let mut keys = sort_keys(&rows);
            keys.sort_unstable();
            assert_eq!(keys, ["a", "b", "c", "d", "e", "f", "g", "h", "i"]);
        }
    }
}

async fn an_index_is_ordered_by_its_sort_key(table: &dyn Table) {
    let order = ["1", "1\0", "10", "2", "é", "\u{ffff}", "\u{1d11e}"];
    for (n, place) in order.iter().enumerate() {
        // Keys in the opposite order, so that they cannot be what orders the index.
        put(table, &key("A", &format!("{}", 9 - n)), wide("W", place)).await;
    }
    assert_eq!(places(&rows(table, WIDE, "W").await), order);
}

async fn a_cursor_of_an_index_stays_good_when_its_item_is_deleted_or_moved(table: &dyn Table) {
    put_ties(table).await;
    for descending in [false, true] {
        for is_deleted in [false, true] {
            let query = Query {
                descending,
                ..list(Some(WIDE), "W", 2)
            };
            let all = pages(table, query.clone()).await.concat();
            let first = table.query(&query).await.unwrap();
            let last = first.rows[1].clone();
            match is_deleted {
                true => table.delete(&last.key).await.unwrap(),
                false => {
                    let away = Update::always().set("wpk", "elsewhere");
                    table.update(&last.key, &away).await.unwrap();
                }
            }
            let after = Query {
                after: first.next,
                ..query
            };
            let rest = pages(table, after).await.concat();
            assert_eq!(rest, all[2..]);
            table.delete(&last.key).await.unwrap();
            put(table, &last.key, last.item).await;
        }
    }
}

async fn a_cursor_of_an_index_without_a_key_is_beyond_all_at_its_place(table: &dyn Table) {
    put_ties(table).await;
    for (descending, expected) in [(false, "3"), (true, "1")] {
        let query = Query {
            after: Some(Cursor::beyond("2")),
            descending,
            ..list(Some(WIDE), "W", 2)
        };
        let rows = pages(table, query).await.concat();
        assert_eq!(places(&rows), [expected; 3]);
    }
}

async fn a_key_of_an_index_that_is_no_text_or_empty_is_invalid(table: &dyn Table) {
    let at = key("A", "a");
    let wrong = [Value::from(1u64), Value::from(vec![1u8]), Value::from("")];
    for value in wrong {
        for name in ["wpk", "wsk", "npk", "nsk"] {
            let item = Item::new().with(name, value.clone());
            assert!(is_invalid_write(&table.put_new(&at, item).await), "{name}");
            let update = Update::always().set(name, value.clone());
            assert!(is_invalid_write(&table.update(&at, &update).await));
        }
    }
    assert_eq!(stored(table, &at).await, None);
}

async fn an_unknown_index_is_invalid(table: &dyn Table) {
    let unknown = Index {
        name: "unknown",
        pk: "upk",
        sk: "usk",
        projection: Projection::All,
    };
    assert!(is_invalid(
        &table.query(&list(Some(unknown), "U", 10)).await
    ));
}

async fn a_transaction_changes_indexes_too(table: &dyn Table) {
    use onsale_table::Write;
    put(table, &key("A", "a"), wide("W", "1")).await;
    let refused = [
        Write::PutNew(key("A", "b"), wide("W", "2")),
        Write::PutNew(key("A", "a"), wide("W", "2")),
    ];
    table.transact(&refused).await.unwrap_err();
    assert_eq!(keys(table, WIDE, "W").await, [key("A", "a")]);
    let done = [
        Write::PutNew(key("A", "b"), wide("W", "2")),
        Write::Delete(key("A", "a"), None),
    ];
    table.transact(&done).await.unwrap();
    assert_eq!(keys(table, WIDE, "W").await, [key("A", "b")]);
}
