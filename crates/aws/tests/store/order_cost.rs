//! What the documents of an order cost, read from the consumed capacity of every answer.

use std::sync::Arc;

use onsale_app::App;
use onsale_app::holds::Wish;
use onsale_app::ports::Drive;
use onsale_aws_emulator::testing::Recorder;
use onsale_domain::gate::Admission;
use onsale_domain::ids::AccountId;
use onsale_domain::order::{Order, Stage as OrderStage, Why};
use onsale_domain::payment::PaymentMethod;
use onsale_domain::request_hash::IdempotencyKey;
use onsale_domain::show::RoomMode;
use onsale_domain::ticket::Ticket;
use onsale_domain::ticket_code::TicketKey;
use onsale_machine::OsEntropy;
use onsale_payments::{Pace, Sandbox};
use onsale_store::{SCHEMA, Store, Versioned};
use onsale_table::memory::MemoryTable;
use onsale_test_support::stage::{Plan, Stage};

use crate::contract::sample_orders::{order_of, steps_to_confirmed, tickets};
use crate::contract::{NOW, fresh};
use crate::places::{InProcess, in_process};

pub(crate) async fn counted() -> (Store, Recorder) {
    let mut recorder = None;
    let world = in_process(|http| recorder.insert(Recorder::new(http)).http_client()).await;
    (world.store, recorder.unwrap())
}

/// The write units of creating the order, and of each of these steps.
async fn units_of(order: &Order, steps: &[Order]) -> Vec<f64> {
    let (store, recorder) = counted().await;
    recorder.take();
    store.create(order).await.unwrap();
    let mut units = vec![recorder.take().write_units];
    for (version, step) in (1..).zip(steps) {
        let value = step.clone();
        let next = Versioned { version, value };
        store.replace(&next).await.unwrap();
        units.push(recorder.take().write_units);
    }
    units
}

#[tokio::test]
async fn only_beginning_ending_and_reopening_an_order_write_an_index() {
    // With its undo, an order of one or two seats fits one unit; eight seats fit two.
    for (seats, size) in [(1, 1.0), (2, 1.0), (8, 2.0)] {
        let order = order_of(seats, fresh(), AccountId::from_bytes(fresh()), NOW);
        let mut steps = steps_to_confirmed(&order);
        let confirmed = steps.last().unwrap();
        let cancelled = confirmed.call_off(Why::Buyer, 50, NOW).unwrap();
        steps.push(cancelled);
        let units = units_of(&order, &steps).await;
        // Created in both indexes; seven steps, of which the last leaves one; reopened.
        let indexes = [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0];
        let expected = indexes.map(|written| size + written);
        assert_eq!(units, expected, "{seats} seats");
    }
}

#[tokio::test]
async fn a_ticket_takes_two_write_units_to_issue_five_to_use_and_two_to_revoke() {
    let (store, recorder) = counted().await;
    let order = order_of(1, fresh(), AccountId::from_bytes(fresh()), NOW);
    let ticket = tickets(&order).remove(0);
    recorder.take();
    // Itself, and the list of its owner.
    store.create(&ticket).await.unwrap();
    assert_eq!(recorder.take().write_units, 2.0);
    let admission = Admission {
        scan: "0123456789abcdef0123456789abcdef".to_owned(),
        at: NOW,
        gate: "north".to_owned(),
        by: Some(order.account),
        device: None,
        undone: None,
    };
    let used = ticket.with_admissions(&admission.into(), NOW);
    let counts = ticket.admissions.count_changes(&used.admissions);
    let use_up = |version, value: &Ticket| {
        let value = value.clone();
        [Versioned { version, value }]
    };
    // The first at a gate also puts the gate in the list of gates.
    let first = store
        .store_admissions(order.show_id, &use_up(1, &used), &counts)
        .await;
    assert!(first.unwrap());
    assert_eq!(recorder.take().write_units, 6.0);
    let other = tickets(&order_of(1, fresh(), order.account, NOW)).remove(0);
    store.create(&other).await.unwrap();
    recorder.take();
    let next = other.with_admissions(&used.admissions, NOW);
    let next = store
        .store_admissions(order.show_id, &use_up(1, &next), &counts)
        .await;
    assert!(next.unwrap());
    // In a transaction the ticket and the count of its gate, twice each; the log of gates.
    assert_eq!(recorder.take().write_units, 5.0);

    let plain = tickets(&order_of(1, fresh(), order.account, NOW)).remove(0);
    store.create(&plain).await.unwrap();
    recorder.take();
    let value = plain.revoked(NOW).unwrap();
    let next = Versioned { version: 1, value };
    store.replace(&next).await.unwrap();
    assert_eq!(recorder.take().write_units, 2.0);
}

/// The application with a provider whose ledger lies elsewhere, and costs nothing here.
pub(crate) fn with_payments(world: &InProcess) -> App {
    let mut ports = (*world.app).clone();
    let table = Arc::new(MemoryTable::new(SCHEMA));
    let ledger = Store::new(table, world.clock.clone(), Arc::new(OsEntropy));
    ports.payments = Arc::new(Sandbox::new(ledger, world.clock.clone(), Pace::NONE));
    ports.ticket_signer = Arc::new(TicketKey::from_bytes(&[7; 32]));
    App::new(ports)
}

/// The write units of checking out two seats, and of driving the order to its end.
async fn units_of_a_paid_order(room: RoomMode) -> (f64, f64) {
    let mut recorder = None;
    let world = in_process(|http| recorder.insert(Recorder::new(http)).http_client()).await;
    let (app, recorder) = (with_payments(&world), recorder.unwrap());
    let plan = Plan {
        room,
        ..Plan::default()
    };
    let stage = Stage::set(&app, &plan).await.unwrap();
    let (buyer, show) = (stage.buyer(1).await.unwrap(), stage.show.id);
    let key = IdempotencyKey::parse("5f0c2b1e-3a77-4c55-9d3e-1f2a3b4c5d6e").unwrap();
    let wish = Wish::Seats(vec!["A-1-1".into(), "A-1-2".into()]);
    let pass = stage.pass(1);
    let held = app.place_hold(&buyer, show, &key, &wish, Some(&pass)).await;

    recorder.take();
    let method = PaymentMethod::parse("pm_card_visa").unwrap();
    let hold = held.unwrap().hold_id;
    let order_id = app.check_out(&buyer, show, hold, &key, method).await;
    let checkout = recorder.take().write_units;
    let order_id = order_id.unwrap();
    let message = Drive::Order { order_id, tries: 0 };
    app.drive(&message).await.unwrap();
    let usage = recorder.take();
    assert_eq!(usage.refused_writes, 0, "{usage:?}");
    let order = world.store.read::<Order>(order_id).await.unwrap().unwrap();
    assert_eq!(order.value.stage, OrderStage::Confirmed);
    (checkout, usage.write_units)
}

#[tokio::test]
async fn a_paid_order_takes_sixteen_write_units_and_two_for_each_ticket() {
    // The order with both its indexes, the buyer, the block, the order; then the order six
    // times, once with an index, the block, the buyer, the line of the sale and two tickets,
    // each in the list of its owner.
    assert_eq!(units_of_a_paid_order(RoomMode::Off).await, (6.0, 14.0));
}

#[tokio::test]
async fn an_order_under_a_pass_takes_two_more_to_close_it() {
    // The pass, and its place in the list of those that ended.
    assert_eq!(units_of_a_paid_order(RoomMode::Queue).await, (6.0, 16.0));
}
