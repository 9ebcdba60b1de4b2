//! Orders: created once, moved under their version, and listed.

use std::collections::BTreeSet;

use onsale_domain::checkout_saga::{Charged, Moved};
use onsale_domain::ids::{AccountId, OrderId};
use onsale_domain::order::{Order, Why};
use onsale_domain::ticket::Ticket;
use onsale_domain::time::Millis;
use onsale_store::{Store, StoreError, Versioned, Written};

use super::sample_orders::{attempt, confirmed, order, order_of, tickets};
use super::{NOW, eventually, fresh};

contract! {
    an_order_is_created_once,
    an_order_moves_under_its_version_only,
    an_order_that_was_never_stored_cannot_move,
    an_order_moves_with_its_tickets_or_not_at_all,
    many_orders_are_read_together,
    a_buyer_sees_their_own_orders_newest_first,
    an_order_is_listed_while_its_saga_has_work,
    the_open_orders_page_through_everything_once,
}

fn at(version: u64, value: &Order) -> Versioned<Order> {
    let value = value.clone();
    Versioned { version, value }
}

async fn an_order_is_created_once(store: &Store) {
    let first = order(AccountId::from_bytes(fresh()), NOW);
    assert_eq!(store.read::<Order>(first.id).await.unwrap(), None);
    assert_eq!(store.create(&first).await.unwrap(), Written::Done(1));
    let other = first.park("another".into(), NOW + 1);
    // Even the same order again is somebody else's write.
    for again in [&other, &first] {
        let lost = store.create(again).await.unwrap();
        assert_eq!(lost, Written::Lost(at(1, &first)));
    }
    assert_eq!(
        store.read::<Order>(first.id).await.unwrap(),
        Some(at(1, &first))
    );
}

async fn an_order_moves_under_its_version_only(store: &Store) {
    let first = order(AccountId::from_bytes(fresh()), NOW);
    store.create(&first).await.unwrap();
    let second = first.locked(Moved::Done, NOW + 1);
    let moved = store.replace(&at(1, &second)).await.unwrap();
    assert_eq!(moved, Written::Done(2));
    let late = first.locked(Moved::SeatsLost, NOW + 2);
    for again in [&late, &second] {
        let lost = store.replace(&at(1, again)).await.unwrap();
        assert_eq!(lost, Written::Lost(at(2, &second)));
    }
    let early = store.replace(&at(3, &late)).await.unwrap();
    assert_eq!(early, Written::Lost(at(2, &second)));
    assert_eq!(
        store.read::<Order>(first.id).await.unwrap(),
        Some(at(2, &second))
    );
}

async fn an_order_that_was_never_stored_cannot_move(store: &Store) {
    let never = order(AccountId::from_bytes(fresh()), NOW);
    let moved = store.replace(&at(1, &never)).await;
    assert!(matches!(moved, Err(StoreError::Corrupt(_))), "{moved:?}");
    assert_eq!(store.read::<Order>(never.id).await.unwrap(), None);
}

async fn an_order_moves_with_its_tickets_or_not_at_all(store: &Store) {
    let first = confirmed(&order(AccountId::from_bytes(fresh()), NOW));
    store.create(&first).await.unwrap();
    let mine = tickets(&first);
    for ticket in &mine {
        store.create(ticket).await.unwrap();
    }
    let off = first.call_off(Why::Buyer, 100, NOW + 5).unwrap();
    let dead = |versions: [u64; 2]| -> Vec<_> {
        let dead = mine.iter().map(|ticket| ticket.revoked(NOW + 5).unwrap());
        let dead = versions.into_iter().zip(dead);
        dead.map(|(version, value)| Versioned { version, value })
            .collect()
    };
    let call_off = async |version: u64, versions: [u64; 2]| {
        let mut together = store.together();
        together
            .replace(&at(version, &off))
            .and_then(|t| t.replace_all(&dead(versions)))
            .unwrap();
        store.write(&together).await.unwrap()
    };
    for (version, versions) in [(2, [1, 1]), (1, [1, 2]), (1, [2, 1])] {
        assert!(!call_off(version, versions).await, "{version} {versions:?}");
        assert_eq!(
            store.read::<Order>(first.id).await.unwrap(),
            Some(at(1, &first))
        );
        let stored = store
            .read_many::<Ticket>(&first.ticket_ids())
            .await
            .unwrap();
        assert!(stored.iter().all(|ticket| ticket.version == 1));
    }
    assert!(call_off(1, [1, 1]).await);
    assert_eq!(
        store.read::<Order>(first.id).await.unwrap(),
        Some(at(2, &off))
    );
    let stored = store
        .read_many::<Ticket>(&first.ticket_ids())
        .await
        .unwrap();
    assert_eq!(stored.len(), 2);
    assert!(stored.iter().all(|t| t.version == 2 && !t.value.is_valid()));
    assert!(!call_off(1, [1, 1]).await, "another write of the same");
}

async fn many_orders_are_read_together(store: &Store) {
    let account = AccountId::from_bytes(fresh());
    let mut ids = BTreeSet::new();
    for n in 0..130 {
        let order = order(account, NOW + n);
        store.create(&order).await.unwrap();
        ids.insert(order.id);
    }
    let mut wanted: Vec<_> = ids.iter().copied().collect();
    wanted.push(OrderId::from_bytes(fresh()));
    wanted.push(wanted[0]);
    let read = store.read_many::<Order>(&wanted).await.unwrap();
    assert_eq!(
        read.iter().map(|o| o.value.id).collect::<BTreeSet<_>>(),
        ids
    );
    assert!(read.iter().all(|o| o.version == 1));
    assert_eq!(store.read_many::<Order>(&[]).await.unwrap(), vec![]);
}

async fn all_of(store: &Store, account: AccountId) -> Vec<Order> {
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = store.orders_of(account, after.as_deref(), 3).await.unwrap();
        assert!(page.items.len() <= 3);
        seen.extend(page.items);
        match page.next {
            Some(next) => after = Some(next),
            None => return seen,
        }
    }
}

async fn a_buyer_sees_their_own_orders_newest_first(store: &Store) {
    let (buyer, other) = (
        AccountId::from_bytes(fresh()),
        AccountId::from_bytes(fresh()),
    );
    let mut own = Vec::new();
    for n in 0..7 {
        let order = order(buyer, NOW + n);
        store.create(&order).await.unwrap();
        own.push(order);
    }
    own.reverse();
    store.create(&order(other, NOW + 3)).await.unwrap();
    eventually(own.clone(), || all_of(store, buyer)).await;
    // A list shows orders as they are, and a step does not move them in it.
    own[2] = confirmed(&own[2]);
    store.replace(&at(1, &own[2])).await.unwrap();
    eventually(own, || all_of(store, buyer)).await;
    let nobody = AccountId::from_bytes(fresh());
    assert_eq!(all_of(store, nobody).await, vec![]);
}

/// Every open order there is, page by page.
async fn all_open(store: &Store, limit: usize) -> Vec<OrderId> {
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = store.open_orders(after.as_deref(), limit).await.unwrap();
        assert!(page.items.len() <= limit);
        seen.extend(page.items);
        match page.next {
            Some(next) => after = Some(next),
            None => return seen,
        }
    }
}

async fn an_order_is_listed_while_its_saga_has_work(store: &Store) {
    let first = order(AccountId::from_bytes(fresh()), NOW);
    let id = first.id;
    let listed = || async { all_open(store, 50).await.contains(&id) };
    store.create(&first).await.unwrap();
    eventually(true, listed).await;

    let declined = first
        .locked(Moved::Done, NOW + 1)
        .charged(Charged::Refused("no".into()), NOW + 1)
        .hold_given_back(NOW + 1);
    let again = declined.try_again(attempt("second"), NOW + 2).unwrap();
    let confirmed = confirmed(&again);
    let cancelled = confirmed.call_off(Why::Buyer, 50, NOW + 3).unwrap();
    let ended = cancelled.end_announced(NOW + 4);
    let steps = [
        (declined, false),
        (again, true),
        (confirmed, false),
        (cancelled.clone(), true),
        (cancelled, true),
        (ended, false),
    ];
    for (version, (next, open)) in (1..).zip(steps) {
        assert_eq!(next.is_open(), open);
        let moved = store.replace(&at(version, &next)).await.unwrap();
        assert_eq!(moved, Written::Done(version + 1));
        eventually(open, listed).await;
    }
}

async fn the_open_orders_page_through_everything_once(store: &Store) {
    let account = AccountId::from_bytes(fresh());
    let mut made = BTreeSet::new();
    // The last byte of an id decides its part of the list: more than two in each.
    for n in 0..40u8 {
        let mut id = fresh();
        id[15] = n;
        let order = order_of(2, id, account, Millis(NOW.0 - u64::from(n)));
        store.create(&order).await.unwrap();
        made.insert(order.id);
    }
    for limit in [1, 7, 100] {
        let own = || async {
            let mut own = all_open(store, limit).await;
            own.retain(|id| made.contains(id));
            assert!(own.len() <= made.len(), "none comes twice");
            let part = |id: &&OrderId| id.as_bytes()[15] % 16 == 5;
            // The younger the byte, the older the order.
            let in_part: Vec<_> = own
                .iter()
                .filter(part)
                .map(|id| id.as_bytes()[15])
                .collect();
            assert!(in_part.is_sorted_by(|a, b| a > b), "oldest first");
            own.into_iter().collect::<BTreeSet<_>>()
        };
        eventually(made.clone(), own).await;
    }
}
