//! The same random operations have the same outcomes in memory, on SQLite and on DynamoDB.

use std::collections::HashSet;

use onsale_aws::{AwsConfig, DynamoTable};
use onsale_aws_emulator::Emulator;
use onsale_table::differential::{Operation, SCHEMA, Script, run};
use onsale_table::memory::MemoryTable;
use onsale_table::sqlite::{SqliteFile, SqliteTable};
use onsale_table::{Condition, Table, Update, Write};

use crate::cloud::{config, create_table, ministack_config};

/// Operations of each seed. Without optimisation they take six times as long.
const OPERATIONS: usize = if cfg!(debug_assertions) {
    2_500
} else {
    15_000
};
/// Seeds of operations on DynamoDB in this process, and how many of each.
const IN_PROCESS: (std::ops::Range<u64>, usize) = (1..5, OPERATIONS);
/// The same for MiniStack, which is slower.
const MINISTACK: (std::ops::Range<u64>, usize) = (1..4, 1_000);

#[tokio::test]
async fn dynamodb_in_this_process_answers_like_memory_and_sqlite() {
    let (seeds, operations) = IN_PROCESS;
    for seed in seeds {
        let http = Emulator::memory().unwrap().http_client();
        let dynamodb = table(&config(http, "http://cloud.local"), seed).await;
        let script = Script::new(seed).take(operations);
        compare(&dynamodb, seed, script).await;
    }
}

#[tokio::test]
async fn ministack_answers_like_memory_and_sqlite() {
    let Some(config) = ministack_config() else {
        eprintln!("ONSALE_MINISTACK_URL is not set: not compared with MiniStack");
        return;
    };
    let (seeds, operations) = MINISTACK;
    for seed in seeds {
        let dynamodb = table(&config, seed).await;
        let script = Script::new(seed).filter(ministack_can).take(operations);
        compare(&dynamodb, seed, script).await;
    }
}

async fn table(config: &AwsConfig, seed: u64) -> DynamoTable {
    let client = config.dynamodb();
    let name = format!("differential-{}-{seed}", std::process::id());
    create_table(&client, &name, &SCHEMA).await;
    DynamoTable::new(client, name)
}

async fn compare(dynamodb: &DynamoTable, seed: u64, script: impl Iterator<Item = Operation>) {
    let memory = MemoryTable::new(SCHEMA);
    let file = SqliteFile::temporary().unwrap();
    let sqlite = SqliteTable::open(file, SCHEMA).await.unwrap();
    let others: [(&str, &dyn Table); 2] = [("SQLite", &sqlite), ("DynamoDB", dynamodb)];
    for (n, operation) in script.enumerate() {
        let expected = run(&memory, &operation).await;
        for (name, table) in others {
            let outcome = run(table, &operation).await;
            assert!(
                outcome == expected,
                "seed {seed}, operation {n}: {operation:#?}\nmemory: {expected}\n{name}: {outcome}"
            );
        }
    }
}

/// MiniStack takes an update that names an attribute twice, and gives numbers a size of 0.
fn ministack_can(operation: &Operation) -> bool {
    let names_twice = |update: &Update| {
        let mut names = HashSet::new();
        !update.actions.iter().all(|(name, _)| names.insert(name))
    };
    let asks_size =
        |condition: &Condition| any_of(condition, &|c| matches!(c, Condition::SmallerThan(..)));
    !changes(operation).any(|change| {
        change.update.is_some_and(names_twice) || change.condition.is_some_and(asks_size)
    })
}

/// Whether this holds for the condition or for one that it is made of.
fn any_of(condition: &Condition, is_it: &impl Fn(&Condition) -> bool) -> bool {
    let parts = match condition {
        Condition::All(parts) | Condition::Any(parts) => parts.as_slice(),
        _ => &[],
    };
    is_it(condition) || parts.iter().any(|part| any_of(part, is_it))
}

/// One write of an operation, as far as it can be left out.
#[derive(Clone, Copy)]
struct Change<'a> {
    update: Option<&'a Update>,
    condition: Option<&'a Condition>,
}

impl<'a> Change<'a> {
    fn of_update(update: &'a Update) -> Self {
        Self {
            update: Some(update),
            condition: update.condition.as_ref(),
        }
    }

    fn of_write(write: &'a Write) -> Option<Self> {
        match write {
            Write::Update(_, update) => Some(Self::of_update(update)),
            Write::Delete(_, condition) => Some(Self {
                update: None,
                condition: condition.as_ref(),
            }),
            Write::PutNew(..) | Write::Send(_) => None,
        }
    }
}

fn changes(operation: &Operation) -> impl Iterator<Item = Change<'_>> {
    let (alone, writes): (_, &[Write]) = match operation {
        Operation::Update(_, update) | Operation::UpdateReturning(_, update) => {
            (Some(Change::of_update(update)), &[])
        }
        Operation::Transact(writes) | Operation::InOrder(writes) => (None, writes),
        Operation::Walk(_, Some(write)) => (None, std::slice::from_ref(write)),
        _ => (None, &[]),
    };
    alone
        .into_iter()
        .chain(writes.iter().filter_map(Change::of_write))
}
