//! Tickets: created once, used once.

use std::collections::BTreeSet;

use onsale_domain::gate::Admission;
use onsale_domain::ids::{AccountId, TicketId};
use onsale_domain::ticket::{Scan, Ticket};
use onsale_store::{Store, Versioned, Written};

use super::sample_orders::{order, tickets};
use super::{NOW, fresh};

contract! {
    a_ticket_is_created_once,
    a_ticket_moves_under_its_version_only,
    a_ticket_that_two_gates_use_in_the_same_instant_is_used_once,
    tickets_are_read_together,
}

fn ticket() -> Ticket {
    tickets(&order(AccountId::from_bytes(fresh()), NOW)).remove(0)
}

fn at(version: u64, value: &Ticket) -> Versioned<Ticket> {
    let value = value.clone();
    Versioned { version, value }
}

async fn a_ticket_is_created_once(store: &Store) {
    let ticket = ticket();
    assert_eq!(store.read::<Ticket>(ticket.id).await.unwrap(), None);
    assert_eq!(store.create(&ticket).await.unwrap(), Written::Done(1));
    let revoked = ticket.revoked(NOW).unwrap();
    let late = store.create(&revoked).await.unwrap();
    assert_eq!(late, Written::Lost(at(1, &ticket)));
    assert_eq!(
        store.read::<Ticket>(ticket.id).await.unwrap(),
        Some(at(1, &ticket))
    );
}

async fn a_ticket_moves_under_its_version_only(store: &Store) {
    let ticket = ticket();
    store.create(&ticket).await.unwrap();
    let revoked = ticket.revoked(NOW).unwrap();
    let moved = store.replace(&at(1, &revoked)).await.unwrap();
    assert_eq!(moved, Written::Done(2));
    let late = store.replace(&at(1, &ticket)).await.unwrap();
    assert_eq!(late, Written::Lost(at(2, &revoked)));
}

async fn a_ticket_that_two_gates_use_in_the_same_instant_is_used_once(store: &Store) {
    let ticket = ticket();
    store.create(&ticket).await.unwrap();
    let admission = Admission {
        scan: "scan".to_owned(),
        at: NOW,
        gate: "north".to_owned(),
        by: None,
        device: None,
        undone: None,
    };
    let Scan::Admitted(used) = ticket.scan(0, admission) else {
        panic!("a valid ticket admits");
    };
    // Both write the very same document, and only one of them lets somebody in.
    let used = at(1, &used);
    let (one, two) = tokio::join!(store.replace(&used), store.replace(&used));
    let answers = [one.unwrap(), two.unwrap()];
    let done = answers.iter().filter(|a| **a == Written::Done(2)).count();
    assert_eq!(done, 1, "{answers:?}");
    let stored = at(2, &used.value);
    assert!(answers.contains(&Written::Lost(stored)), "{answers:?}");
}

async fn tickets_are_read_together(store: &Store) {
    let order = order(AccountId::from_bytes(fresh()), NOW);
    let issued = tickets(&order);
    for ticket in &issued {
        store.create(ticket).await.unwrap();
    }
    let mut wanted = order.ticket_ids();
    wanted.push(TicketId::from_bytes(fresh()));
    let read = store.read_many::<Ticket>(&wanted).await.unwrap();
    let seats: BTreeSet<_> = read.into_iter().map(|t| t.value.seat).collect();
    assert_eq!(seats, order.seat_ids().into_iter().collect());
}
