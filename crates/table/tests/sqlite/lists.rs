//! Queries and scans.

use onsale_table::sqlite::{SqliteFile, SqliteTable};
use onsale_table::{
    Cursor, Index, Item, Key, PAGE_BYTES, Query, Reads, Row, Schema, Table, TableError, Update,
};

use crate::{NARROW, SCHEMA, WIDE, key, table, table_in};

fn list(partition: &str) -> Query<'_> {
    Query {
        index: None,
        partition,
        after: None,
        descending: false,
        limit: 1000,
        reads: Reads::Consistent,
    }
}

/// All rows of a list, read in pages of this size.
async fn walk(table: &SqliteTable, query: &Query<'_>, limit: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut query = Query {
        limit,
        ..query.clone()
    };
    loop {
        let page = table.query(&query).await.unwrap();
        assert!(page.rows.len() <= limit);
        rows.extend(page.rows);
        match page.next {
            None => return rows,
            next => query.after = next,
        }
    }
}

/// The sort keys of the items that an index lists.
pub async fn places(table: &SqliteTable, index: Index, partition: &str) -> Vec<String> {
    let index = Some(index);
    let query = Query {
        index,
        ..list(partition)
    };
    let rows = walk(table, &query, 1000).await;
    rows.into_iter()
        .map(|row| row.key.sk.into_owned())
        .collect()
}

fn names(rows: &[Row]) -> Vec<&str> {
    rows.iter().map(|row| &*row.key.sk).collect()
}

#[tokio::test]
async fn a_partition_is_listed_in_both_directions_in_pages_of_any_size() {
    let table = table().await;
    let all = ["a", "a\0", "aa", "b", "é", "z"];
    for sk in all.iter().rev() {
        table.put_new(&key(sk), Item::new()).await.unwrap();
    }
    table
        .put_new(&Key::new("PP", "x"), Item::new())
        .await
        .unwrap();
    let sorted = {
        let mut sorted = all;
        sorted.sort_unstable();
        sorted
    };
    for limit in [1, 2, 5, 6, 7, 101] {
        let up = walk(&table, &list("P"), limit).await;
        assert_eq!(names(&up), sorted);
        let query = Query {
            descending: true,
            ..list("P")
        };
        let down = walk(&table, &query, limit).await;
        let reversed: Vec<&str> = sorted.iter().rev().copied().collect();
        assert_eq!(names(&down), reversed);
    }
}

/// Four items at two places of both indexes.
async fn listed() -> SqliteTable {
    let table = table().await;
    for (n, place) in ["1", "1", "1", "2"].into_iter().enumerate() {
        let item = Item::new()
            .with("npk", "N")
            .with("nsk", place)
            .with("wpk", "W")
            .with("wsk", place)
            .with("other", n as u64);
        let key = Key::new(format!("P{n}"), format!("S{n}"));
        table.put_new(&key, item).await.unwrap();
    }
    table
}

#[tokio::test]
async fn items_at_one_place_of_an_index_are_told_apart_by_their_keys() {
    let table = listed().await;
    for index in [NARROW, WIDE] {
        let partition = if index == NARROW { "N" } else { "W" };
        for limit in 1..=5 {
            for descending in [false, true] {
                let query = Query {
                    index: Some(index),
                    descending,
                    ..list(partition)
                };
                let rows = walk(&table, &query, limit).await;
                let mut expected = ["S0", "S1", "S2", "S3"];
                if descending {
                    expected.reverse();
                }
                assert_eq!(names(&rows), expected, "{index:?} {limit} {descending}");
            }
        }
    }
}

#[tokio::test]
async fn a_cursor_without_a_key_is_beyond_everything_at_its_place() {
    let table = listed().await;
    for (place, descending, expected) in [
        ("1", false, vec!["S3"]),
        ("2", false, vec![]),
        ("2", true, vec!["S2", "S1", "S0"]),
        ("1", true, vec![]),
    ] {
        let query = Query {
            index: Some(WIDE),
            after: Some(Cursor::beyond(place)),
            descending,
            ..list("W")
        };
        assert_eq!(names(&walk(&table, &query, 10).await), expected);
    }
    let query = Query {
        after: Some(Cursor::beyond("S0")),
        ..list("P0")
    };
    assert!(walk(&table, &query, 10).await.is_empty());
}

#[tokio::test]
async fn an_index_returns_what_it_projects() {
    let table = listed().await;
    let rows = |index, partition| {
        let query = Query {
            index: Some(index),
            limit: 1,
            ..list(partition)
        };
        let table = &table;
        async move { table.query(&query).await.unwrap().rows }
    };
    let narrow = rows(NARROW, "N").await;
    assert_eq!(narrow[0].key, Key::new("P0", "S0"));
    assert_eq!(
        narrow[0].item,
        Item::new().with("npk", "N").with("nsk", "1")
    );
    assert_eq!(rows(WIDE, "W").await[0].item.number("other"), Some(0));
}

#[tokio::test]
async fn an_item_moves_in_an_index_with_its_attributes() {
    let table = table().await;
    let update = |sk: &str| Update::always().set("npk", "N").set("nsk", sk.to_owned());
    table.update(&key("a"), &update("2")).await.unwrap();
    table.update(&key("b"), &update("1")).await.unwrap();
    assert_eq!(places(&table, NARROW, "N").await, ["b", "a"]);
    table.update(&key("b"), &update("3")).await.unwrap();
    assert_eq!(places(&table, NARROW, "N").await, ["a", "b"]);
    let leaves = Update::always().remove("nsk");
    table.update(&key("a"), &leaves).await.unwrap();
    assert_eq!(places(&table, NARROW, "N").await, ["b"]);
    table.delete(&key("b")).await.unwrap();
    assert!(places(&table, NARROW, "N").await.is_empty());
}

#[tokio::test]
async fn a_page_ends_after_one_megabyte_of_items() {
    let table = table().await;
    for n in 0..8 {
        let item = Item::new().with("x", vec![0u8; 300 * 1024]);
        table.put_new(&key(&n.to_string()), item).await.unwrap();
    }
    let most = PAGE_BYTES.div_ceil(300 * 1024);
    let page = table.query(&list("P")).await.unwrap();
    assert_eq!(page.rows.len(), most);
    assert!(page.next.is_some());
    assert_eq!(table.scan(None, 1000).await.unwrap().len(), most);
    assert_eq!(walk(&table, &list("P"), 1000).await.len(), 8);
}

#[tokio::test]
async fn a_scan_has_every_item_once_in_the_order_of_the_keys() {
    let table = table().await;
    let mut keys: Vec<Key> = (0..25)
        .map(|n| Key::new(format!("P{}", n % 3), format!("{n:02}")))
        .collect();
    for key in &keys {
        table.put_new(key, Item::new()).await.unwrap();
    }
    keys.sort();
    for limit in [1, 7, 25, 1000] {
        let mut scanned: Vec<Key> = Vec::new();
        loop {
            let page = table.scan(scanned.last(), limit).await.unwrap();
            if page.is_empty() {
                break;
            }
            scanned.extend(page.into_iter().map(|row| row.key));
        }
        assert_eq!(scanned, keys);
    }
}

#[tokio::test]
async fn lists_that_no_engine_reads_are_refused() {
    let table = table().await;
    let unknown = Index {
        name: "unknown",
        ..WIDE
    };
    let no_rows = Query {
        limit: 0,
        ..list("P")
    };
    let no_index = Query {
        index: Some(unknown),
        ..list("P")
    };
    for query in [no_rows, no_index, list("")] {
        let refused = table.query(&query).await;
        assert!(matches!(refused, Err(TableError::Invalid(_))));
    }
    assert!(table.scan(None, 0).await.is_err());
}

#[tokio::test]
async fn a_file_that_was_written_for_other_indexes_is_listed_anew() {
    const NO_INDEXES: Schema = Schema {
        indexes: &[],
        forget_at: "other",
    };
    let file = SqliteFile::temporary().unwrap();
    let before = SqliteTable::open(file.clone(), NO_INDEXES).await.unwrap();
    for n in 0..1100u64 {
        let item = Item::new()
            .with("npk", "N")
            .with("nsk", format!("{:05}", 2000 - n))
            .with("forget_at", n);
        before
            .put_new(&key(&format!("{n:05}")), item)
            .await
            .unwrap();
    }
    assert_eq!(before.forget(5000, 10).await, Ok(0));
    let table = table_in(&file).await;
    let listed = places(&table, NARROW, "N").await;
    assert_eq!(listed.len(), 1100);
    assert_eq!(listed[0], "01099");
    assert_eq!(table.forget(100, 1000).await, Ok(100));
    // The same schema finds its own listing.
    let flushes = file.flushes();
    let _ = SqliteTable::open(file.clone(), SCHEMA).await.unwrap();
    assert_eq!(file.flushes(), flushes);
}
