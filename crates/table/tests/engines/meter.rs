//! What the engine in memory counts as DynamoDB's price of a request.

use onsale_table::memory::{MemoryTable, Units};
use onsale_table::{Condition, Item, Reads, Table, Update, Write};

use crate::engine::{NARROW, SCHEMA, WIDE, key, list, put};

/// An item of about this many KB, a little less.
fn kb(kilobytes: usize) -> Item {
    Item::new().with("b", vec![0u8; kilobytes * 1024 - 100])
}

fn indexed(item: Item) -> Item {
    item.with("wpk", "W")
        .with("wsk", "1")
        .with("npk", "N")
        .with("nsk", "1")
}

async fn with(item: Item) -> MemoryTable {
    let table = MemoryTable::new(SCHEMA);
    put(&table, &key("A", "a"), item).await;
    table.take_meter();
    table
}

fn reads(half_units: u64) -> Units {
    Units {
        read_half_units: half_units,
        requests: 1,
        ..Units::default()
    }
}

fn writes(units: u64, index_units: u64) -> Units {
    Units {
        write_units: units,
        index_write_units: index_units,
        requests: 1,
        ..Units::default()
    }
}

async fn price_of(table: &MemoryTable, update: Update) -> Units {
    let _ = table.update(&key("A", "a"), &update).await;
    table.take_meter()
}

#[tokio::test]
async fn reading_costs_a_unit_for_each_4_kb_and_half_when_eventual() {
    let table = with(kb(9)).await;
    for (sk, how, half_units) in [
        ("a", Reads::Consistent, 6),
        ("a", Reads::Eventual, 3),
        ("missing", Reads::Consistent, 2),
        ("missing", Reads::Eventual, 1),
    ] {
        table.get(&key("A", sk), how).await.unwrap();
        assert_eq!(table.take_meter(), reads(half_units), "{sk} {how:?}");
    }
    let keys = [key("A", "a"), key("A", "missing")];
    table.get_many(&keys, Reads::Consistent).await.unwrap();
    assert_eq!(table.meter(), reads(8));
}

#[tokio::test]
async fn a_page_is_rounded_up_once() {
    let table = MemoryTable::new(SCHEMA);
    for sk in ["a", "b", "c", "d", "e"] {
        put(&table, &key("A", sk), indexed(kb(1))).await;
    }
    table.take_meter();
    table.query(&list(None, "A", 10)).await.unwrap();
    assert_eq!(table.take_meter(), reads(4));
    table.query(&list(None, "A", 1)).await.unwrap();
    assert_eq!(table.take_meter(), reads(2));
    table.query(&list(Some(WIDE), "W", 10)).await.unwrap();
    assert_eq!(table.take_meter(), reads(2));
    table.query(&list(Some(NARROW), "N", 10)).await.unwrap();
    assert_eq!(table.take_meter(), reads(1));
}

#[tokio::test]
async fn a_write_costs_the_larger_of_old_and_new_item() {
    let table = with(kb(3)).await;
    let smaller = Update::always().set("b", vec![0u8; 10]);
    assert_eq!(price_of(&table, smaller).await, writes(3, 0));
    let larger = Update::always().set("b", vec![0u8; 5000]);
    assert_eq!(price_of(&table, larger).await, writes(5, 0));
    table.delete(&key("A", "a")).await.unwrap();
    assert_eq!(table.take_meter(), writes(5, 0));
    table.delete(&key("A", "a")).await.unwrap();
    assert_eq!(table.take_meter(), writes(1, 0));
}

#[tokio::test]
async fn a_refused_write_costs_the_item_found() {
    let table = with(kb(3)).await;
    let refused = Update::when(Condition::New);
    assert_eq!(price_of(&table, refused).await, writes(3, 0));
    let missing = Update::when(Condition::Exists);
    let _ = table.update(&key("A", "missing"), &missing).await;
    assert_eq!(table.take_meter(), writes(1, 0));
}

#[tokio::test]
async fn an_index_costs_units_when_its_keys_or_projection_change() {
    let table = with(indexed(kb(3))).await;
    let n = || Update::always().add("n", 1);
    // Only the wide index has `n`.
    assert_eq!(price_of(&table, n()).await, writes(3, 3));
    // The narrow entry is deleted and put again, and the wide one changes in place.
    let moved = Update::always().set("nsk", "2");
    assert_eq!(price_of(&table, moved).await, writes(3, 2 + 3));
    // The wide entry is deleted and put again.
    let moved = Update::always().set("wsk", "2");
    assert_eq!(price_of(&table, moved).await, writes(3, 3 + 3));
    // The wide entry is deleted.
    let left = Update::always().remove("wsk");
    assert_eq!(price_of(&table, left).await, writes(3, 3));
    // Only the narrow index has the item, and its keys stay.
    assert_eq!(price_of(&table, n()).await, writes(3, 0));
    table.delete(&key("A", "a")).await.unwrap();
    assert_eq!(table.take_meter(), writes(3, 1));
}

#[tokio::test]
async fn a_transaction_costs_double_even_when_refused() {
    let table = with(kb(3)).await;
    let refused = [
        Write::PutNew(key("A", "a"), kb(1)),
        Write::PutNew(key("A", "b"), kb(2)),
    ];
    let _ = table.transact(&refused).await;
    assert_eq!(table.take_meter(), writes(2 * 3 + 2 * 2, 0));
    let done = [
        Write::Delete(key("A", "a"), None),
        Write::PutNew(key("A", "b"), indexed(kb(2))),
    ];
    table.transact(&done).await.unwrap();
    assert_eq!(table.take_meter(), writes(2 * 3 + 2 * 2, 1 + 2));
}

#[tokio::test]
async fn each_write_in_order_is_a_request() {
    let table = MemoryTable::new(SCHEMA);
    let writes = ["a", "b", "c"].map(|sk| Write::PutNew(key("A", sk), kb(1)));
    table.in_order(&writes).await.unwrap();
    let expected = Units {
        write_units: 3,
        requests: 3,
        ..Units::default()
    };
    assert_eq!(table.meter(), expected);
}
