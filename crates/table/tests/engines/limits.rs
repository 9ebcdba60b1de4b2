//! What every engine refuses because DynamoDB does, and where pages end.

use onsale_table::{
    BATCH_KEYS, Failed, Item, Key, Limits, PAGE_BYTES, Reads, Row, Table, TableError,
    TransactFailed, Update, Write, units,
};

use crate::engine::{
    NARROW, WIDE, is_invalid, is_invalid_write, key, list, on_every_engine, pages, put, stored,
};

on_every_engine!(
    an_item_has_at_most_400_kb,
    an_update_cannot_make_an_item_too_large,
    keys_are_neither_empty_nor_too_long,
    a_batch_has_at_most_a_hundred_keys,
    a_batch_with_a_key_twice_is_invalid,
    a_page_without_items_is_invalid,
    a_page_of_a_query_ends_after_a_megabyte,
    a_page_of_a_narrow_index_counts_only_what_it_has,
    a_page_of_a_scan_ends_after_a_megabyte,
);

/// An item that has exactly this many bytes under the key.
fn item_of(key: &Key, bytes: usize) -> Item {
    let empty = units::item_bytes(key, &Item::new().with("b", Vec::new()));
    Item::new().with("b", vec![0u8; bytes - empty])
}

async fn an_item_has_at_most_400_kb(table: &dyn Table) {
    let at = key("A", "a");
    let (most, too_large) = (
        item_of(&at, Limits::ITEM_BYTES),
        item_of(&at, Limits::ITEM_BYTES + 1),
    );
    let part = [Write::PutNew(at.clone(), too_large.clone())];
    let transaction = table.transact(&part).await;
    assert!(matches!(
        transaction,
        Err(TransactFailed::Error(TableError::Invalid(_)))
    ));
    assert!(is_invalid_write(&table.put_new(&at, too_large).await));
    assert_eq!(stored(table, &at).await, None);
    put(table, &at, most).await;
}

async fn an_update_cannot_make_an_item_too_large(table: &dyn Table) {
    let at = key("A", "a");
    let item = item_of(&at, Limits::ITEM_BYTES);
    put(table, &at, item.clone()).await;
    let larger = Update::always().set("n", 1u64);
    assert!(is_invalid_write(&table.update(&at, &larger).await));
    let stopped = table.in_order(&[Write::Update(at.clone(), larger)]).await;
    assert!(matches!(
        stopped.unwrap_err().why,
        Failed::Error(TableError::Invalid(_))
    ));
    assert_eq!(stored(table, &at).await, Some(item));
}

async fn keys_are_neither_empty_nor_too_long(table: &dyn Table) {
    let long = |bytes: usize| "k".repeat(bytes);
    let longest = Key::new(long(Limits::PK_BYTES), long(Limits::SK_BYTES));
    put(table, &longest, Item::new()).await;
    assert!(stored(table, &longest).await.is_some());
    for wrong in [
        key("", "a"),
        key("A", ""),
        Key::new(long(Limits::PK_BYTES + 1), "a"),
        Key::new("A", long(Limits::SK_BYTES + 1)),
    ] {
        assert!(is_invalid_write(&table.put_new(&wrong, Item::new()).await));
        let update = table.update(&wrong, &Update::always()).await;
        assert!(is_invalid_write(&update));
    }
}

async fn a_batch_has_at_most_a_hundred_keys(table: &dyn Table) {
    let keys: Vec<Key> = (0..=BATCH_KEYS).map(|n| key("A", &n.to_string())).collect();
    let too_many = table.get_many(&keys, Reads::Consistent).await;
    assert!(is_invalid(&too_many));
    let batch = table.get_many(&keys[1..], Reads::Consistent).await;
    assert!(batch.unwrap().rows.is_empty());
}

async fn a_batch_with_a_key_twice_is_invalid(table: &dyn Table) {
    let keys = [key("A", "a"), key("A", "b"), key("A", "a")];
    assert!(is_invalid(&table.get_many(&keys, Reads::Eventual).await));
}

async fn a_page_without_items_is_invalid(table: &dyn Table) {
    assert!(is_invalid(&table.query(&list(None, "A", 0)).await));
    assert!(is_invalid(&table.query(&list(Some(WIDE), "A", 0)).await));
    assert!(is_invalid(&table.scan(None, 0).await));
}

/// Seven items of 300 KB: more than two pages.
async fn put_large(table: &dyn Table) {
    for n in 0..7 {
        let at = key("A", &n.to_string());
        let item = item_of(&at, 300 * 1024)
            .with("wpk", "W")
            .with("wsk", "same")
            .with("npk", "N")
            .with("nsk", "same");
        put(table, &at, item).await;
    }
}

/// Without its last item, no page has reached the limit.
fn check_page(rows: &[Row]) {
    let bytes = |rows: &[Row]| -> usize {
        rows.iter()
            .map(|row| units::item_bytes(&row.key, &row.item))
            .sum()
    };
    assert!(bytes(&rows[..rows.len() - 1]) < PAGE_BYTES);
}

async fn a_page_of_a_query_ends_after_a_megabyte(table: &dyn Table) {
    put_large(table).await;
    for (index, partition) in [(None, "A"), (Some(WIDE), "W")] {
        let pages = pages(table, list(index, partition, 100)).await;
        assert!(pages.len() > 1, "{}", pages.len());
        pages
            .iter()
            .filter(|page| !page.is_empty())
            .for_each(|page| check_page(page));
        assert_eq!(pages.concat().len(), 7);
    }
}

async fn a_page_of_a_narrow_index_counts_only_what_it_has(table: &dyn Table) {
    put_large(table).await;
    let page = table.query(&list(Some(NARROW), "N", 100)).await.unwrap();
    assert_eq!(page.rows.len(), 7);
    assert_eq!(page.next, None);
}

async fn a_page_of_a_scan_ends_after_a_megabyte(table: &dyn Table) {
    put_large(table).await;
    let mut keys = Vec::new();
    loop {
        let page = table.scan(keys.last(), 100).await.unwrap();
        if page.is_empty() {
            break;
        }
        check_page(&page);
        keys.extend(page.into_iter().map(|row| row.key));
    }
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 7);
}
