//! The search port on snapshots: keeps a copy of the published index and asks it.
//!
//! Whether a newer snapshot is there is looked up at most once a second, by a request
//! that then waits a moment for it. Everybody else is answered from the copy at hand,
//! and so is that request if the new one takes longer. The first snapshot is waited for
//! longer: a function sleeps between requests, and so does what it fetches.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use onsale_app::events::EventQuery;
use onsale_app::ports::{Fetched, Objects, Search, SearchPage, StoreError, Stored, Tag};
use onsale_domain::ids::EventId;
use onsale_domain::time::Millis;
use tokio::task::JoinHandle;

use crate::snapshot::{Folder, Manifest, manifest_key};
use crate::view::{IndexView, corrupt};

/// How old the knowledge of what is published may be.
const FRESH: Duration = Duration::from_secs(1);
/// How long a request waits for a look at what is published.
const PATIENCE: Duration = Duration::from_millis(1_500);
/// How much longer a request waits for the first snapshot when it is on its way. `catalog`
/// may take 15 s for an answer: half of them are left for the table.
const FIRST_PATIENCE: Duration = Duration::from_secs(6);
/// How long a snapshot that is damaged is left alone.
const AFTER_DAMAGE: Duration = Duration::from_secs(10);
/// How long one is left alone whose download broke off.
const AFTER_BREAK: Duration = Duration::from_secs(2);

#[derive(Debug, Clone)]
pub struct SnapshotSearch {
    reader: Arc<Reader>,
}

struct Reader {
    objects: Arc<dyn Objects>,
    root: PathBuf,
    current: Mutex<Current>,
    /// Held by whoever follows the manifest.
    copy: tokio::sync::Mutex<Copy>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reader")
    }
}

#[derive(Default)]
struct Current {
    view: Option<Arc<IndexView>>,
    looked: Option<Instant>,
    /// A snapshot is on its way.
    arriving: bool,
}

#[derive(Default)]
struct Copy {
    folder: Option<Folder>,
    tag: Option<Tag>,
    /// When the snapshot with this tag, which could not be used, is tried again.
    again: Option<Instant>,
}

impl SnapshotSearch {
    /// `root` is a folder of its own; what an earlier process left in it is deleted.
    pub fn new(objects: Arc<dyn Objects>, root: PathBuf) -> Result<Self, String> {
        empty(&root)?;
        Ok(Self {
            reader: Arc::new(Reader {
                objects,
                root,
                current: Mutex::default(),
                copy: tokio::sync::Mutex::default(),
            }),
        })
    }

    /// Fetches what is published, if anything is, before anybody asks. What takes longer
    /// than `patience` goes on arriving.
    pub async fn load(&self, patience: Duration) {
        self.reader.current().looked = Some(Instant::now());
        // Late is no error: whoever asks waits for the rest.
        let _ = tokio::time::timeout(patience, self.reader.look()).await;
    }
}

/// Makes an empty folder of this one. Copies are never taken over from an earlier
/// process: whatever befell them since, the snapshot is whole.
pub(crate) fn empty(root: &Path) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("cannot use {}: {e}", root.display());
    if root.exists() {
        std::fs::remove_dir_all(root).map_err(failed)?;
    }
    std::fs::create_dir_all(root).map_err(failed)
}

impl Reader {
    fn current(&self) -> MutexGuard<'_, Current> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn view(self: &Arc<Self>) -> Option<Arc<IndexView>> {
        let due = {
            let mut current = self.current();
            let due = current.looked.is_none_or(|at| at.elapsed() >= FRESH);
            if due {
                current.looked = Some(Instant::now());
            }
            due
        };
        if due {
            // Late is no error: the view at hand is used until the new one is there.
            let _ = tokio::time::timeout(PATIENCE, self.look()).await;
        }
        let first_arrives = {
            let current = self.current();
            current.view.is_none() && current.arriving
        };
        if first_arrives {
            // Whoever fetches it has the copy until it is here, or was given up.
            let _ = tokio::time::timeout(FIRST_PATIENCE, self.copy.lock()).await;
        }
        self.current().view.clone()
    }

    /// Follows the manifest in a task of its own, so that a download goes on when the
    /// request has left.
    fn look(self: &Arc<Self>) -> JoinHandle<()> {
        let reader = self.clone();
        tokio::spawn(async move {
            if let Err(error) = reader.follow().await {
                tracing::warn!(%error, "the search index could not be refreshed");
            }
        })
    }

    async fn follow(&self) -> Stored<()> {
        // Somebody is at it, perhaps with a long download.
        let Ok(mut copy) = self.copy.try_lock() else {
            return Ok(());
        };
        if copy.again.is_some_and(|at| at <= Instant::now()) {
            copy.tag = None;
        }
        let found = match self.objects.get(&manifest_key(), copy.tag.as_ref()).await? {
            Fetched::Unchanged => return Ok(()),
            Fetched::Missing => {
                *copy = Copy::default();
                self.current().view = None;
                return Ok(());
            }
            Fetched::Found(found) => found,
        };
        copy.tag = Some(found.tag);
        copy.again = Some(Instant::now() + AFTER_DAMAGE);
        self.current().arriving = true;
        let taken = self.take(&found.body, &mut copy.folder).await;
        self.current().arriving = false;
        match &taken {
            Ok(()) => copy.again = None,
            // The files that are here were checked: the next try goes on from them.
            Err(StoreError::Unavailable(_)) => copy.again = Some(Instant::now() + AFTER_BREAK),
            // A newer snapshot, or the same one later, begins anew.
            Err(StoreError::Corrupt(_)) => {
                copy.folder = None;
                copy.again = Some(Instant::now() + AFTER_DAMAGE);
            }
        }
        taken
    }

    /// Brings the folder to this manifest and the view to the folder.
    async fn take(&self, manifest: &[u8], folder: &mut Option<Folder>) -> Stored<()> {
        let manifest = Manifest::parse(manifest)?;
        let folder = match folder {
            Some(folder) => folder,
            None => folder.insert(Folder::create(&self.root)?),
        };
        folder.follow(&*self.objects, &manifest).await?;
        let path = folder.path.clone();
        let opened = tokio::task::spawn_blocking(move || IndexView::open(&path)).await;
        let opened = opened.map_err(|e| StoreError::Unavailable(e.to_string()))?;
        let view = opened.map_err(corrupt)?;
        tracing::debug!(events = view.events(), "the search index was refreshed");
        self.current().view = Some(Arc::new(view));
        Ok(())
    }
}

#[async_trait]
impl Search for SnapshotSearch {
    async fn search(
        &self,
        query: &EventQuery,
        noted: &[EventId],
        now: Millis,
    ) -> Stored<Option<SearchPage>> {
        let Some(view) = self.reader.view().await else {
            return Ok(None);
        };
        let (query, noted) = (query.clone(), noted.to_vec());
        let searching = tokio::task::spawn_blocking(move || view.search(&query, &noted, now));
        let found = searching.await;
        let found = found.map_err(|e| StoreError::Unavailable(format!("search: {e}")))?;
        found.map(Some)
    }
}
