//! Gates: admissions are stored with their counts or not at all, and the log says what
//! changed.

use onsale_domain::gate::{Admission, Conflict};
use onsale_domain::ids::{AccountId, ShowId, TicketId};
use onsale_domain::request_hash::RequestHash;
use onsale_domain::ticket::Ticket;
use onsale_domain::time::Millis;
use onsale_store::{EntryRight, GateChange, GateCount, KeptScan, Store, Versioned};

use super::sample_orders::{order, tickets};
use super::{NOW, eventually, fresh};

contract! {
    admissions_and_counts_are_stored_together_or_not_at_all,
    a_scan_is_kept_with_its_ticket_and_its_key_names_no_other,
    the_log_of_gates_has_each_ticket_once_at_its_last_change,
    the_log_of_gates_is_read_page_by_page_and_from_a_time_on,
    a_ticket_with_a_conflict_is_listed_until_that_is_undone,
}

/// Two tickets of one order, stored.
async fn stored(store: &Store) -> Vec<Ticket> {
    let order = order(AccountId::from_bytes(fresh()), NOW);
    let tickets = tickets(&order);
    for ticket in &tickets {
        store.create(ticket).await.unwrap();
    }
    tickets
}

fn admission(gate: &str, at: Millis) -> Admission {
    Admission {
        scan: format!("scan at {gate}"),
        at,
        gate: gate.to_owned(),
        by: Some(AccountId::from_bytes([5; 16])),
        device: Some("device".to_owned()),
        undone: None,
    }
}

fn used(version: u64, ticket: &Ticket, gate: &str, at: Millis) -> Versioned<Ticket> {
    let value = ticket.with_admissions(&admission(gate, at).into(), at);
    Versioned { version, value }
}

fn counts(counts: &[(&str, i64)]) -> Vec<(String, i64)> {
    counts
        .iter()
        .map(|(gate, n)| ((*gate).to_owned(), *n))
        .collect()
}

async fn counted(store: &Store, show: ShowId) -> Vec<(String, u64)> {
    let counts = store.gate_counts(show).await.unwrap();
    let pair = |GateCount { gate, admitted }| (gate, admitted);
    counts.into_iter().map(pair).collect()
}

async fn a_scan_is_kept_with_its_ticket_and_its_key_names_no_other(store: &Store) {
    let tickets = stored(store).await;
    let id = format!("{:032x}", u128::from_be_bytes(fresh()));
    let scan = |request: &str| KeptScan {
        id: id.clone(),
        request: RequestHash::of(request.as_bytes()),
        until: NOW + 10_000,
    };
    let store_scan = async |version, ticket: usize, request: &str, now: Millis| {
        let ticket = used(version, &tickets[ticket], "north", now);
        let (counts, scan) = (counts(&[("north", 1)]), scan(request));
        let stored = store.store_scan(&ticket, &counts, &scan, now).await;
        stored.unwrap()
    };
    assert_eq!(store.kept_scan(&id, NOW).await.unwrap(), None);
    assert!(!store_scan(7, 0, "first", NOW).await, "the ticket moved on");
    assert_eq!(store.kept_scan(&id, NOW).await.unwrap(), None);
    assert!(store_scan(1, 0, "first", NOW).await);
    let kept = store.kept_scan(&id, NOW + 9_000).await.unwrap();
    assert_eq!(kept, Some(scan("first").request));
    assert!(!store_scan(1, 1, "second", NOW).await, "it names another");
    assert!(store_scan(2, 0, "first", NOW).await, "the same again");
    let north = |n| vec![("north".to_owned(), n)];
    eventually(north(2), || counted(store, tickets[0].show_id)).await;
    let later = NOW + 10_000;
    assert_eq!(store.kept_scan(&id, later).await.unwrap(), None);
    assert!(store_scan(1, 1, "second", later).await, "it is forgotten");
}

async fn admissions_and_counts_are_stored_together_or_not_at_all(store: &Store) {
    let tickets = stored(store).await;
    let show = tickets[0].show_id;
    let both = [
        used(1, &tickets[0], "north #1", NOW),
        used(1, &tickets[1], "north #1", NOW),
    ];
    assert!(
        store
            .store_admissions(show, &both, &counts(&[("north #1", 2)]))
            .await
            .unwrap()
    );
    let north = |n| vec![("north #1".to_owned(), n)];
    eventually(north(2), || counted(store, show)).await;
    // One of the two has moved on: neither is stored, and nothing is counted.
    let late = [
        used(2, &tickets[0], "south", NOW),
        used(1, &tickets[1], "south", NOW),
    ];
    assert!(
        !store
            .store_admissions(show, &late, &counts(&[("south", 2)]))
            .await
            .unwrap()
    );
    assert_eq!(
        store
            .read::<Ticket>(tickets[0].id)
            .await
            .unwrap()
            .unwrap()
            .version,
        2
    );
    assert_eq!(counted(store, show).await, north(2));
    let value = both[0]
        .value
        .without_admissions(AccountId::from_bytes([6; 16]), NOW)
        .unwrap();
    let undone = [Versioned { version: 2, value }];
    assert!(
        store
            .store_admissions(show, &undone, &counts(&[("north #1", -1)]))
            .await
            .unwrap()
    );
    assert_eq!(counted(store, show).await, north(1));
    assert_eq!(counted(store, ShowId::from_bytes(fresh())).await, []);
}

async fn log(store: &Store, show: ShowId, from: Millis) -> Vec<GateChange> {
    store
        .gate_changes(show, from, None, 100)
        .await
        .unwrap()
        .items
}

fn change(ticket: TicketId, right: EntryRight) -> GateChange {
    GateChange { ticket, right }
}

fn at_gate(gate: &str, at: Millis) -> EntryRight {
    let gate = gate.to_owned();
    EntryRight::Used { at, gate }
}

async fn the_log_of_gates_has_each_ticket_once_at_its_last_change(store: &Store) {
    let tickets = stored(store).await;
    let (show, one, two) = (tickets[0].show_id, tickets[0].id, tickets[1].id);
    assert_eq!(log(store, show, Millis(0)).await, []);
    let entered = used(1, &tickets[0], "Tor 1#", NOW + 5);
    let revoked = Versioned {
        version: 1,
        value: tickets[1].revoked(NOW + 7).unwrap(),
    };
    assert!(
        store
            .store_admissions(show, std::slice::from_ref(&entered), &[])
            .await
            .unwrap()
    );
    store.replace(&revoked).await.unwrap();
    let expected = vec![
        change(one, at_gate("Tor 1#", NOW + 5)),
        change(two, EntryRight::Revoked),
    ];
    eventually(expected, || log(store, show, Millis(0))).await;
    let value = entered
        .value
        .without_admissions(AccountId::from_bytes([6; 16]), NOW + 9);
    let value = value.unwrap();
    let undone = Versioned { version: 2, value };
    assert!(store.store_admissions(show, &[undone], &[]).await.unwrap());
    let expected = vec![
        change(two, EntryRight::Revoked),
        change(one, EntryRight::GoodAgain),
    ];
    eventually(expected, || log(store, show, Millis(0))).await;
}

async fn the_log_of_gates_is_read_page_by_page_and_from_a_time_on(store: &Store) {
    let tickets = stored(store).await;
    let show = tickets[0].show_id;
    for (n, ticket) in tickets.iter().enumerate() {
        let entered = used(1, ticket, "north", NOW + 10 * n as u64);
        assert!(store.store_admissions(show, &[entered], &[]).await.unwrap());
    }
    let ids = |changes: &[GateChange]| changes.iter().map(|c| c.ticket).collect::<Vec<_>>();
    let both = vec![tickets[0].id, tickets[1].id];
    eventually(both, || async { ids(&log(store, show, NOW).await) }).await;
    let first = store.gate_changes(show, Millis(0), None, 1).await.unwrap();
    assert_eq!(ids(&first.items), [tickets[0].id]);
    let after = first.next.unwrap();
    let rest = store
        .gate_changes(show, Millis(0), Some(&after), 5)
        .await
        .unwrap();
    assert_eq!((ids(&rest.items), rest.next), (vec![tickets[1].id], None));
    assert_eq!(ids(&log(store, show, NOW + 1).await), [tickets[1].id]);
    assert_eq!(ids(&log(store, show, NOW + 11).await), []);
}

async fn a_ticket_with_a_conflict_is_listed_until_that_is_undone(store: &Store) {
    let tickets = stored(store).await;
    let show = tickets[0].show_id;
    let conflicts = async |kind| -> Vec<TicketId> {
        let page = store.gate_conflicts(show, kind, None, 10).await.unwrap();
        page.items.into_iter().map(|ticket| ticket.id).collect()
    };
    let once = used(1, &tickets[0], "north", NOW);
    let twice = once
        .value
        .with_admissions(&admission("south", NOW).into(), NOW);
    let twice = Versioned {
        version: 1,
        value: twice,
    };
    let dead = tickets[1].revoked(NOW).unwrap();
    let dead = used(1, &dead, "north", NOW);
    assert!(
        store
            .store_admissions(show, &[twice.clone(), dead], &[])
            .await
            .unwrap()
    );
    eventually(vec![tickets[0].id], || conflicts(Conflict::Double)).await;
    eventually(vec![tickets[1].id], || conflicts(Conflict::Revoked)).await;
    let value = twice
        .value
        .without_admissions(AccountId::from_bytes([6; 16]), NOW);
    let value = value.unwrap();
    let undone = Versioned { version: 2, value };
    assert!(store.store_admissions(show, &[undone], &[]).await.unwrap());
    eventually(vec![], || conflicts(Conflict::Double)).await;
}
