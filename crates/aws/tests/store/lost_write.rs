//! A write of a versioned document is applied and its answer dropped: the SDK repeats
//! it, and the repetition must know its own work from anybody else's.

use onsale_app::shows::ShowChange;
use onsale_aws_emulator::testing::{FaultPlan, FaultyClient};
use onsale_domain::block::BlockIndex;
use onsale_domain::cancellation::Cancellation;
use onsale_domain::gate::Admission;
use onsale_domain::ids::{AccountId, ShowId};
use onsale_domain::money::Cents;
use onsale_domain::order::Order;
use onsale_domain::ticket::Ticket;
use onsale_store::{Reads, Store, StoreError, Versioned, Written};
use onsale_test_support::stage::{Plan, Stage};

use crate::contract::sample_orders::{confirmed, order, tickets};
use crate::contract::{NOW, fresh};
use crate::places::in_process;

fn at<T>(version: u64, value: T) -> Versioned<T> {
    Versioned { version, value }
}

/// A store that loses what the plan says, writes being counted from 1.
async fn store_with(plan: FaultPlan) -> Store {
    let world = in_process(|http| FaultyClient::new(http, plan).http_client()).await;
    world.store
}

/// Both ways to lose the answer to the first and to the second write. A repetition is a
/// request of its own, so a loss of the first write moves the second to number 3.
fn losses() -> Vec<FaultPlan> {
    let plan = FaultPlan::new;
    vec![
        plan()
            .drop_reply("UpdateItem", 1)
            .drop_reply("UpdateItem", 3),
        plan()
            .fail_before("UpdateItem", 1)
            .fail_before("UpdateItem", 3),
        plan()
            .drop_reply("UpdateItem", 1)
            .drop_reply("UpdateItem", 2),
        plan()
            .fail_before("UpdateItem", 1)
            .drop_reply("UpdateItem", 2),
    ]
}

#[tokio::test]
async fn an_order_is_created_and_moved_although_answers_are_lost() {
    for plan in losses() {
        let store = store_with(plan).await;
        let order = order(AccountId::from_bytes(fresh()), NOW);
        let created = store.create(&order).await.unwrap();
        assert_eq!(created, Written::Done(1));
        let next = confirmed(&order);
        let moved = store.replace(&at(1, next.clone())).await.unwrap();
        assert_eq!(moved, Written::Done(2));
        let read = store.read::<Order>(order.id).await.unwrap();
        assert_eq!(read, Some(at(2, next)));
        let open = store.open_orders(None, 10).await.unwrap();
        assert_eq!(open.items, vec![]);
    }
}

#[tokio::test]
async fn a_ticket_is_created_and_used_although_answers_are_lost() {
    for plan in losses() {
        let store = store_with(plan).await;
        let ticket = tickets(&order(AccountId::from_bytes(fresh()), NOW)).remove(0);
        let created = store.create(&ticket).await.unwrap();
        assert_eq!(created, Written::Done(1));
        let next = ticket.revoked(NOW).unwrap();
        let moved = store.replace(&at(1, next.clone())).await.unwrap();
        assert_eq!(moved, Written::Done(2));
        let read = store.read::<Ticket>(ticket.id).await.unwrap();
        assert_eq!(read, Some(at(2, next)));
    }
}

/// A transaction that is repeated finds its own mark, and the gate counts once.
#[tokio::test]
async fn an_admission_is_stored_and_counted_once_although_answers_are_lost() {
    let lost = |n| FaultPlan::new().drop_reply("TransactWriteItems", n);
    let plans = [
        lost(1),
        lost(1).drop_reply("TransactWriteItems", 2),
        FaultPlan::new().fail_before("TransactWriteItems", 1),
    ];
    for plan in plans {
        let store = store_with(plan).await;
        let order = order(AccountId::from_bytes(fresh()), NOW);
        let ticket = tickets(&order).remove(0);
        store.create(&ticket).await.unwrap();
        let admission = Admission {
            scan: "s".to_owned(),
            at: NOW,
            gate: "north".to_owned(),
            by: None,
            device: None,
            undone: None,
        };
        let used = [at(1, ticket.with_admissions(&admission.into(), NOW))];
        let counts = [("north".to_owned(), 1)];
        let stored = store.store_admissions(order.show_id, &used, &counts).await;
        assert!(stored.unwrap());
        let counted = store.gate_counts(order.show_id).await.unwrap();
        assert_eq!(counted.len(), 1);
        assert_eq!(counted[0].admitted, 1);
        assert_eq!(
            store
                .read::<Ticket>(ticket.id)
                .await
                .unwrap()
                .unwrap()
                .version,
            2
        );
    }
}

#[tokio::test]
async fn a_cancellation_and_a_ledger_go_on_although_answers_are_lost() {
    for plan in losses() {
        let store = store_with(plan).await;
        let first = Cancellation::begin(ShowId::from_bytes(fresh()), NOW);
        let created = store.create(&first).await.unwrap();
        assert_eq!(created, Written::Done(1));
        let next = at(1, first.done(NOW));
        let moved = store.replace(&next).await.unwrap();
        assert_eq!(moved, Written::Done(2));
    }
    for plan in losses() {
        let store = store_with(plan).await;
        for version in 0..2 {
            let entry = at(version, version.to_string());
            let put = store.put_sandbox_entry("id", NOW, &entry).await.unwrap();
            assert!(put);
        }
    }
}

#[tokio::test]
async fn who_comes_back_after_an_outage_is_told_what_is_there() {
    // The SDK gives up after four tries.
    let outage = (2..=5).fold(FaultPlan::new(), |plan, nth| {
        plan.drop_reply("UpdateItem", nth)
    });
    let store = store_with(outage).await;
    let order = order(AccountId::from_bytes(fresh()), NOW);
    store.create(&order).await.unwrap();
    let next = at(1, confirmed(&order));
    let unknown = store.replace(&next).await;
    assert!(
        matches!(unknown, Err(StoreError::Unavailable(_))),
        "{unknown:?}"
    );
    let again = store.replace(&next).await.unwrap();
    assert_eq!(again, Written::Lost(at(2, next.value)));
}

#[tokio::test]
async fn blocks_are_closed_although_answers_are_lost() {
    let plan = (1..=20).fold(FaultPlan::new(), |plan, nth| match nth % 2 {
        0 => plan.drop_reply("UpdateItem", nth),
        _ => plan.fail_before("UpdateItem", nth),
    });
    let store = store_with(plan).await;
    let show = ShowId::from_bytes(fresh());
    let blocks: Vec<_> = (0..30).map(BlockIndex).collect();
    store.close_blocks(show, &blocks).await.unwrap();
    let read = store
        .read_blocks(show, &blocks, Reads::Consistent)
        .await
        .unwrap();
    assert!(read.len() == 30 && read.iter().all(|(_, block)| block.closed));
}

#[tokio::test]
async fn new_prices_are_noted_once_although_the_answer_is_lost() {
    // A stage takes two transactions, for its venue and its show.
    let losses = [
        FaultPlan::new().drop_reply("TransactWriteItems", 3),
        FaultPlan::new().fail_before("TransactWriteItems", 3),
    ];
    for plan in losses {
        let world = in_process(|http| FaultyClient::new(http, plan).http_client()).await;
        let stage = Stage::set(&world.app, &Plan::default()).await.unwrap();
        let organiser = stage.organiser().await.unwrap();
        let prices = stage.show.prices.iter();
        let prices = prices.map(|(section, _)| (section.clone(), Cents(5_000)));
        let change = ShowChange {
            prices: Some(prices.collect()),
            ..ShowChange::default()
        };
        let show = stage.show.id;
        for _ in ["now", "and again"] {
            let changed = world.app.change_show(&organiser, show, &change).await;
            assert_eq!(changed.unwrap().prices[0].1.amount, Cents(5_000));
        }
        let (_, log) = world.app.price_history(show, None, 10).await.unwrap();
        let asked: Vec<_> = log.items.iter().map(|p| p.figures.prices()[0]).collect();
        assert_eq!(asked, [Cents(5_000)]);
    }
}
