//! Transactions, and writes in order.

use onsale_table::{
    Condition, Failed, Item, Stopped, Table, TableError, TransactFailed, Update, Write,
};

use crate::{key, read, table};

fn put(sk: &str) -> Write {
    Write::PutNew(key(sk), Item::new().with("by", "put"))
}

#[tokio::test]
async fn a_transaction_writes_all_parts() {
    let table = table().await;
    table.put_new(&key("old"), Item::new()).await.unwrap();
    let parts = [
        put("new"),
        Write::Update(key("changed"), Update::always().add("n", 1)),
        Write::Delete(key("old"), Some(Condition::Exists)),
    ];
    table.transact(&parts).await.unwrap();
    assert!(read(&table, &key("new")).await.is_some());
    let changed = read(&table, &key("changed")).await;
    assert_eq!(changed, Some(Item::new().with("n", 1u64)));
    assert_eq!(read(&table, &key("old")).await, None);
}

#[tokio::test]
async fn a_refused_transaction_writes_nothing_and_reports_every_part() {
    let table = table().await;
    let there = Item::new().with("n", 7u64);
    table.put_new(&key("there"), there.clone()).await.unwrap();
    let parts = [
        put("new"),
        put("there"),
        Write::Delete(key("missing"), Some(Condition::Exists)),
        Write::Delete(key("nothing"), None),
    ];
    let refused = table.transact(&parts).await;
    let reports = vec![None, Some(Some(there)), Some(None), None];
    assert_eq!(refused, Err(TransactFailed::Refused(reports)));
    assert_eq!(read(&table, &key("new")).await, None);
}

#[tokio::test]
async fn a_transaction_that_no_engine_takes_is_refused() {
    let table = table().await;
    let misfit = Write::Update(key("text"), Update::always().add("by", 1));
    table.transact(&[put("text")]).await.unwrap();
    let many = (0..101).map(|n| put(&n.to_string())).collect();
    for parts in [
        vec![],
        many,
        vec![put("a"), put("a")],
        vec![put("a"), misfit],
    ] {
        let refused = table.transact(&parts).await;
        let invalid = matches!(refused, Err(TransactFailed::Error(TableError::Invalid(_))));
        assert!(invalid, "{refused:?}");
    }
    assert_eq!(read(&table, &key("a")).await, None);
}

#[tokio::test]
async fn writes_in_order_stop_at_the_first_that_is_refused_and_keep_the_earlier_ones() {
    let table = table().await;
    let writes = [
        put("a"),
        Write::Update(key("a"), Update::when(Condition::Exists).add("n", 1)),
        put("a"),
        put("b"),
    ];
    let stopped = table.in_order(&writes).await;
    let found = Item::new().with("by", "put").with("n", 1u64);
    let why = Failed::Refused(Some(found.clone()));
    assert_eq!(stopped, Err(Stopped { at: 2, why }));
    assert_eq!(read(&table, &key("a")).await, Some(found));
    assert_eq!(read(&table, &key("b")).await, None);
}

#[tokio::test]
async fn writes_in_order_before_one_that_is_wrong_in_itself_are_done() {
    let table = table().await;
    let twice = Update::always().set("x", 1u64).remove("x");
    let stopped = table
        .in_order(&[put("a"), Write::Update(key("b"), twice), put("c")])
        .await;
    let at_second = matches!(
        stopped,
        Err(Stopped {
            at: 1,
            why: Failed::Error(TableError::Invalid(_))
        })
    );
    assert!(at_second, "{stopped:?}");
    assert!(read(&table, &key("a")).await.is_some());
    assert_eq!(read(&table, &key("c")).await, None);
}

#[tokio::test]
async fn writes_in_order_are_flushed_together() {
    let file = onsale_table::sqlite::SqliteFile::temporary().unwrap();
    let table = crate::table_in(&file).await;
    let before = file.flushes();
    table
        .in_order(&[put("a"), put("b"), put("c")])
        .await
        .unwrap();
    assert_eq!(file.flushes() - before, 1);
}
