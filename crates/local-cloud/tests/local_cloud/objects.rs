//! Objects and links to them.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use onsale_app::ports::{Fetched, Object, Objects};
use onsale_local_cloud::testing::ManualClock;
use onsale_local_cloud::{CloudError, Durability, LinkError, Links, LocalCloud, Wiring};

use crate::TEMPLATE;

const BASE: &str = "http://127.0.0.1:8787/objects";
const BUCKET: &str = "Bucket";

fn links() -> Links {
    Links::new(BASE, "secret")
}

async fn cloud() -> (LocalCloud, ManualClock) {
    let clock = ManualClock::at(1_800_000_000_000);
    let opened = LocalCloud::temporary_with_clock(Arc::new(clock.clone())).await;
    let cloud = opened.unwrap();
    cloud
        .apply(&Wiring::parse(TEMPLATE).unwrap())
        .await
        .unwrap();
    (cloud, clock)
}

fn found(fetched: Fetched) -> Object {
    match fetched {
        Fetched::Found(object) => object,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_object_is_replaced_only_by_who_knows_it() {
    let (cloud, _) = cloud().await;
    let objects = cloud.objects(BUCKET, links()).unwrap();
    let (key, body) = ("a/b.json", |text: &str| text.as_bytes().to_vec());
    assert_eq!(objects.get(key, None).await, Ok(Fetched::Missing));
    let first = objects.replace(key, body("one"), None).await.unwrap();
    let first = first.unwrap();
    assert_eq!(objects.replace(key, body("x"), None).await, Ok(None));
    let read = found(objects.get(key, None).await.unwrap());
    assert_eq!((read.body, &read.tag), (body("one"), &first));
    assert_eq!(objects.get(key, Some(&first)).await, Ok(Fetched::Unchanged));
    let second = objects.replace(key, body("two"), Some(&first)).await;
    let second = second.unwrap().unwrap();
    let late = objects.replace(key, body("x"), Some(&first)).await;
    assert_eq!(late, Ok(None));
    let read = found(objects.get(key, Some(&first)).await.unwrap());
    assert_eq!((read.body, read.tag), (body("two"), second.clone()));
    objects.delete(key).await.unwrap();
    objects.delete(key).await.unwrap();
    assert_eq!(objects.get(key, None).await, Ok(Fetched::Missing));
    let gone = objects.replace(key, body("x"), Some(&second)).await;
    assert_eq!(gone, Ok(None));
}

#[tokio::test]
async fn files_come_back_whole_and_are_listed_by_prefix_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let (source, copy) = (folder.path().join("source"), folder.path().join("copy"));
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let open = async || {
        let cloud = LocalCloud::open(&data).await.unwrap();
        cloud
            .apply(&Wiring::parse(TEMPLATE).unwrap())
            .await
            .unwrap();
        cloud.objects(BUCKET, links()).unwrap()
    };
    let objects = open().await;
    let bytes = |size: u32| -> Vec<u8> { (0..size).map(|n| (n * 7 % 251) as u8).collect() };
    for size in [0, 1, 70_000, 3_000_000] {
        std::fs::write(&source, bytes(size)).unwrap();
        let key = format!("files/{size:09}");
        objects.upload(&key, &source, "text/csv").await.unwrap();
    }
    objects.upload("other", &source, "text/csv").await.unwrap();
    drop(objects);

    let objects = open().await;
    for size in [0, 1, 70_000, 3_000_000] {
        let key = format!("files/{size:09}");
        assert!(objects.download(&key, &copy).await.unwrap());
        assert!(std::fs::read(&copy).unwrap() == bytes(size), "{size}");
    }
    assert!(!objects.download("files/none", &copy).await.unwrap());
    let page = objects.list("files/", None).await.unwrap();
    let keys: Vec<_> = page.items.iter().map(|entry| entry.key.as_str()).collect();
    let all = [
        "files/000000000",
        "files/000000001",
        "files/000070000",
        "files/003000000",
    ];
    assert_eq!((keys, page.next), (all.to_vec(), None));
    assert!(page.items.iter().all(|entry| entry.modified.0 > 0));
    let rest = objects.list("files/", Some(all[1])).await.unwrap();
    assert_eq!(rest.items.len(), 2);
}

#[tokio::test]
async fn a_link_is_good_for_its_object_and_its_time_only() {
    let (cloud, clock) = cloud().await;
    let objects = cloud.objects(BUCKET, links()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("source");
    std::fs::write(&source, b"x").unwrap();
    let key = "exports/a.csv";
    objects.upload(key, &source, "text/csv").await.unwrap();
    let link = objects.link(key, "orders \"1\".csv", Duration::from_secs(60));
    let link = link.await.unwrap();
    let target = link.strip_prefix(BASE).unwrap();
    let mut download = objects.linked(target).await.unwrap();
    assert_eq!(download.file_name, "orders 1.csv");
    assert_eq!(download.object.content_type.as_deref(), Some("text/csv"));
    let mut content = String::new();
    download.object.file.read_to_string(&mut content).unwrap();
    assert_eq!((content.as_str(), download.object.bytes), ("x", 1));

    let changed = target.replace("orders", "others");
    let refused = objects.linked(&changed).await.unwrap_err();
    assert_eq!(refused, LinkError::Refused);
    clock.advance_ms(61_000);
    let late = objects.linked(target).await.unwrap_err();
    assert_eq!(late, LinkError::Expired);
    let link = objects
        .link(key, "x", Duration::from_secs(60))
        .await
        .unwrap();
    objects.delete(key).await.unwrap();
    let gone = objects.linked(link.strip_prefix(BASE).unwrap()).await;
    assert_eq!(gone.unwrap_err(), LinkError::NoSuchObject);
}

#[tokio::test]
async fn another_bucket_is_an_error_and_not_an_empty_one() {
    let (cloud, _) = cloud().await;
    let other = cloud.objects("Other", links()).unwrap_err();
    assert!(matches!(other, CloudError::NoSuchBucket(name) if name == "Other"));
}

#[tokio::test]
async fn what_was_being_written_when_the_process_died_is_thrown_away() {
    let dir = tempfile::tempdir().unwrap();
    let open = async || {
        let clock = Arc::new(onsale_local_cloud::SystemClock);
        let opened = LocalCloud::open_with(dir.path(), clock, Durability::ProcessDeath);
        opened.await.unwrap()
    };
    let cloud = open().await;
    cloud.object_store().begin(None).unwrap();
    drop(cloud);
    open().await;
    let left = std::fs::read_dir(dir.path().join("objects/incoming")).unwrap();
    assert_eq!(left.count(), 0);
}
