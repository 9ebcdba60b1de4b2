//! The ledger of the sandbox provider.

use onsale_domain::ids::OrderId;
use onsale_domain::time::Millis;
use onsale_store::{Store, Versioned};

use super::{NOW, eventually, fresh};

contract! {
    an_entry_moves_under_its_version_only,
    entries_since_a_time_page_oldest_first,
}

fn at(version: u64, text: &str) -> Versioned<String> {
    let value = text.to_owned();
    Versioned { version, value }
}

fn new_id() -> String {
    format!("sbx_{}", OrderId::from_bytes(fresh()).simple())
}

async fn an_entry_moves_under_its_version_only(store: &Store) {
    let id = new_id();
    let put = |entry: Versioned<String>| {
        let id = &id;
        async move { store.put_sandbox_entry(id, NOW, &entry).await.unwrap() }
    };
    assert_eq!(store.sandbox_entry(&id).await.unwrap(), None);
    assert!(put(at(0, "opened")).await);
    assert!(!put(at(0, "opened again")).await);
    assert!(!put(at(2, "too early")).await);
    assert!(put(at(1, "authorised")).await);
    assert!(!put(at(1, "authorised")).await);
    let read = store.sandbox_entry(&id).await.unwrap();
    assert_eq!(read, Some(at(2, "authorised")));
}

async fn entries_since(store: &Store, since: Millis, tag: &str) -> Vec<String> {
    let (mut seen, mut after) = (Vec::new(), None);
    loop {
        let page = store
            .sandbox_entries(since, after.as_deref(), 2)
            .await
            .unwrap();
        assert!(page.items.len() <= 2);
        seen.extend(
            page.items
                .into_iter()
                .filter(|entry| entry.starts_with(tag)),
        );
        match page.next {
            Some(next) => after = Some(next),
            None => return seen,
        }
    }
}

async fn entries_since_a_time_page_oldest_first(store: &Store) {
    let tag = new_id();
    let text = |n: u64| format!("{tag} {n}");
    for n in [4, 0, 3, 1, 2] {
        let (id, entry) = (new_id(), at(0, &text(n)));
        let put = store.put_sandbox_entry(&id, NOW + n, &entry);
        assert!(put.await.unwrap());
    }
    for from in 0..=5 {
        let expected: Vec<_> = (from..5).map(text).collect();
        eventually(expected, || entries_since(store, NOW + from, &tag)).await;
    }
}
