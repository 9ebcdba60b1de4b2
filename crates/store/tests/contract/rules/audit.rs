//! Audit trails are added to and never changed.

use onsale_domain::audit::{AuditAction, AuditChange, AuditEntry};
use onsale_domain::ids::{AccountId, ShowId};
use onsale_domain::time::Millis;
use onsale_store::Store;

use super::{NOW, eventually, fresh};

contract! {
    an_entry_is_written_once_and_stays_as_it_was,
    entries_are_listed_by_show_newest_first,
}

fn entry(show: ShowId, subject: &[u8], at: Millis) -> AuditEntry {
    let change = AuditChange::new("room.mode", Some("off".into()), Some("queue".into()));
    let account = AccountId::from_bytes([4; 16]);
    let action = AuditAction::RoomChanged;
    AuditEntry::new(show, account, action, subject, vec![change], at)
}

async fn listed(store: &Store, show: ShowId) -> Vec<AuditEntry> {
    store.audit_of(show, None, 10).await.unwrap().items
}

async fn an_entry_is_written_once_and_stays_as_it_was(store: &Store) {
    let show = ShowId::from_bytes(fresh());
    let first = entry(show, b"1", NOW);
    store.note(&first).await.unwrap();
    let mut forged = entry(show, b"1", NOW + 50);
    forged.account = AccountId::from_bytes([9; 16]);
    assert_eq!(forged.id, first.id);
    store.note(&forged).await.unwrap();
    eventually(vec![first], || listed(store, show)).await;
}

async fn entries_are_listed_by_show_newest_first(store: &Store) {
    let (show, other) = (ShowId::from_bytes(fresh()), ShowId::from_bytes(fresh()));
    let entries = [0, 10, 20].map(|ms: u64| entry(show, &ms.to_be_bytes(), NOW + ms));
    for entry in &entries {
        store.note(entry).await.unwrap();
    }
    store.note(&entry(other, b"x", NOW)).await.unwrap();
    let newest: Vec<_> = entries.iter().rev().cloned().collect();
    eventually(newest.clone(), || listed(store, show)).await;
    let first = store.audit_of(show, None, 2).await.unwrap();
    assert_eq!(first.items, newest[..2]);
    let rest = store
        .audit_of(show, first.next.as_deref(), 2)
        .await
        .unwrap();
    assert_eq!((rest.items.as_slice(), rest.next), (&newest[2..], None));
}
