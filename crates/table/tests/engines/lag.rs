//! Indexes of the engine in memory that lag behind the table.

use onsale_table::memory::MemoryTable;
use onsale_table::{Item, Table, Update, Write};

use crate::engine::{SCHEMA, WIDE, key, list, put, sort_keys};

fn wide(place: &str) -> Item {
    Item::new().with("wpk", "W").with("wsk", place)
}

async fn seen(table: &MemoryTable) -> Vec<String> {
    let page = table.query(&list(Some(WIDE), "W", 100)).await.unwrap();
    sort_keys(&page.rows)
        .into_iter()
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn a_lagging_index_does_not_see_the_last_writes() {
    let table = MemoryTable::new(SCHEMA);
    table.lag_indexes(2);
    for sk in ["a", "b", "c"] {
        put(&table, &key("A", sk), wide("1")).await;
    }
    assert_eq!(seen(&table).await, ["a"]);
    table.delete(&key("A", "a")).await.unwrap();
    assert_eq!(seen(&table).await, ["a", "b"]);
    table.lag_indexes(0);
    assert_eq!(seen(&table).await, ["b", "c"]);
}

#[tokio::test]
async fn a_lagging_index_shows_items_as_they_were() {
    let table = MemoryTable::new(SCHEMA);
    put(&table, &key("A", "a"), wide("1").with("n", 1u64)).await;
    table.lag_indexes(1);
    let update = Update::always().add("n", 1);
    table.update(&key("A", "a"), &update).await.unwrap();
    let page = table.query(&list(Some(WIDE), "W", 1)).await.unwrap();
    assert_eq!(page.rows[0].item.number("n"), Some(1));
}

#[tokio::test]
async fn each_part_of_a_transaction_reaches_a_lagging_index_alone() {
    let table = MemoryTable::new(SCHEMA);
    table.lag_indexes(1);
    let parts = ["a", "b"].map(|sk| Write::PutNew(key("A", sk), wide("1")));
    table.transact(&parts).await.unwrap();
    assert_eq!(seen(&table).await, ["a"]);
}
