//! The same random operations on every engine.

use onsale_table::differential::{Operation, SCHEMA, Script, compare, run};
use onsale_table::memory::MemoryTable;
use onsale_table::{Table, differential};

use crate::engine::{Engine, engines};

const OPERATIONS: usize = 100_000;

#[tokio::test]
async fn engines_do_not_differ() {
    let engines = engines(SCHEMA).await;
    let tables: Vec<(&str, &dyn Table)> = engines
        .iter()
        .map(|Engine { name, table }| (*name, &**table))
        .collect();
    compare(&tables, 1, OPERATIONS).await.unwrap();
}

#[test]
fn a_script_is_the_same_for_the_same_seed() {
    let of = |seed| format!("{:?}", Script::new(seed).take(500).collect::<Vec<_>>());
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}

/// Outcomes by their first word, of the operations that the filter picks.
async fn outcomes(of: impl Fn(&Operation) -> bool) -> Vec<String> {
    let table = MemoryTable::new(differential::SCHEMA);
    let mut outcomes = Vec::new();
    for operation in Script::new(3).take(5_000) {
        let outcome = run(&table, &operation).await;
        if of(&operation) {
            outcomes.push(outcome);
        }
    }
    outcomes
}

fn share(outcomes: &[String], is_such: impl Fn(&str) -> bool) -> usize {
    100 * outcomes.iter().filter(|outcome| is_such(outcome)).count() / outcomes.len()
}

#[tokio::test]
async fn a_script_meets_every_kind_of_outcome_often() {
    for (name, of) in [
        ("update", is_update as fn(&Operation) -> bool),
        ("transact", |op| matches!(op, Operation::Transact(_))),
        ("in order", |op| matches!(op, Operation::InOrder(_))),
        ("put", |op| matches!(op, Operation::PutNew(..))),
    ] {
        let outcomes = outcomes(of).await;
        let done = share(&outcomes, |outcome| outcome.starts_with("()"));
        let refused = share(&outcomes, |outcome| outcome.contains("refused"));
        assert!(done >= 15, "{name}: {done} % done");
        assert!(refused >= 15, "{name}: {refused} % refused");
    }
    let updates = outcomes(is_update).await;
    let invalid = share(&updates, |outcome| outcome == "invalid");
    assert!((2..25).contains(&invalid), "{invalid} % invalid");
    let pages = outcomes(|op| matches!(op, Operation::Page(_))).await;
    let more = share(&pages, |outcome| outcome.ends_with("true)"));
    assert!((10..90).contains(&more), "{more} % have more");
}

fn is_update(operation: &Operation) -> bool {
    matches!(operation, Operation::Update(..))
}
