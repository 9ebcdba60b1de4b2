//! What reads and writes cost. Prints figures; run it with `--release -- --ignored --nocapture`.
#![expect(clippy::disallowed_methods, reason = "the figures are times")]

use std::sync::Arc;
use std::time::Instant;

use onsale_table::sqlite::{Durability, SqliteFile, SqliteTable};
use onsale_table::{Condition, Item, Key, Table, Update};
use tempfile::tempdir;
use tokio::task::JoinSet;

use crate::{read, table_in};

const ITEMS: usize = 20_000;

fn block(n: usize) -> Key {
    Key::new(format!("BLK#{:032x}#{}", 7, n % ITEMS), "BLK")
}

/// A block of 32 places, nearly 1 KB.
fn full() -> Item {
    let mut item = Item::new().with("v", 1u64);
    for slot in 0..32 {
        item.set(format!("c{slot:02}"), vec![0xff; 24]);
    }
    item
}

async fn fill(table: &SqliteTable) {
    for start in (0..ITEMS).step_by(50) {
        let puts: Vec<_> = (start..start + 50)
            .map(|n| onsale_table::Write::PutNew(block(n), full()))
            .collect();
        table.in_order(&puts).await.unwrap();
    }
}

fn claim(slot: usize) -> Update {
    let name = format!("c{:02}", slot % 32);
    Update::when(Condition::below(name.clone(), vec![0xffu8; 25])).set(name, vec![slot as u8; 24])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "prints figures"]
async fn figures() {
    let folder = tempdir().unwrap();
    let file = SqliteFile::open(folder.path().join("onsale.db"), Durability::PowerCut).unwrap();
    let table = Arc::new(table_in(&file).await);
    fill(&table).await;

    let begun = Instant::now();
    for n in 0..20_000 {
        assert!(read(&table, &block(n * 7919)).await.is_some());
    }
    println!(
        "get: {:.1} µs",
        begun.elapsed().as_secs_f64() * 1e6 / 20_000.0
    );

    let begun = Instant::now();
    for n in 0..2_000 {
        table.update(&block(n * 7919), &claim(n)).await.unwrap();
    }
    println!(
        "update, alone: {:.1} µs",
        begun.elapsed().as_secs_f64() * 1e6 / 2_000.0
    );

    let flushes = file.flushes();
    let begun = Instant::now();
    let mut writers = JoinSet::new();
    for writer in 0..64 {
        let table = table.clone();
        writers.spawn(async move {
            for n in writer * 400..(writer + 1) * 400 {
                table.update(&block(n * 7919), &claim(n)).await.unwrap();
            }
        });
    }
    writers.join_all().await;
    let writes = 64.0 * 400.0;
    println!(
        "update, 64 writers: {:.1} µs, {:.3} flushes each",
        begun.elapsed().as_secs_f64() * 1e6 / writes,
        (file.flushes() - flushes) as f64 / writes
    );
}
