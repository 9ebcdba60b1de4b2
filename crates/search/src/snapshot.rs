//! Snapshots of the index in object storage.
//!
//! The files of an index never change once they are written, and each is stored under a
//! key that nobody else ever uses: two writers that name a file alike, or that write the
//! same bytes, do not meet. The manifest says which files make the index; it is small, and
//! the only thing that is ever replaced. A reader or writer that knows an older
//! manifest fetches only the files that are new to it, and checks every hash.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use futures_util::{StreamExt, TryStreamExt, stream};
use onsale_app::ports::{Objects, StoreError, Stored};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::schema::FORMAT;
use crate::view::corrupt;

/// Files that are fetched or sent at the same time.
const FILES_AT_ONCE: usize = 4;
/// The file by which the engine knows the segments of an index.
const META: &str = "meta.json";

pub(crate) fn prefix() -> String {
    format!("search/{FORMAT}/files/")
}

pub(crate) fn manifest_key() -> String {
    format!("search/{FORMAT}/manifest.json")
}

fn file_key(object: Uuid) -> String {
    format!("{}{}", prefix(), object.simple())
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileEntry {
    /// What the engine calls it.
    pub name: String,
    pub object: Uuid,
    pub sha256: String,
    pub bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// Tells one publication from every other, so that a writer recognises its own.
    pub id: Uuid,
    pub events: u64,
    /// The content of `meta.json`.
    pub meta: String,
    pub files: Vec<FileEntry>,
}

impl Manifest {
    pub(crate) fn parse(bytes: &[u8]) -> Stored<Self> {
        let manifest: Self = serde_json::from_slice(bytes).map_err(corrupt)?;
        let plain = |name: &str| {
            let chars = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_');
            !name.starts_with('.') && name.bytes().all(chars)
        };
        match manifest.files.iter().all(|file| plain(&file.name)) {
            true => Ok(manifest),
            false => Err(corrupt("a file name in the manifest")),
        }
    }

    pub(crate) fn object_keys(&self) -> HashSet<String> {
        self.files.iter().map(|f| file_key(f.object)).collect()
    }
}

/// A local folder with the files of one index. It goes with its owner: what counts is in
/// object storage.
#[derive(Debug)]
pub(crate) struct Folder {
    pub path: PathBuf,
    /// The object of every file that is here and was checked.
    files: HashMap<String, Uuid>,
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.path) {
            tracing::warn!(%error, "a local copy of the search index stays behind");
        }
    }
}

fn failed(error: std::io::Error) -> StoreError {
    StoreError::Unavailable(format!("a local copy of the search index: {error}"))
}

impl Folder {
    pub(crate) fn create(root: &Path) -> Stored<Self> {
        let path = root.join(Uuid::new_v4().simple().to_string());
        std::fs::create_dir_all(&path).map_err(failed)?;
        Ok(Self {
            path,
            files: HashMap::new(),
        })
    }

    /// Brings the folder to what the manifest says. `Corrupt`: the snapshot is not what
    /// was once published. After `Unavailable` the files that came stay, and the next try
    /// fetches the others.
    pub(crate) async fn follow(&mut self, objects: &dyn Objects, next: &Manifest) -> Stored<()> {
        let missing = |file: &&FileEntry| self.files.get(&file.name) != Some(&file.object);
        let missing: Vec<_> = next.files.iter().filter(missing).collect();
        let path = self.path.clone();
        let fetching = missing.iter().map(|file| fetch(objects, file, &path));
        let fetching: Vec<_> = fetching.collect();
        let mut fetching = stream::iter(fetching).buffer_unordered(FILES_AT_ONCE);
        while let Some(fetched) = fetching.next().await {
            let file = fetched?;
            self.files.insert(file.name.clone(), file.object);
        }
        // The engine reads this file first, so it comes last.
        let beside = self.path.join("meta.new");
        std::fs::write(&beside, &next.meta).map_err(failed)?;
        std::fs::rename(&beside, self.path.join(META)).map_err(failed)?;
        self.keep_only(next);
        Ok(())
    }

    /// Forgets and deletes files that no longer belong to the index. Who still reads them
    /// keeps them open.
    pub(crate) fn keep_only(&mut self, manifest: &Manifest) {
        let entries = manifest.files.iter();
        let next: HashMap<_, _> = entries
            .map(|file| (file.name.clone(), file.object))
            .collect();
        for name in self.files.keys().filter(|name| !next.contains_key(*name)) {
            // Already gone is as good.
            let _ = std::fs::remove_file(self.path.join(name));
        }
        self.files = next;
    }

    /// Stores every file that the last manifest does not have, and says what the index
    /// consists of now.
    pub(crate) async fn store(
        &self,
        objects: &dyn Objects,
        names: Vec<String>,
        last: Option<&Manifest>,
        events: u64,
    ) -> Stored<Manifest> {
        let known: HashMap<&str, &FileEntry> = last
            .iter()
            .flat_map(|last| &last.files)
            .map(|file| (file.name.as_str(), file))
            .collect();
        let known = &known;
        let storing: Vec<_> = names
            .iter()
            .map(|name| async move {
                if let Some(file) = known.get(name.as_str()) {
                    return Ok::<_, StoreError>(FileEntry::clone(file));
                }
                let path = self.path.join(name);
                let entry = entry_of(&path).await?;
                let key = file_key(entry.object);
                let kind = "application/octet-stream";
                objects.upload(&key, &path, kind).await?;
                Ok(entry)
            })
            .collect();
        let files: Vec<FileEntry> = stream::iter(storing)
            .buffered(FILES_AT_ONCE)
            .try_collect::<Vec<_>>()
            .await?;
        let meta = std::fs::read_to_string(self.path.join(META)).map_err(failed)?;
        Ok(Manifest {
            id: Uuid::new_v4(),
            events,
            meta,
            files,
        })
    }
}

/// A file on its way. It goes with its owner, unless it has got its name by then.
struct Part(PathBuf);

impl Drop for Part {
    fn drop(&mut self) {
        // Renamed, or never begun, is as good.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Puts a file into the folder once it is whole and was checked.
async fn fetch<'a>(
    objects: &dyn Objects,
    file: &'a FileEntry,
    folder: &Path,
) -> Stored<&'a FileEntry> {
    let part = Part(folder.join(format!("{}.part", file.object.simple())));
    if !objects.download(&file_key(file.object), &part.0).await? {
        return Err(corrupt(format_args!("{} is missing", file.name)));
    }
    let entry = entry_of(&part.0).await?;
    if (&entry.sha256, entry.bytes) != (&file.sha256, file.bytes) {
        return Err(corrupt(format_args!("{} is damaged", file.name)));
    }
    std::fs::rename(&part.0, folder.join(&file.name)).map_err(failed)?;
    Ok(file)
}

/// A file as it is on the disk, and a key for it.
async fn entry_of(path: &Path) -> Stored<FileEntry> {
    let path = path.to_owned();
    let hashed = tokio::task::spawn_blocking(move || {
        let mut file = std::fs::File::open(&path)?;
        let mut hash = Sha256::new();
        let mut buffer = vec![0; 1 << 18];
        let mut bytes = 0;
        loop {
            let read = file.read(&mut buffer)?;
            if read == 0 {
                break;
            }
            bytes += read as u64;
            hash.update(&buffer[..read]);
        }
        let name = path.file_name().unwrap_or_default();
        Ok(FileEntry {
            name: name.to_string_lossy().into_owned(),
            object: Uuid::new_v4(),
            sha256: hex::encode(hash.finalize()),
            bytes,
        })
    });
    let hashed = hashed.await.map_err(|e| failed(std::io::Error::other(e)))?;
    hashed.map_err(failed)
}
