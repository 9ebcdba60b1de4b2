//! Pages of a partition of the table, and scans.

use onsale_table::{Cursor, Item, Key, Query, Table};

use crate::engine::{key, list, on_every_engine, pages, put, sort_keys};

on_every_engine!(
    a_partition_is_read_in_the_order_of_its_sort_keys,
    a_partition_is_read_page_by_page_in_both_directions,
    a_partition_that_is_not_there_has_no_rows,
    a_partition_does_not_reach_into_its_neighbours,
    a_cursor_stays_good_when_its_item_is_deleted,
    a_cursor_without_a_key_is_beyond_its_place,
    a_scan_reads_every_item_once,
    a_scan_goes_on_after_a_key_that_was_deleted,
);

const SORT_KEYS: [&str; 7] = ["a", "a\0", "aa", "b", "é", "\u{ffff}", "\u{1d11e}"];

async fn put_all(table: &dyn Table, partition: &str) {
    for sk in SORT_KEYS.iter().rev() {
        let item = Item::new().with("of", *sk);
        put(table, &key(partition, sk), item).await;
    }
}

fn down(query: Query<'_>) -> Query<'_> {
    Query {
        descending: true,
        ..query
    }
}

fn reversed() -> Vec<&'static str> {
    SORT_KEYS.iter().rev().copied().collect()
}

async fn a_partition_is_read_in_the_order_of_its_sort_keys(table: &dyn Table) {
    put_all(table, "A").await;
    let up = table.query(&list(None, "A", 100)).await.unwrap();
    assert_eq!(sort_keys(&up.rows), SORT_KEYS);
    assert_eq!(up.next, None);
    assert!(up.rows.iter().all(|row| row.key.pk == "A"));
    assert!(
        up.rows
            .iter()
            .all(|row| row.item.text("of") == Some(&*row.key.sk))
    );
    let down = table.query(&down(list(None, "A", 100))).await.unwrap();
    assert_eq!(sort_keys(&down.rows), reversed());
}

async fn a_partition_is_read_page_by_page_in_both_directions(table: &dyn Table) {
    put_all(table, "A").await;
    for limit in 1..=SORT_KEYS.len() {
        let up = pages(table, list(None, "A", limit)).await;
        assert!(up.iter().all(|page| page.len() <= limit));
        assert_eq!(sort_keys(&up.concat()), SORT_KEYS);
        let down = pages(table, down(list(None, "A", limit))).await;
        assert_eq!(sort_keys(&down.concat()), reversed());
    }
}

async fn a_partition_that_is_not_there_has_no_rows(table: &dyn Table) {
    put_all(table, "A").await;
    let page = table.query(&list(None, "B", 10)).await.unwrap();
    assert_eq!((page.rows, page.next), (Vec::new(), None));
}

async fn a_partition_does_not_reach_into_its_neighbours(table: &dyn Table) {
    for partition in ["A", "A\0", "A#", "B", "@"] {
        put(table, &key(partition, "x"), Item::new()).await;
    }
    for query in [list(None, "A", 10), down(list(None, "A", 10))] {
        let page = table.query(&query).await.unwrap();
        assert_eq!(page.rows.len(), 1);
        assert_eq!(page.rows[0].key, key("A", "x"));
    }
}

async fn a_cursor_stays_good_when_its_item_is_deleted(table: &dyn Table) {
    put_all(table, "A").await;
    for (query, rest) in [
        (list(None, "A", 3), &SORT_KEYS[3..]),
        (down(list(None, "A", 3)), &reversed()[3..]),
    ] {
        let first = table.query(&query).await.unwrap();
        let last = first.rows[2].key.clone();
        table.delete(&last).await.unwrap();
        let after = Query {
            after: first.next,
            ..query
        };
        assert_eq!(sort_keys(&pages(table, after).await.concat()), rest);
        put(table, &last, Item::new()).await;
    }
}

async fn a_cursor_without_a_key_is_beyond_its_place(table: &dyn Table) {
    put_all(table, "A").await;
    for (place, below, above) in [("aa", 2, 3), ("az", 3, 3), ("", 0, 0), ("zz", 4, 4)] {
        let query = Query {
            after: Some(Cursor::beyond(place)),
            ..list(None, "A", 100)
        };
        let page = table.query(&query).await.unwrap();
        assert_eq!(sort_keys(&page.rows), SORT_KEYS[above..], "up from {place}");
        let mut page = table.query(&down(query)).await.unwrap();
        page.rows.reverse();
        assert_eq!(
            sort_keys(&page.rows),
            SORT_KEYS[..below],
            "down from {place}"
        );
    }
}

/// The keys of a scan in pages of this size.
async fn scanned(table: &dyn Table, limit: usize) -> Vec<Key> {
    let mut keys = Vec::new();
    loop {
        let page = table.scan(keys.last(), limit).await.unwrap();
        assert!(page.len() <= limit);
        if page.is_empty() {
            keys.sort();
            return keys;
        }
        keys.extend(page.into_iter().map(|row| row.key));
    }
}

async fn a_scan_reads_every_item_once(table: &dyn Table) {
    let mut expected = Vec::new();
    for partition in ["A", "B", "B\0"] {
        put_all(table, partition).await;
        expected.extend(SORT_KEYS.map(|sk| key(partition, sk)));
    }
    for limit in [1, 2, 7, 100] {
        assert_eq!(scanned(table, limit).await, expected);
    }
}

async fn a_scan_goes_on_after_a_key_that_was_deleted(table: &dyn Table) {
    put_all(table, "A").await;
    let first = table.scan(None, 3).await.unwrap();
    let last = &first[2].key;
    table.delete(last).await.unwrap();
    let rest = table.scan(Some(last), 100).await.unwrap();
    assert_eq!(rest.len(), SORT_KEYS.len() - 3);
}
