//! Messages of writes in order, and the queue of these tests. Only the engine in memory takes a
//! queue of the test.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use onsale_table::memory::MemoryTable;
use onsale_table::{Failed, Item, Message, Queue, Table, TableError, Write};

use crate::engine::{SCHEMA, key, stored};

/// Keeps what was sent.
#[derive(Debug, Default)]
pub struct Sent(Mutex<Vec<Message>>);

impl Sent {
    pub fn bodies(&self) -> Vec<String> {
        let sent = self.0.lock().unwrap();
        sent.iter().map(|message| message.body.clone()).collect()
    }
}

#[async_trait]
impl Queue for Sent {
    async fn send(&self, message: &Message) -> Result<(), TableError> {
        if message.body == "broken" {
            return Err(TableError::Unavailable("no queue".to_owned()));
        }
        self.0.lock().unwrap().push(message.clone());
        Ok(())
    }
}

pub fn message(body: &str) -> Message {
    Message {
        queue: "orders",
        body: body.to_owned(),
        attributes: Vec::new(),
        delay_s: 0,
    }
}

fn put_then(message: Message) -> [Write; 2] {
    let put = Write::PutNew(key("A", "a"), Item::new());
    [put, Write::Send(message)]
}

#[tokio::test]
async fn the_last_message_is_sent_after_the_writes() {
    let sent = Arc::new(Sent::default());
    let table = MemoryTable::new(SCHEMA).with_queue(sent.clone());
    table.in_order(&put_then(message("hello"))).await.unwrap();
    assert_eq!(sent.bodies(), ["hello"]);
    assert!(stored(&table, &key("A", "a")).await.is_some());
}

#[tokio::test]
async fn a_message_is_not_sent_if_a_write_before_it_is_refused() {
    let sent = Arc::new(Sent::default());
    let table = MemoryTable::new(SCHEMA).with_queue(sent.clone());
    table.put_new(&key("A", "a"), Item::new()).await.unwrap();
    let stopped = table.in_order(&put_then(message("hello"))).await;
    assert_eq!(stopped.unwrap_err().at, 0);
    assert!(sent.bodies().is_empty());
}

#[tokio::test]
async fn a_message_that_fails_stops_after_the_writes() {
    let table = MemoryTable::new(SCHEMA).with_queue(Arc::new(Sent::default()));
    let stopped = table.in_order(&put_then(message("broken"))).await;
    let stopped = stopped.unwrap_err();
    assert_eq!(stopped.at, 1);
    assert!(matches!(
        stopped.why,
        Failed::Error(TableError::Unavailable(_))
    ));
    assert!(stored(&table, &key("A", "a")).await.is_some());
}

#[tokio::test]
async fn a_message_without_a_queue_or_with_too_long_a_delay_is_invalid() {
    let without = MemoryTable::new(SCHEMA);
    let with = MemoryTable::new(SCHEMA).with_queue(Arc::new(Sent::default()));
    let late = Message {
        delay_s: 901,
        ..message("late")
    };
    for (table, message) in [(without, message("hello")), (with, late)] {
        let stopped = table.in_order(&[Write::Send(message)]).await;
        assert!(matches!(
            stopped.unwrap_err().why,
            Failed::Error(TableError::Invalid(_))
        ));
    }
}
