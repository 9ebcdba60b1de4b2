//! Planned faults: how calls go wrong, when other processes come in between, and names.

use std::future::Future;
use std::sync::Arc;

use onsale_table::faults::{Fault, Faults, FaultyTable, Weather};
use onsale_table::memory::MemoryTable;
use onsale_table::{
    Condition, Failed, Item, Query, Reads, Stopped, Table, TableError, TransactFailed, Update,
    Write,
};

use crate::engine::{SCHEMA, WIDE, key, list};
use crate::messages::{Sent, message};

struct World {
    faults: Arc<Faults>,
    /// The table without faults.
    inner: Arc<MemoryTable>,
    table: Arc<FaultyTable>,
    sent: Arc<Sent>,
}

fn world() -> World {
    let (faults, sent) = (Arc::new(Faults::default()), Arc::new(Sent::default()));
    let inner = Arc::new(MemoryTable::new(SCHEMA).with_queue(sent.clone()));
    let table = Arc::new(FaultyTable::new(inner.clone(), faults.clone()));
    World {
        faults,
        inner,
        table,
        sent,
    }
}

/// The result of a process that runs as far as it can; `None`: it died.
async fn outlived<T>(process: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        result = process => Some(result),
        () = std::future::ready(()) => None,
    }
}

fn is_unavailable<T>(result: &Result<T, Failed>) -> bool {
    matches!(result, Err(Failed::Error(TableError::Unavailable(_))))
}

impl World {
    async fn count(&self) -> i128 {
        let item = self.inner.get(&key("A#1", "a"), Reads::Consistent).await;
        item.unwrap().and_then(|item| item.number("n")).unwrap_or(0)
    }

    async fn add(&self) -> Result<(), Failed> {
        let update = Update::always().add("n", 1);
        self.table.update(&key("A#1", "a"), &update).await
    }
}

#[tokio::test]
async fn each_fault_of_a_write_is_as_its_name_says() {
    for (fault, done, survives) in [
        (Fault::DieBefore, 0, false),
        (Fault::DieAfter, 1, false),
        (Fault::FailBefore, 0, true),
        (Fault::FailAfter, 1, true),
        (Fault::Throttled, 0, true),
        (Fault::Conflict, 0, true),
        (Fault::Repeated, 2, true),
    ] {
        let world = world();
        world.faults.arm(Some((0, fault)));
        let result = outlived(world.add()).await;
        assert_eq!(result.is_some(), survives, "{fault:?}");
        assert_eq!(world.count().await, done, "{fault:?}");
        match (fault, result) {
            (_, None) => {}
            (Fault::Repeated, Some(result)) => assert_eq!(result, Ok(())),
            (Fault::Conflict, Some(result)) => {
                assert_eq!(result, Err(Failed::Error(TableError::Conflict)));
            }
            (Fault::Throttled, Some(result)) => {
                let throttled = TableError::Unavailable("throttled".to_owned());
                assert_eq!(result, Err(Failed::Error(throttled)));
            }
            (_, Some(result)) => assert!(is_unavailable(&result), "{fault:?}"),
        }
    }
}

#[tokio::test]
async fn a_repeated_write_is_refused_by_what_it_wrote() {
    let world = world();
    let item = Item::new().with("n", 1u64);
    world.faults.arm(Some((0, Fault::Repeated)));
    let put = world.table.put_new(&key("A#1", "a"), item.clone()).await;
    assert_eq!(put, Err(Failed::Refused(Some(item.clone()))));

    world.faults.arm(Some((0, Fault::Repeated)));
    let part = [Write::PutNew(key("B#1", "a"), item.clone())];
    let transaction = world.table.transact(&part).await;
    let refused = TransactFailed::Refused(vec![Some(Some(item))]);
    assert_eq!(transaction, Err(refused));
}

#[tokio::test]
async fn reads_can_fail_but_neither_conflict_nor_repeat() {
    let world = world();
    world.add().await.unwrap();
    for fault in [Fault::Conflict, Fault::Repeated] {
        world.faults.arm(Some((0, fault)));
        let read = world.table.get(&key("A#1", "a"), Reads::Consistent).await;
        assert!(read.unwrap().is_some());
    }
    for fault in [Fault::FailBefore, Fault::FailAfter, Fault::Throttled] {
        world.faults.arm(Some((0, fault)));
        let read = world.table.get(&key("A#1", "a"), Reads::Consistent).await;
        assert!(matches!(read, Err(TableError::Unavailable(_))));
    }
}

#[tokio::test]
async fn only_the_planned_call_goes_wrong() {
    let world = world();
    world.faults.arm(Some((1, Fault::FailBefore)));
    assert!(world.add().await.is_ok());
    assert!(world.add().await.is_err());
    assert!(world.add().await.is_ok());
    assert_eq!(world.count().await, 2);
    assert_eq!(world.faults.calls().len(), 3);
    world.faults.arm(None);
    assert!(world.faults.calls().is_empty());
}

#[tokio::test]
async fn a_broken_call_fails_until_it_is_mended() {
    for name in ["update", "update A"] {
        let world = world();
        world.faults.fail_always(name, true);
        assert!(is_unavailable(&world.add().await));
        assert!(is_unavailable(&world.add().await));
        let read = world.table.get(&key("A#1", "a"), Reads::Consistent).await;
        assert_eq!(read, Ok(None));
        world.faults.fail_always(name, false);
        assert_eq!(world.add().await, Ok(()));
    }
    let world = world();
    world.faults.fail_always("update B", true);
    world.faults.fail_always("upd", true);
    assert_eq!(world.add().await, Ok(()));
}

#[tokio::test]
async fn actions_run_before_their_calls_one_each_in_the_order_given() {
    let world = world();
    for n in [10u64, 20] {
        let table = world.table.clone();
        let action = async move {
            let update = Update::always().set("n", n);
            table.update(&key("A#1", "a"), &update).await.unwrap();
        };
        world.faults.before_next("get A", action);
    }
    let mut seen = Vec::new();
    for _ in 0..3 {
        let item = world.table.get(&key("A#1", "a"), Reads::Consistent).await;
        seen.push(item.unwrap().unwrap().number("n").unwrap());
    }
    assert_eq!(seen, [10, 20, 20]);
    let calls = world.faults.calls();
    assert_eq!(calls, ["update A", "get A", "update A", "get A", "get A"]);
}

#[tokio::test]
async fn an_action_runs_before_the_fault_is_decided() {
    let world = world();
    let table = world.table.clone();
    world.faults.before_next("update", async move {
        let update = Update::always().add("other", 1);
        table.update(&key("A#2", "a"), &update).await.unwrap();
    });
    // The action makes call 0, so the caller's own is call 1.
    world.faults.arm(Some((1, Fault::FailBefore)));
    assert!(is_unavailable(&world.add().await));
    assert_eq!(world.count().await, 0);
    assert_eq!(world.faults.calls_of("update A"), 2);
}

#[tokio::test]
async fn names_have_the_operation_and_the_kinds_of_keys() {
    let world = world();
    let (table, at) = (&world.table, |pk: &str| key(pk, "a"));
    let always = Update::always().add("n", 1);
    let read = Reads::Consistent;
    table.get(&at("ORD#1#2"), read).await.unwrap();
    let keys = ["SES#1", "SEP#1", "SES#2", "BUY"].map(at);
    table.get_many(&keys, read).await.unwrap();
    table.put_new(&at("MAIL#1"), Item::new()).await.unwrap();
    table.update(&at("BLK#1"), &always).await.unwrap();
    table.update_returning(&at("BLK#1"), &always).await.unwrap();
    table.delete(&at("FNE#1")).await.unwrap();
    let parts = ["TKT#1", "ORD#1", "TKT#2"].map(|pk| Write::Update(at(pk), always.clone()));
    table.transact(&parts).await.unwrap();
    table
        .query(&list(Some(WIDE), "OPENORD#7", 1))
        .await
        .unwrap();
    table.query(&list(None, "SAL#7", 1)).await.unwrap();
    table.scan(None, 1).await.unwrap();
    let calls = world.faults.calls();
    let expected = [
        "get ORD",
        "get_many SES+SEP+BUY",
        "put_new MAIL",
        "update BLK",
        "update BLK",
        "delete FNE",
        "transact TKT+ORD",
        "query wide OPENORD",
        "query table SAL",
        "scan",
    ];
    assert_eq!(calls, expected);
    for (name, many) in [("update", 2), ("get", 1), ("query", 2), ("query wide", 1)] {
        assert_eq!(world.faults.calls_of(name), many, "{name}");
    }
}

#[tokio::test]
async fn a_name_asks_for_an_operation_and_some_of_the_kinds() {
    let world = world();
    let update = |pk: &str| Write::Update(key(pk, "a"), Update::always().add("n", 1));
    let parts = [update("TKT#1"), update("ORD#1")];
    world.table.transact(&parts).await.unwrap();
    world.table.in_order(&[update("ORD#1")]).await.unwrap();
    let read = world.table.get(&key("ORD#1", "a"), Reads::Consistent).await;
    assert!(read.unwrap().is_some());
    for (name, many) in [
        ("write", 2),
        ("write ORD", 2),
        ("transact ORD", 1),
        ("transact ORD+TKT", 1),
        ("transact ORD+BLK", 0),
        ("update TKT", 0),
        ("get ORD", 1),
        ("get OR", 0),
        ("ge", 0),
    ] {
        assert_eq!(world.faults.calls_of(name), many, "{name}");
    }
}

fn four_writes() -> [Write; 4] {
    let always = Update::always;
    [
        Write::PutNew(key("ORD#1", "a"), Item::new()),
        Write::Update(key("BLK#1", "a"), always().add("n", 1)),
        Write::Delete(key("FNE#1", "a"), Some(Condition::New)),
        Write::Send(message("hello")),
    ]
}

#[tokio::test]
async fn writes_in_order_are_calls_of_their_own() {
    let world = world();
    world.table.in_order(&four_writes()).await.unwrap();
    let calls = world.faults.calls();
    assert_eq!(
        calls,
        ["put_new ORD", "update BLK", "delete FNE", "send orders"]
    );
    assert_eq!(world.sent.bodies(), ["hello"]);
}

#[tokio::test]
async fn writes_in_order_can_stop_and_die_at_each() {
    for at in 0..4 {
        let world = world();
        world.faults.arm(Some((at, Fault::FailBefore)));
        let stopped = world.table.in_order(&four_writes()).await.unwrap_err();
        assert_eq!(stopped.at, at);

        world.faults.arm(Some((at, Fault::DieAfter)));
        world.inner.delete(&key("ORD#1", "a")).await.unwrap();
        let writes = four_writes();
        let result = outlived(world.table.in_order(&writes)).await;
        assert_eq!(result, None);
        assert_eq!(world.faults.calls().len(), at + 1);
        assert_eq!(world.sent.bodies().len(), usize::from(at == 3));
    }
}

#[tokio::test]
async fn a_message_repeats_but_does_not_conflict() {
    for (fault, times) in [(Fault::Repeated, 2), (Fault::Conflict, 1)] {
        let world = world();
        world.faults.arm(Some((0, fault)));
        let send = [Write::Send(message("hello"))];
        assert_eq!(world.table.in_order(&send).await, Ok(()));
        assert_eq!(world.sent.bodies().len(), times);
    }
}

#[tokio::test]
async fn a_message_that_is_not_last_is_invalid_here_too() {
    let world = world();
    let writes = four_writes().into_iter().rev().collect::<Vec<_>>();
    let stopped = world.table.in_order(&writes).await;
    assert!(matches!(
        stopped,
        Err(Stopped {
            at: 0,
            why: Failed::Error(TableError::Invalid(_))
        })
    ));
    assert!(world.faults.calls().is_empty());
}

#[tokio::test]
async fn calls_of_providers_pass_or_go_wrong() {
    for (fault, done, result) in [
        (None, true, Some(Ok(1))),
        (Some(Fault::Conflict), true, Some(Ok(1))),
        (Some(Fault::FailBefore), false, Some(Err("lost"))),
        (Some(Fault::Throttled), false, Some(Err("lost"))),
        (Some(Fault::FailAfter), true, Some(Err("lost"))),
        (Some(Fault::Repeated), true, Some(Err("lost"))),
        (Some(Fault::DieBefore), false, None),
        (Some(Fault::DieAfter), true, None),
    ] {
        let faults = Faults::default();
        faults.arm(fault.map(|fault| (0, fault)));
        let mut was_done = false;
        let call = async {
            was_done = true;
            Ok(1)
        };
        let passed = outlived(faults.pass("charge", || "lost", call)).await;
        assert_eq!(passed, result, "{fault:?}");
        assert_eq!(was_done, done, "{fault:?}");
        assert_eq!(faults.calls(), ["charge"]);
    }
}

/// Which of many reads fail in this weather.
async fn struck(seed: u64, percent: u8) -> Vec<bool> {
    let world = world();
    world.faults.weather(Some(Weather {
        seed,
        percent,
        faults: vec![Fault::FailBefore, Fault::FailAfter],
    }));
    let query = Query {
        reads: Reads::Eventual,
        ..list(None, "A", 1)
    };
    let mut struck = Vec::new();
    for _ in 0..1000 {
        struck.push(world.table.query(&query).await.is_err());
    }
    world.faults.weather(None);
    assert!(world.table.query(&query).await.is_ok());
    struck
}

#[tokio::test]
async fn weather_strikes_as_often_as_asked_and_the_same_for_a_seed() {
    let some = struck(7, 20).await;
    let many = some.iter().filter(|is_struck| **is_struck).count();
    assert!((150..250).contains(&many), "{many}");
    assert_eq!(some, struck(7, 20).await);
    assert_ne!(some, struck(8, 20).await);
    assert!(struck(7, 0).await.iter().all(|is_struck| !is_struck));
    assert!(struck(7, 100).await.iter().all(|is_struck| *is_struck));
}
