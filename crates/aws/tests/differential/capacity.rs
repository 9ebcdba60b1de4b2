//! The table in memory charges what DynamoDB says that it consumed.

use onsale_aws::DynamoTable;
use onsale_aws_emulator::Emulator;
use onsale_table::differential::{List, Operation, SCHEMA, Script, run};
use onsale_table::memory::{MemoryTable, Units};
use onsale_table::{Condition, Index, Item, Key, Reads, Update, Write};

use crate::cloud::{config, create_table};
use crate::metered::{Consumed, Metered};

const NARROW: Index = SCHEMA.indexes[0];
const WIDE: Index = SCHEMA.indexes[1];

/// A table in memory and one on DynamoDB, both empty.
struct Both {
    memory: MemoryTable,
    dynamodb: DynamoTable,
    metered: Metered,
}

impl Both {
    async fn new() -> Self {
        let metered = Metered::new(Emulator::memory().unwrap().http_client());
        let client = config(metered.http_client(), "http://cloud.local").dynamodb();
        create_table(&client, "capacity", &SCHEMA).await;
        Self {
            memory: MemoryTable::new(SCHEMA),
            dynamodb: DynamoTable::new(client, "capacity"),
            metered,
        }
    }

    /// Does the operation on both; returns what each says that it cost. DynamoDB says nothing
    /// of what it refuses, although it charges for it.
    async fn cost(&self, operation: &Operation) -> (Units, Option<Consumed>) {
        self.memory.take_meter();
        self.metered.take();
        run(&self.memory, operation).await;
        run(&self.dynamodb, operation).await;
        (self.memory.take_meter(), self.metered.take())
    }
}

/// The units in memory in the words of DynamoDB, which counts the reads of an index apart.
fn in_words_of(consumed: Consumed, units: Units) -> Consumed {
    let read_units = units.read_half_units as f64 / 2.0;
    let of_index = consumed.table == 0.0;
    Consumed {
        table: units.write_units as f64 + if of_index { 0.0 } else { read_units },
        indexes: units.index_write_units as f64 + if of_index { read_units } else { 0.0 },
    }
}

fn key(sk: &'static str) -> Key {
    Key::new("A", sk)
}

/// An item of a little less than this many KB.
fn kb(kilobytes: usize) -> Item {
    Item::new().with("b", vec![0u8; kilobytes * 1024 - 100])
}

fn indexed(item: Item) -> Item {
    let narrow = item.with("npk", "N").with("nsk", "1");
    narrow.with("wpk", "W").with("wsk", "1")
}

fn page(index: Option<Index>, partition: &str, reads: Reads) -> Operation {
    Operation::Page(List {
        index,
        partition: partition.to_owned(),
        after: None,
        descending: false,
        limit: 10,
        reads,
    })
}

fn update(sk: &'static str, update: Update) -> Operation {
    Operation::Update(key(sk), update)
}

/// Each operation builds on those before it.
fn operations() -> Vec<Operation> {
    use Operation::{Delete, Get, GetMany, PutNew, Transact};
    let always = Update::always;
    let two = || vec![key("plain"), key("indexed")];
    vec![
        PutNew(key("plain"), kb(3)),
        PutNew(key("indexed"), indexed(kb(3))),
        Get(key("plain"), Reads::Consistent),
        Get(key("plain"), Reads::Eventual),
        Get(key("missing"), Reads::Consistent),
        GetMany(two(), Reads::Consistent),
        GetMany(two(), Reads::Eventual),
        // Smaller, and larger than before.
        update("plain", always().set("b", vec![0u8; 10])),
        update("plain", always().set("b", vec![0u8; 5_000])),
        update("new", always().set("n", 1u64)),
        // In one index, in none, to another place, out of an index and back.
        update("indexed", always().add("n", 1)),
        update("indexed", always().set("n", 1u64)),
        update("indexed", always().set("nsk", "2")),
        update("indexed", always().set("wsk", "2")),
        update("indexed", always().remove("wsk")),
        update("indexed", always().set("wsk", "1")),
        page(None, "A", Reads::Consistent),
        page(None, "A", Reads::Eventual),
        page(None, "nothing", Reads::Consistent),
        page(Some(NARROW), "N", Reads::Eventual),
        page(Some(WIDE), "W", Reads::Eventual),
        Transact(vec![
            Write::Update(key("plain"), always().add("n", 1)),
            Write::PutNew(key("another"), kb(2)),
        ]),
        Transact(vec![
            Write::Update(key("indexed"), always().set("nsk", "3").set("wsk", "3")),
            Write::PutNew(key("second"), indexed(kb(2))),
        ]),
        Transact(vec![
            Write::Update(key("plain"), Update::when(Condition::Exists).set("n", 2u64)),
            Write::Delete(key("second"), None),
        ]),
        Delete(key("indexed")),
        Delete(key("missing")),
    ]
}

#[tokio::test]
async fn each_kind_of_request_costs_in_memory_what_it_costs_on_dynamodb() {
    let both = Both::new().await;
    for operation in operations() {
        let (units, consumed) = both.cost(&operation).await;
        let consumed = consumed.unwrap();
        assert_eq!(in_words_of(consumed, units), consumed, "{operation:?}");
    }
}

#[tokio::test]
async fn a_refusal_is_charged_in_memory_and_without_a_word_on_dynamodb() {
    let both = Both::new().await;
    both.cost(&Operation::PutNew(key("plain"), kb(3))).await;
    let refused = update("plain", Update::when(Condition::New).set("n", 1u64));
    let transaction = Operation::Transact(vec![
        Write::PutNew(key("plain"), kb(1)),
        Write::PutNew(key("another"), kb(2)),
    ]);
    for (operation, write_units) in [(refused, 3), (transaction, 2 * (3 + 2))] {
        let (units, consumed) = both.cost(&operation).await;
        assert_eq!((units.write_units, consumed), (write_units, None));
    }
}

/// Whether the operation is one request to DynamoDB.
fn is_one_request(operation: &Operation) -> bool {
    use Operation::{Delete, Get, PutNew, Transact, Update, UpdateReturning};
    matches!(
        operation,
        Get(..) | PutNew(..) | Update(..) | UpdateReturning(..) | Delete(_) | Transact(_)
    )
}

#[tokio::test]
async fn random_requests_cost_in_memory_what_they_cost_on_dynamodb() {
    let both = Both::new().await;
    let mut compared = 0;
    let script = Script::new(7).filter(is_one_request);
    for operation in script.take(5_000) {
        let (units, consumed) = both.cost(&operation).await;
        if let Some(consumed) = consumed {
            assert_eq!(in_words_of(consumed, units), consumed, "{operation:?}");
            compared += 1;
        }
    }
    assert!(compared > 2_000, "{compared}");
}
