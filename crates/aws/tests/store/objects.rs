//! What object storage promises: in memory, and on S3's protocol in this process.

use std::sync::Arc;
use std::time::Duration;

use aws_smithy_http_client::tls::{self, rustls_provider::CryptoMode};
use onsale_app::ports::{Fetched, Object, Objects};
use onsale_aws_emulator::{Emulator, LinkError};
use onsale_test_support::{Faults, ManualClock, MemoryObjects};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::cloud::config;
use crate::places::{START, wiring};

async fn everywhere() -> Vec<(&'static str, Arc<dyn Objects>)> {
    let clock = Arc::new(ManualClock::new(START));
    let memory = MemoryObjects::new(clock, Arc::new(Faults::default()));
    let (_, s3) = in_process().await;
    vec![("memory", Arc::new(memory)), ("s3", s3)]
}

async fn in_process() -> (Emulator, Arc<dyn Objects>) {
    let cloud = Emulator::memory().unwrap();
    cloud.apply(&wiring()).await.unwrap();
    let mut config = config(cloud.http_client(), "http://cloud.local");
    config.links = Some("http://127.0.0.1:8787/objects".to_owned());
    (cloud, Arc::new(config.objects("Bucket")))
}

fn found(fetched: Fetched) -> Object {
    match fetched {
        Fetched::Found(object) => object,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn an_object_is_replaced_only_by_who_knows_it() {
    for (place, objects) in everywhere().await {
        let (key, body) = ("a/b.json", |text: &str| text.as_bytes().to_vec());
        assert_eq!(
            objects.get(key, None).await,
            Ok(Fetched::Missing),
            "{place}"
        );
        let first = objects.replace(key, body("one"), None).await.unwrap();
        let first = first.unwrap();
        assert_eq!(
            objects.replace(key, body("x"), None).await,
            Ok(None),
            "{place}"
        );
        let read = found(objects.get(key, None).await.unwrap());
        assert_eq!((read.body, &read.tag), (body("one"), &first), "{place}");
        assert_eq!(objects.get(key, Some(&first)).await, Ok(Fetched::Unchanged));
        let second = objects
            .replace(key, body("two"), Some(&first))
            .await
            .unwrap();
        let second = second.unwrap();
        let late = objects.replace(key, body("x"), Some(&first)).await;
        assert_eq!(late, Ok(None), "{place}");
        let read = found(objects.get(key, Some(&first)).await.unwrap());
        assert_eq!(
            (read.body, read.tag),
            (body("two"), second.clone()),
            "{place}"
        );
        objects.delete(key).await.unwrap();
        objects.delete(key).await.unwrap();
        assert_eq!(objects.get(key, None).await, Ok(Fetched::Missing));
        let gone = objects.replace(key, body("x"), Some(&second)).await;
        assert_eq!(gone, Ok(None), "{place}");
    }
}

#[tokio::test]
async fn files_come_back_whole_and_are_listed_by_prefix() {
    let folder = tempfile::tempdir().unwrap();
    let (source, copy) = (folder.path().join("source"), folder.path().join("copy"));
    for (place, objects) in everywhere().await {
        for size in [0, 1, 70_000, 3_000_000] {
            let bytes: Vec<u8> = (0..size).map(|n: u32| (n * 7 % 251) as u8).collect();
            std::fs::write(&source, &bytes).unwrap();
            let key = format!("files/{size:09}");
            objects.upload(&key, &source, "text/csv").await.unwrap();
            assert!(objects.download(&key, &copy).await.unwrap());
            assert!(std::fs::read(&copy).unwrap() == bytes, "{place} {size}");
        }
        assert!(!objects.download("files/none", &copy).await.unwrap());
        objects.upload("other", &source, "text/csv").await.unwrap();
        let page = objects.list("files/", None).await.unwrap();
        let keys: Vec<_> = page.items.iter().map(|entry| entry.key.as_str()).collect();
        let all = [
            "files/000000000",
            "files/000000001",
            "files/000070000",
            "files/003000000",
        ];
        assert_eq!((keys, page.next), (all.to_vec(), None), "{place}");
        assert!(
            page.items.iter().all(|entry| entry.modified.0 > 0),
            "{place}"
        );
        let rest = objects.list("files/", Some(all[1])).await.unwrap();
        assert_eq!(rest.items.len(), 2, "{place}");
    }
}

#[tokio::test]
async fn a_link_is_good_for_its_object_and_its_time_only() {
    let (cloud, objects) = in_process().await;
    objects
        .replace("exports/a b.csv", b"x".to_vec(), None)
        .await
        .unwrap();
    let link = objects.link(
        "exports/a b.csv",
        "orders \"1\".csv",
        Duration::from_secs(60),
    );
    let link = link.await.unwrap();
    let target = link.strip_prefix("http://127.0.0.1:8787/objects").unwrap();
    let open = |target: String, host: &'static str, secret: &'static str| {
        let cloud = cloud.clone();
        async move { cloud.linked_object("/objects", &target, host, secret).await }
    };
    let host = "127.0.0.1:8787";
    let object = open(target.to_owned(), host, "test").await.unwrap();
    assert_eq!(object.bytes, 1);
    let signed = target.contains("response-content-disposition=");
    assert!(signed && !target.contains("%221%22"), "{target}");
    for (changed, host, secret) in [
        (target.replace("a%20b", "a%20c"), host, "test"),
        (target.replace("Expires=60", "Expires=6000"), host, "test"),
        (target.replace("orders", "others"), host, "test"),
        (target.to_owned(), "elsewhere", "test"),
        (target.to_owned(), host, "guess"),
        (target.split('?').next().unwrap().to_owned(), host, "test"),
        (
            "/Bucket/x?X-Amz-Date=ä&X-Amz-Signature=".to_owned(),
            host,
            "test",
        ),
    ] {
        let refused = open(changed.clone(), host, secret).await;
        assert_eq!(refused.err(), Some(LinkError::Refused), "{changed}");
    }
    objects.delete("exports/a b.csv").await.unwrap();
    let gone = open(target.to_owned(), host, "test").await;
    assert_eq!(gone.err(), Some(LinkError::NoSuchObject));
}

#[tokio::test]
async fn another_bucket_is_an_error_and_not_an_empty_one() {
    let cloud = Emulator::memory().unwrap();
    cloud.apply(&wiring()).await.unwrap();
    let config = config(cloud.http_client(), "http://cloud.local");
    let objects = config.objects("Other");
    assert!(objects.get("a", None).await.is_err());
    assert!(objects.replace("a", Vec::new(), None).await.is_err());
}

#[tokio::test]
async fn an_answer_of_which_nothing_more_comes_has_broken_off() {
    let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr().unwrap();
    // It begins its answers and falls silent, with the connections open.
    let silent = tokio::spawn(async move {
        let mut lines = Vec::new();
        loop {
            let (mut line, _) = server.accept().await.unwrap();
            assert!(line.read(&mut [0; 4_096]).await.unwrap() > 0);
            let begun = b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nbegun";
            line.write_all(begun).await.unwrap();
            lines.push(line);
        }
    });
    let http = aws_smithy_http_client::Builder::new()
        .tls_provider(tls::Provider::Rustls(CryptoMode::Ring))
        .build_https();
    let objects = config(http, &format!("http://{address}")).objects("Bucket");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("copy");
    let both = async { tokio::join!(objects.get("a", None), objects.download("a", &file)) };
    let (read, copied) = tokio::time::timeout(Duration::from_secs(30), both)
        .await
        .expect("neither waits for ever");
    assert!(read.is_err() && copied.is_err());
    silent.abort();
}
