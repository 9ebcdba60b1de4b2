//! The first copy of a large index: it is fetched before anybody asks, waited for while it
//! is on its way, and goes on where it broke off.

use std::path::Path;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use onsale_app::ports::{Fetched, ObjectEntry, Page, Stored, Tag};
use tokio::sync::Semaphore;

use super::*;

const A_MOMENT: Duration = Duration::from_millis(20);

/// An object storage that pauses before each download until it is let go on.
struct SlowObjects {
    objects: Arc<MemoryObjects>,
    downloads: Semaphore,
}

#[async_trait]
impl Objects for SlowObjects {
    async fn get(&self, key: &str, known: Option<&Tag>) -> Stored<Fetched> {
        self.objects.get(key, known).await
    }

    async fn replace(&self, key: &str, body: Vec<u8>, old: Option<&Tag>) -> Stored<Option<Tag>> {
        self.objects.replace(key, body, old).await
    }

    async fn upload(&self, key: &str, file: &Path, content_type: &str) -> Stored<()> {
        self.objects.upload(key, file, content_type).await
    }

    async fn download(&self, key: &str, file: &Path) -> Stored<bool> {
        self.downloads.acquire().await.unwrap().forget();
        self.objects.download(key, file).await
    }

    async fn list(&self, prefix: &str, after: Option<&str>) -> Stored<Page<ObjectEntry>> {
        self.objects.list(prefix, after).await
    }

    async fn delete(&self, key: &str) -> Stored<()> {
        self.objects.delete(key).await
    }

    async fn link(&self, key: &str, file_name: &str, valid: Duration) -> Stored<String> {
        self.objects.link(key, file_name, valid).await
    }
}

/// A published index, a reader of it, and the storage between them, which lets no file
/// through yet.
struct Scene {
    place: Place,
    slow: Arc<SlowObjects>,
    reader: SnapshotSearch,
    files: usize,
}

impl Scene {
    async fn new() -> Self {
        let place = Place::new();
        place.build(&[event(1, "Gala")]).await;
        place.faults.arm(None);
        let slow = Arc::new(SlowObjects {
            objects: place.objects.clone(),
            downloads: Semaphore::new(0),
        });
        let folder = place.folder.path().join("read");
        let keys = place.objects.keys();
        Self {
            reader: SnapshotSearch::new(slow.clone(), folder).unwrap(),
            files: keys.iter().filter(|key| key.contains("files/")).count(),
            place,
            slow,
        }
    }

    fn let_through(&self, downloads: usize) {
        self.slow.downloads.add_permits(downloads);
    }

    fn downloads(&self) -> usize {
        self.place.faults.calls_of("download_object")
    }

    /// Files in the copy of the reader that are whole.
    fn whole(&self) -> usize {
        let copies = std::fs::read_dir(self.place.folder.path().join("read")).unwrap();
        let files = copies.flat_map(|copy| std::fs::read_dir(copy.unwrap().path()).unwrap());
        let names = files.map(|file| file.unwrap().file_name());
        names
            .filter(|name| !name.to_str().unwrap().ends_with(".part"))
            .count()
    }

    /// Whether the index answers, and not the table.
    async fn answers(&self) -> bool {
        let found = self.reader.search(&asking("gala"), &[], NOW).await.unwrap();
        found.is_some_and(|page| page.events.len() == 1)
    }
}

async fn until(what: &str, mut there: impl AsyncFnMut() -> bool) {
    let began = Instant::now();
    while !there().await {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        tokio::time::sleep(A_MOMENT).await;
    }
}

#[tokio::test]
async fn an_index_that_was_loaded_answers_the_first_request_without_a_look() {
    let scene = Scene::new().await;
    scene.let_through(scene.files);
    scene.reader.load(Duration::from_secs(8)).await;
    let calls = scene.place.faults.calls();
    assert!(scene.answers().await);
    assert_eq!(scene.place.faults.calls(), calls);
}

#[tokio::test]
async fn where_there_is_no_index_loading_waits_for_nothing() {
    let place = Place::new();
    // Far longer than the machine could be busy with anything else.
    let a_day = Duration::from_secs(86_400);
    let reader = place.reader("read");
    let loading = tokio::time::timeout(Duration::from_secs(300), reader.load(a_day));
    loading.await.unwrap();
}

#[tokio::test]
async fn what_loads_longer_than_the_start_may_take_goes_on_afterwards() {
    let scene = Scene::new().await;
    scene.reader.load(A_MOMENT).await;
    scene.let_through(scene.files);
    assert!(scene.answers().await);
    assert_eq!(scene.downloads(), scene.files);
}

#[tokio::test]
async fn requests_wait_for_the_first_index_while_it_is_on_its_way() {
    let scene = Scene::new().await;
    // Longer than anybody waits for a newer one.
    let slowly = async {
        tokio::time::sleep(Duration::from_millis(2_500)).await;
        scene.let_through(scene.files);
    };
    let meanwhile = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        scene.answers().await
    };
    let (first, second, ()) = tokio::join!(scene.answers(), meanwhile, slowly);
    assert_eq!((first, second), (true, true));
    assert_eq!(scene.downloads(), scene.files);
}

#[tokio::test]
async fn a_download_that_broke_off_goes_on_with_the_files_that_are_missing() {
    let scene = Scene::new().await;
    assert!(scene.files > 1);
    scene.reader.load(A_MOMENT).await;
    scene.let_through(scene.files - 1);
    until("all but one arrive", async || {
        scene.whole() == scene.files - 1
    })
    .await;
    scene.place.faults.fail_always("download_object", true);
    scene.let_through(1);
    until("the last one breaks off", async || {
        scene.downloads() == scene.files
    })
    .await;
    scene.place.faults.fail_always("download_object", false);
    scene.let_through(scene.files);
    until("the index answers", async || scene.answers().await).await;
    assert_eq!(scene.downloads(), scene.files + 1, "one of them twice");
}
