//! What is left of a room long after its show.

use std::sync::atomic::Ordering;

use onsale_domain::room::allotment::Grant;
use onsale_domain::room::backend::Calls;
use onsale_domain::room::census::Tally;
use onsale_domain::room::gate::GateIndex;
use onsale_domain::room::opaque::Lot;
use onsale_domain::room::opening::Bucket;
use onsale_edge::host::{Flush, Links as _};
use onsale_edge::objects::counter::CounterObject;
use onsale_edge::objects::gate::GateObject;

use crate::controller::{Around, object};
use crate::scene::{SHOW, SINCE};

const DAY_MS: u64 = 86_400_000;

#[tokio::test]
async fn a_week_after_the_show_its_gates_forget_everybody_and_the_room_stays_closed() {
    let around = Around::default();
    let object = object(&around);
    object.bulletin().await.unwrap().unwrap();
    // The show begins a day after it was made.
    let due_ms = around.now().until(SINCE + 8 * DAY_MS);
    assert_eq!(object.rest().await.unwrap(), Some(due_ms));
    around.0.now.store(due_ms - 1, Ordering::SeqCst);
    assert_eq!(object.rest().await.unwrap(), Some(1));
    assert_eq!(around.0.forgets.load(Ordering::SeqCst), 0);
    around.0.now.store(due_ms, Ordering::SeqCst);
    assert_eq!(object.rest().await.unwrap(), None);
    // Eight gates and eight counters.
    assert_eq!(around.0.forgets.load(Ordering::SeqCst), 16);
    let before = around.0.grants.load(Ordering::SeqCst);
    let told = object.bulletin().await.unwrap().unwrap();
    assert!(told.published.is_over(around.now()));
    assert_eq!(around.0.grants.load(Ordering::SeqCst), before);
}

#[tokio::test]
async fn a_room_whose_show_was_moved_or_of_which_nothing_is_heard_is_kept() {
    let around = Around::default();
    object(&around).bulletin().await.unwrap().unwrap();
    around.0.now.store(8 * DAY_MS, Ordering::SeqCst);
    // As after a restart: what is stored knows of no other date.
    let object = object(&around);
    around.0.is_silent.store(true, Ordering::SeqCst);
    assert!(object.rest().await.is_err());
    around.0.is_silent.store(false, Ordering::SeqCst);
    around.0.moved_ms.store(3 * DAY_MS, Ordering::SeqCst);
    let due_ms = around.now().until(SINCE + 11 * DAY_MS);
    assert_eq!(object.rest().await.unwrap(), Some(due_ms));
    assert_eq!(around.0.forgets.load(Ordering::SeqCst), 0);
    let before = around.0.grants.load(Ordering::SeqCst);
    object.bulletin().await.unwrap().unwrap();
    assert_eq!(around.0.grants.load(Ordering::SeqCst), before + 8);
}

#[tokio::test]
async fn a_room_that_nobody_ever_asked_for_has_nothing_to_forget() {
    let around = Around::default();
    assert_eq!(object(&around).rest().await.unwrap(), None);
    assert!(around.0.stored.lock().unwrap().is_empty());
}

#[tokio::test]
async fn gates_and_counters_that_have_forgotten_keep_nothing_for_whoever_asks_late() {
    let around = Around::default();
    let is_empty = || around.0.stored.lock().unwrap().is_empty();
    let counter = CounterObject::new(SHOW, 3, around.clone(), around.clone());
    let joined = vec![(Bucket(7), Tally { fans: 0, others: 2 })];
    let calls = Calls::default();
    counter.add(Flush { joined, calls }).await.unwrap();
    assert!(!is_empty());
    counter.forget().await.unwrap();
    counter.report().await.unwrap();
    assert!(is_empty() && around.0.reports.lock().unwrap().is_empty());

    let keys = "test:a-secret-of-thirty-two-characters".parse().unwrap();
    let index = GateIndex::all().next().unwrap();
    let gate = GateObject::new(SHOW, index, around.clone(), around.clone(), keys);
    let grant = Grant {
        version: 1,
        slots: 5,
        entries: 5,
        turn: None,
        step: 0,
        ended: vec![],
        ended_from: 0,
    };
    gate.grant(&grant).await.unwrap();
    assert!(!is_empty());
    gate.forget().await.unwrap();
    assert!(!gate.leave(Lot([0; 16])).await.unwrap());
    assert!(is_empty());
}
