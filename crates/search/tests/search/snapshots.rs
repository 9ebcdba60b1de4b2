//! Snapshots: readers follow, writers do not overwrite each other, and what is damaged
//! is not used.

use std::time::{Duration, Instant};

use onsale_app::ports::IndexDraft;
use onsale_test_support::Fault;

use super::*;

async fn opened(writer: &SnapshotIndex) -> Box<dyn IndexDraft> {
    writer.open().await.unwrap().unwrap()
}

async fn put(draft: &mut Box<dyn IndexDraft>, version: u64, event: Event) {
    let event = Versioned {
        version,
        value: event,
    };
    draft.put(vec![event]).await.unwrap();
}

#[tokio::test]
async fn a_reader_follows_without_a_restart() {
    let place = Place::new();
    let reader = place.reader("read");
    assert_eq!(
        reader.search(&asking("gala"), &[], NOW).await,
        Ok(None),
        "no index"
    );
    place.build(&[]).await;
    let writer = place.writer("write");
    for n in 0..3 {
        let mut draft = opened(&writer).await;
        put(&mut draft, 1, event(n, "Gala")).await;
        assert!(draft.publish().await.unwrap());
        let began = Instant::now();
        loop {
            let found = reader.search(&asking("gala"), &[], NOW).await.unwrap();
            if found.is_some_and(|page| page.events.len() == usize::from(n) + 1) {
                break;
            }
            assert!(began.elapsed() < Duration::from_secs(5), "not found");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

#[tokio::test]
async fn a_newer_version_takes_the_place_of_the_older() {
    let place = Place::new();
    place.build(&[event(1, "Gala")]).await;
    let writer = place.writer("write");
    // Often enough that segments are merged.
    for version in 2..30 {
        let mut draft = opened(&writer).await;
        let id = event(1, "").id;
        assert_eq!(draft.version_of(id).unwrap(), Some(version - 1));
        put(&mut draft, version, event(1, &format!("Gala {version}"))).await;
        assert!(draft.publish().await.unwrap());
    }
    let found = titles(&place.reader("read"), "gala").await;
    assert_eq!(found, ["Gala 29"]);
}

#[tokio::test]
async fn of_two_drafts_one_is_published_and_the_other_begins_again() {
    let place = Place::new();
    place.build(&[]).await;
    let (one, other) = (place.writer("one"), place.writer("other"));
    let (mut first, mut second) = (opened(&one).await, opened(&other).await);
    put(&mut first, 1, event(1, "First")).await;
    put(&mut second, 1, event(2, "Second")).await;
    assert!(first.publish().await.unwrap());
    assert!(!second.publish().await.unwrap());
    let mut second = opened(&other).await;
    assert_eq!(second.version_of(event(1, "").id).unwrap(), Some(1));
    put(&mut second, 1, event(2, "Second")).await;
    assert!(second.publish().await.unwrap());
    let reader = place.reader("read");
    assert_eq!(titles(&reader, "first").await, ["First"]);
    assert_eq!(titles(&reader, "second").await, ["Second"]);
}

#[tokio::test]
async fn drafts_that_delete_alike_do_not_touch_each_others_files() {
    let place = Place::new();
    place.build(&[event(1, "One"), event(2, "Two")]).await;
    let (one, other) = (place.writer("one"), place.writer("other"));
    let (mut first, mut second) = (opened(&one).await, opened(&other).await);
    // Both write a list of deletions for the same segment, under the same name.
    put(&mut first, 2, event(1, "Uno")).await;
    put(&mut second, 2, event(2, "Dos")).await;
    assert!(first.publish().await.unwrap());
    assert!(!second.publish().await.unwrap());
    let reader = place.reader("read");
    let mut found = titles(&reader, "").await;
    found.sort();
    assert_eq!(found, ["Two", "Uno"]);
}

#[tokio::test]
async fn a_publication_whose_reply_was_lost_is_there_for_the_next_draft() {
    let place = Place::new();
    place.build(&[]).await;
    let writer = place.writer("write");
    let mut draft = opened(&writer).await;
    put(&mut draft, 1, event(1, "Gala")).await;
    // A rehearsal by somebody else counts the files that are stored before the manifest.
    let mut rehearsal = opened(&place.writer("other")).await;
    put(&mut rehearsal, 1, event(1, "Gala")).await;
    place.faults.arm(None);
    place.faults.fail_always("replace_object", true);
    assert!(rehearsal.publish().await.is_err());
    place.faults.fail_always("replace_object", false);
    let files = place.faults.calls_of("upload_object");
    assert!(files > 0);
    place.faults.arm(Some((files, Fault::FailAfter)));
    assert!(draft.publish().await.is_err());
    place.faults.arm(None);
    let draft = opened(&writer).await;
    assert_eq!(draft.version_of(event(1, "").id).unwrap(), Some(1));
}

#[tokio::test]
async fn a_draft_that_changes_nothing_leaves_the_copy_to_the_next() {
    let place = Place::new();
    place.build(&[event(1, "Gala")]).await;
    let writer = place.writer("write");
    drop(opened(&writer).await);
    place.faults.arm(None);
    for _ in 0..3 {
        drop(opened(&writer).await);
    }
    assert_eq!(
        place.faults.calls(),
        ["get_object"; 3],
        "nothing is fetched again"
    );
}

#[tokio::test]
async fn a_damaged_or_missing_file_is_noticed_and_a_new_index_takes_its_place() {
    type Damage = fn(&MemoryObjects, &str);
    let damages: [Damage; 3] = [
        |objects, key| objects.damage(key, |body| body[0] ^= 1),
        |objects, key| objects.damage(key, |body| body.truncate(body.len() / 2)),
        |objects, _| objects.damage("search/1/manifest.json", |body| body.truncate(9)),
    ];
    for damage in damages {
        let place = Place::new();
        place.build(&[event(1, "Gala")]).await;
        let keys = place.objects.keys();
        let file = keys.iter().find(|key| key.contains("files/")).unwrap();
        damage(&place.objects, file);
        let reader = place.reader("read");
        assert_eq!(reader.search(&asking("gala"), &[], NOW).await, Ok(None));
        assert!(place.writer("write").open().await.unwrap().is_none());
        place.build(&[event(1, "Gala")]).await;
        // The reader that met the damage finds the new one with its next look.
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        assert_eq!(titles(&reader, "gala").await, ["Gala"]);
    }
}

#[tokio::test]
async fn files_that_no_snapshot_names_are_deleted_after_an_hour() {
    let place = Place::new();
    place.build(&[event(1, "Gala")]).await;
    let old = place.objects.keys();
    place.clock.advance(2 * 3_600_000);
    place.build(&[event(2, "Ball")]).await;
    let now = place.objects.keys();
    let left: Vec<_> = old.iter().filter(|key| now.contains(*key)).collect();
    assert_eq!(left, ["search/1/manifest.json"]);
    assert_eq!(titles(&place.reader("read"), "ball").await, ["Ball"]);
}
