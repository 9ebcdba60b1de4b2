//! Messages that are enqueued together with writes.

use std::sync::{Arc, Mutex};

use onsale_table::sqlite::{Outbox, SqliteFile};
use onsale_table::{Failed, Item, Message, Stopped, Table, TableError, Write};
use rusqlite::Connection;

use crate::{key, read, table, table_in};

/// Keeps messages in a table of its own, and remembers of which it was told.
#[derive(Debug, Default)]
struct Letters {
    told: Mutex<Vec<String>>,
}

impl Outbox for Letters {
    fn put(&self, db: &Connection, message: &Message) -> rusqlite::Result<()> {
        db.prepare_cached("INSERT INTO letters (body) VALUES (?1)")?
            .execute([&message.body])
            .map(drop)
    }

    fn sent(&self, message: &Message) {
        self.told.lock().unwrap().push(message.body.clone());
    }
}

fn message(body: &str) -> Write {
    Write::Send(Message {
        queue: "letters",
        body: body.to_owned(),
        attributes: Vec::new(),
        delay_s: 0,
    })
}

fn put(sk: &str) -> Write {
    Write::PutNew(key(sk), Item::new())
}

async fn letters(file: &SqliteFile) -> Vec<String> {
    let read = |db: &Connection| {
        let mut statement = db.prepare("SELECT body FROM letters")?;
        let bodies = statement.query_map([], |row| row.get(0))?;
        bodies.collect()
    };
    file.read(read).await.unwrap()
}

#[tokio::test]
async fn a_message_is_stored_with_the_writes_before_it_and_announced_after_the_flush() {
    let file = SqliteFile::temporary().unwrap();
    let sql = "CREATE TABLE letters (body TEXT NOT NULL) STRICT";
    file.migrate("letters", 1, sql).await.unwrap();
    let outbox = Arc::new(Letters::default());
    let table = table_in(&file).await.with_outbox(outbox.clone());
    let flushes = file.flushes();
    table.in_order(&[put("a"), message("one")]).await.unwrap();
    assert_eq!(file.flushes() - flushes, 1);
    assert_eq!(letters(&file).await, ["one"]);

    let refused = table.in_order(&[put("a"), message("two")]).await;
    assert!(matches!(refused, Err(Stopped { at: 0, .. })));
    table.in_order(&[message("three")]).await.unwrap();
    assert_eq!(letters(&file).await, ["one", "three"]);
    assert_eq!(*outbox.told.lock().unwrap(), ["one", "three"]);
}

#[tokio::test]
async fn when_a_message_cannot_be_stored_neither_are_the_writes_before_it() {
    let file = SqliteFile::temporary().unwrap();
    let outbox = Arc::new(Letters::default());
    // The outbox has no table.
    let table = table_in(&file).await.with_outbox(outbox.clone());
    let failed = table.in_order(&[put("a"), message("one")]).await;
    let unavailable = matches!(
        failed,
        Err(Stopped {
            at: 0,
            why: Failed::Error(TableError::Unavailable(_))
        })
    );
    assert!(unavailable, "{failed:?}");
    assert_eq!(read(&table, &key("a")).await, None);
    assert!(outbox.told.lock().unwrap().is_empty());
}

#[tokio::test]
async fn messages_elsewhere_than_at_the_end_or_without_an_outbox_are_refused() {
    let table = table().await;
    for (writes, at) in [
        (vec![message("one"), put("a")], 0),
        (vec![put("b"), message("one")], 1),
    ] {
        let stopped = table.in_order(&writes).await.unwrap_err();
        assert_eq!(stopped.at, at);
        assert!(matches!(stopped.why, Failed::Error(TableError::Invalid(_))));
    }
    assert_eq!(read(&table, &key("a")).await, None);
}
