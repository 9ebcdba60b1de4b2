//! Exports.

use onsale_domain::export::{Export, ExportKind, ExportStatus};
use onsale_domain::ids::{AccountId, ExportId, ShowId};
use onsale_store::{List, Store, Versioned, Written};

use super::{NOW, eventually, fresh};

contract! {
    an_export_is_created_once_and_moves_by_its_version,
    only_exports_that_are_not_ready_are_listed,
}

fn export() -> Export {
    Export::begin(
        ExportId::from_bytes(fresh()),
        ShowId::from_bytes(fresh()),
        AccountId::from_bytes(fresh()),
        ExportKind::Attendees,
        NOW,
    )
}

async fn an_export_is_created_once_and_moves_by_its_version(store: &Store) {
    let first = export();
    assert_eq!(store.read::<Export>(first.id).await.unwrap(), None);
    assert_eq!(store.create(&first).await.unwrap(), Written::Done(1));
    let stored = Versioned {
        version: 1,
        value: first.clone(),
    };
    let again = Export {
        kind: ExportKind::Orders,
        ..first.clone()
    };
    let lost = store.create(&again).await.unwrap();
    assert_eq!(lost, Written::Lost(stored.clone()));
    let next = Versioned {
        version: 1,
        value: first.part_written(2, 7, Some("2@x".to_owned()), NOW + 5),
    };
    assert_eq!(store.replace(&next).await.unwrap(), Written::Done(2));
    let moved = Versioned { version: 2, ..next };
    let late = store.replace(&stored).await.unwrap();
    assert_eq!(late, Written::Lost(moved.clone()));
    assert_eq!(store.read::<Export>(first.id).await.unwrap(), Some(moved));
}

async fn only_exports_that_are_not_ready_are_listed(store: &Store) {
    let (open, done) = (export(), export());
    for export in [&open, &done] {
        store.create(export).await.unwrap();
    }
    let ready = Versioned {
        version: 1,
        value: done.ended(ExportStatus::Ready, NOW + 5),
    };
    store.replace(&ready).await.unwrap();
    eventually((true, false), || async {
        let listed = store.ids_in::<Export>(&List::OpenExports).await.unwrap();
        (listed.contains(&open.id), listed.contains(&done.id))
    })
    .await;
}
