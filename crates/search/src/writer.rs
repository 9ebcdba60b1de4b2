//! The index port on snapshots: changes a copy of the published index, and publishes it
//! by replacing the manifest, if nobody else did so in between.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use onsale_app::ports::{
    Clock, Fetched, IndexDraft, Objects, SearchIndex, StoreError, Stored, Tag, Versioned,
};
use onsale_domain::event::Event;
use onsale_domain::ids::EventId;
use tantivy::indexer::LogMergePolicy;
use tantivy::{Index, IndexSettings, IndexWriter, TantivyDocument};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use crate::reader::empty;
use crate::schema::Fields;
use crate::snapshot::{Folder, Manifest, manifest_key, prefix};
use crate::view::{IndexView, corrupt};

/// What a change of a few events may use, and a whole build. The engine needs 15 MB.
const SMALL_BUDGET: usize = 16 << 20;
const BUILD_BUDGET: usize = 96 << 20;
/// A segment with this share of replaced events is written anew.
const REPLACED_SHARE: f32 = 0.3;
/// Files that no manifest names are deleted when they are this old. A writer that stored
/// them and was slow to publish has given up long before.
const ORPHANED_MS: u64 = 3_600_000;
const TIDY_EVERY: Duration = Duration::from_secs(3_600);

#[derive(Debug, Clone)]
pub struct SnapshotIndex {
    home: Arc<Home>,
}

struct Home {
    objects: Arc<dyn Objects>,
    clock: Arc<dyn Clock>,
    root: PathBuf,
    /// The copy of what was published last, as far as this process knows. One draft at a
    /// time has it.
    copy: Arc<AsyncMutex<Option<WorkingCopy>>>,
    tidied: Mutex<Option<Instant>>,
}

impl std::fmt::Debug for Home {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Home")
    }
}

struct WorkingCopy {
    // Before the folder, so that it is closed when the folder goes.
    index: Index,
    folder: Folder,
    manifest: Manifest,
    tag: Tag,
}

impl SnapshotIndex {
    /// `root` is a folder of its own; what an earlier process left in it is deleted.
    pub fn new(
        objects: Arc<dyn Objects>,
        clock: Arc<dyn Clock>,
        root: PathBuf,
    ) -> Result<Self, String> {
        empty(&root)?;
        Ok(Self {
            home: Arc::new(Home {
                objects,
                clock,
                root,
                copy: Arc::default(),
                tidied: Mutex::default(),
            }),
        })
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> tantivy::Result<T> + Send + 'static,
) -> Stored<T> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|e| StoreError::Unavailable(format!("the search index: {e}")))?;
    done.map_err(|e| StoreError::Unavailable(format!("the search index: {e}")))
}

impl Home {
    /// The published index, in a copy that is up to date. `None`: there is none, or it
    /// cannot be read.
    async fn working_copy(&self, known: Option<WorkingCopy>) -> Stored<Option<WorkingCopy>> {
        let tag = known.as_ref().map(|copy| &copy.tag);
        let found = match self.objects.get(&manifest_key(), tag).await? {
            Fetched::Unchanged => return Ok(known),
            Fetched::Missing => return Ok(None),
            Fetched::Found(found) => found,
        };
        // The engine notes which files it wrote itself, so a copy that others have moved
        // on from is begun anew.
        drop(known);
        let taken = async {
            let manifest = Manifest::parse(&found.body)?;
            let mut folder = Folder::create(&self.root)?;
            folder.follow(&*self.objects, &manifest).await?;
            let path = folder.path.clone();
            let opened = tokio::task::spawn_blocking(move || {
                let index = Index::open_in_dir(&path)?;
                IndexView::of(&index).map(|_| index)
            });
            let opened = opened.await.map_err(corrupt)?;
            Ok(WorkingCopy {
                index: opened.map_err(corrupt)?,
                folder,
                manifest,
                tag: found.tag,
            })
        };
        match taken.await {
            Ok(copy) => Ok(Some(copy)),
            Err(StoreError::Corrupt(why)) => {
                tracing::error!(why, "the published search index cannot be used");
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Deletes files of earlier snapshots, and of those that were never published.
    async fn tidy(&self, current: &Manifest) {
        {
            let mut tidied = self.tidied.lock().unwrap_or_else(PoisonError::into_inner);
            if tidied.is_some_and(|at| at.elapsed() < TIDY_EVERY) {
                return;
            }
            *tidied = Some(Instant::now());
        }
        if let Err(error) = self.delete_orphans(current).await {
            tracing::warn!(%error, "old files of the search index stay for now");
        }
    }

    async fn delete_orphans(&self, current: &Manifest) -> Stored<()> {
        let used = current.object_keys();
        let now = self.clock.now();
        let mut after: Option<String> = None;
        loop {
            let page = self.objects.list(&prefix(), after.as_deref()).await?;
            for entry in page.items {
                if !used.contains(&entry.key) && now - entry.modified >= ORPHANED_MS {
                    self.objects.delete(&entry.key).await?;
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }
}

#[async_trait]
impl SearchIndex for SnapshotIndex {
    async fn open(&self) -> Stored<Option<Box<dyn IndexDraft>>> {
        let mut place = self.home.copy.clone().lock_owned().await;
        let known = place.take();
        let Some(copy) = self.home.working_copy(known).await? else {
            return Ok(None);
        };
        let index = copy.index.clone();
        let view = blocking(move || IndexView::of(&index)).await?;
        Ok(Some(Box::new(Draft {
            home: self.home.clone(),
            fields: Fields::new(),
            view: Some(view),
            writer: None,
            base: Base::Copy(copy, place),
        })))
    }

    async fn create(&self) -> Stored<Box<dyn IndexDraft>> {
        let tag = match self.home.objects.get(&manifest_key(), None).await? {
            Fetched::Found(found) => Some(found.tag),
            Fetched::Missing | Fetched::Unchanged => None,
        };
        let folder = Folder::create(&self.home.root)?;
        let path = folder.path.clone();
        let index = blocking(move || {
            let builder = Index::builder().schema(Fields::new().schema);
            builder
                .settings(IndexSettings::default())
                .create_in_dir(&path)
        });
        let index = index.await?;
        Ok(Box::new(Draft {
            home: self.home.clone(),
            fields: Fields::new(),
            view: None,
            writer: None,
            base: Base::New { index, folder, tag },
        }))
    }
}

type Place = OwnedMutexGuard<Option<WorkingCopy>>;

/// What a draft is built on.
enum Base {
    Copy(WorkingCopy, Place),
    New {
        index: Index,
        folder: Folder,
        /// Of the manifest that the new index takes the place of.
        tag: Option<Tag>,
    },
    Gone,
}

struct Draft {
    home: Arc<Home>,
    fields: Fields,
    /// The index as it was when the draft was begun; a new one has none.
    view: Option<IndexView>,
    writer: Option<IndexWriter>,
    base: Base,
}

impl Drop for Draft {
    fn drop(&mut self) {
        // A copy in which nothing was changed serves the next draft. A changed one that was
        // not published is dropped with its folder.
        if self.writer.is_none()
            && let Base::Copy(copy, mut place) = std::mem::replace(&mut self.base, Base::Gone)
        {
            *place = Some(copy);
        }
    }
}

impl Draft {
    fn open_writer(&self) -> Stored<IndexWriter> {
        let (index, threads, budget) = match &self.base {
            Base::Copy(copy, _) => (&copy.index, 1, SMALL_BUDGET),
            Base::New { index, .. } => (index, 2, BUILD_BUDGET),
            Base::Gone => return Err(corrupt("a draft was used again")),
        };
        let writer = index
            .writer_with_num_threads(threads, budget)
            .map_err(corrupt)?;
        let mut merging = LogMergePolicy::default();
        merging.set_del_docs_ratio_before_merge(REPLACED_SHARE);
        writer.set_merge_policy(Box::new(merging));
        Ok(writer)
    }
}

#[async_trait]
impl IndexDraft for Draft {
    fn version_of(&self, event: EventId) -> Stored<Option<u64>> {
        match &self.view {
            Some(view) => view.version_of(event).map_err(corrupt),
            None => Ok(None),
        }
    }

    async fn put(&mut self, events: Vec<Versioned<Event>>) -> Stored<()> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.open_writer()?,
        };
        let fields = self.fields.clone();
        let added = blocking(move || {
            for event in &events {
                let doc: TantivyDocument = fields
                    .document(event)
                    .map_err(|e| tantivy::TantivyError::InvalidArgument(e.to_string()))?;
                writer.delete_term(fields.id_term(event.value.id));
                writer.add_document(doc)?;
            }
            Ok(writer)
        });
        self.writer = Some(added.await?);
        Ok(())
    }

    async fn publish(mut self: Box<Self>) -> Stored<bool> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => self.open_writer()?,
        };
        // From here on the copy is changed; whoever fails loses it.
        let base = std::mem::replace(&mut self.base, Base::Gone);
        self.view = None;
        let (index, folder, last, tag, place) = match base {
            Base::Copy(copy, place) => {
                let last = Some(copy.manifest);
                (copy.index, copy.folder, last, Some(copy.tag), Some(place))
            }
            Base::New { index, folder, tag } => (index, folder, None, tag, None),
            Base::Gone => return Err(corrupt("a draft was published twice")),
        };
        let is_new = last.is_none();
        let committed = index.clone();
        let path = folder.path.clone();
        let (names, events) = blocking(move || commit(writer, &committed, is_new, &path)).await?;
        let objects = &*self.home.objects;
        let manifest = folder.store(objects, names, last.as_ref(), events).await?;
        let Some(tag) = replace_manifest(objects, &manifest, tag.as_ref()).await? else {
            return Ok(false);
        };
        let files = manifest.files.len();
        tracing::debug!(events, files, "the search index was published");
        self.home.tidy(&manifest).await;
        let mut copy = WorkingCopy {
            index,
            folder,
            manifest,
            tag,
        };
        copy.folder.keep_only(&copy.manifest);
        let mut place = match place {
            Some(place) => place,
            None => self.home.copy.clone().lock_owned().await,
        };
        *place = Some(copy);
        Ok(true)
    }
}

/// Finishes the files of the index; their names, and how many events there are.
fn commit(
    mut writer: IndexWriter,
    index: &Index,
    merge_all: bool,
    folder: &std::path::Path,
) -> tantivy::Result<(Vec<String>, u64)> {
    writer.commit()?;
    if merge_all {
        let segments = index.searchable_segment_ids()?;
        if segments.len() > 1 {
            // One segment is searched fastest.
            writer.merge(&segments).wait()?;
        }
    }
    writer.wait_merging_threads()?;
    let metas = index.load_metas()?;
    let names = metas
        .list_segment_files()
        .into_iter()
        .filter(|name| folder.join(name).exists())
        .map(|name| name.to_string_lossy().into_owned());
    let mut names: Vec<String> = names.collect();
    names.sort();
    let events = metas.segments.iter().map(|s| u64::from(s.num_docs())).sum();
    Ok((names, events))
}

/// Puts the manifest in the place of the one with this tag. `None`: another one is there.
async fn replace_manifest(
    objects: &dyn Objects,
    manifest: &Manifest,
    old: Option<&Tag>,
) -> Stored<Option<Tag>> {
    let body = serde_json::to_vec(manifest).map_err(corrupt)?;
    if let Some(tag) = objects.replace(&manifest_key(), body, old).await? {
        return Ok(Some(tag));
    }
    // Perhaps it was our own, and its reply was lost.
    match objects.get(&manifest_key(), None).await? {
        Fetched::Found(found) => {
            let own = Manifest::parse(&found.body).is_ok_and(|m| m.id == manifest.id);
            Ok(own.then_some(found.tag))
        }
        Fetched::Missing | Fetched::Unchanged => Ok(None),
    }
}
