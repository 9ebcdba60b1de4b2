//! The data folder: what is kept in it, and what is refused.

use std::path::Path;

use onsale_local_cloud::{CloudError, LocalCloud};
use onsale_table::{Item, Key, Reads, Table};

async fn refusal(dir: &Path) -> CloudError {
    LocalCloud::open(dir).await.unwrap_err()
}

#[tokio::test]
async fn what_was_written_is_there_after_reopening() {
    let dir = tempfile::tempdir().unwrap();
    for round in 0..3 {
        let table = LocalCloud::open(dir.path()).await.unwrap().table();
        assert_eq!(table.scan(None, 100).await.unwrap().len(), round);
        let key = Key::new(format!("SHW#{round}"), "-");
        table.put_new(&key, Item::new()).await.unwrap();
    }
}

#[tokio::test]
async fn items_past_their_time_to_live_are_swept() {
    let cloud = LocalCloud::temporary().await.unwrap();
    let table = cloud.table();
    for (n, forget_at) in (0..1_200)
        .map(|n| (n, 1_000))
        .chain([(9_999, 99_999_999_999_u64)])
    {
        let item = Item::new().with(onsale_store::SCHEMA.forget_at, forget_at);
        let key = Key::new(format!("SES#{n}"), "-");
        table.put_new(&key, item).await.unwrap();
    }
    assert_eq!(cloud.sweep_expired_items().await.unwrap(), 1_200);
    let young = Key::new("SES#9999", "-");
    let kept = table.get(&young, Reads::Consistent).await.unwrap();
    assert!(kept.is_some());
}

#[tokio::test]
async fn the_folder_of_an_older_build_is_refused_in_words() {
    for name in ["table.db", "queues.db"] {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(name), b"").unwrap();
        assert_eq!(
            refusal(dir.path()).await.to_string(),
            "this folder was written by an older build of Onsale; nothing was released, so \
             start with an empty folder"
        );
        assert!(!dir.path().join("onsale.db").exists());
    }
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_is_an_error_and_not_a_panic() {
    let dir = tempfile::tempdir().unwrap();
    let missing = refusal(&dir.path().join("missing")).await;
    assert!(matches!(missing, CloudError::Open { .. }), "{missing:?}");
    let letter = b"this is a letter to my aunt, not a database";
    std::fs::write(dir.path().join("onsale.db"), letter).unwrap();
    let foreign = refusal(dir.path()).await;
    assert!(foreign.to_string().contains("onsale.db"), "{foreign}");
}
