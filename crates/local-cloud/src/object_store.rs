//! Objects as files: one folder for each bucket, one file for each object. A file begins with a line
//! of JSON that says what its object is, so that both are replaced by one rename.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::UNIX_EPOCH;

use onsale_table::sqlite::Durability;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::percent::{percent_decoded, push};

/// A file name has at most 255 bytes, and a key may grow threefold when it is written as one.
const FILE_NAME_MAX: usize = 250;

/// An object, opened: it stays whole when another takes its place.
#[derive(Debug)]
pub struct StoredObject {
    /// Stands at the beginning of the content.
    pub file: File,
    pub bytes: u64,
    /// Changes with every write.
    pub tag: String,
    pub content_type: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Head {
    tag: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content_type: Option<String>,
}

/// What must be there for a write to take place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Precondition {
    None,
    Absent,
    Tag(String),
}

#[derive(Debug, PartialEq, Eq)]
pub enum Put {
    Done(String),
    PreconditionFailed,
    /// There is nothing that could have the wanted tag.
    Missing,
}

/// A new object that is being written. Nobody sees it before [`ObjectStore::finish`].
#[derive(Debug)]
pub struct Incoming {
    file: File,
    path: PathBuf,
    tag: String,
}

impl Write for Incoming {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[derive(Debug)]
pub struct ObjectStore {
    root: PathBuf,
    sync: bool,
    temporary: bool,
    buckets: RwLock<BTreeSet<String>>,
    /// Held while a write checks its precondition and takes place.
    writing: Mutex<()>,
}

impl Drop for ObjectStore {
    fn drop(&mut self) {
        if self.temporary {
            // It is in the folder that the system empties, should this fail.
            let _ = fs::remove_dir_all(&self.root);
        }
    }
}

impl ObjectStore {
    pub(crate) fn open(root: &Path, durability: Durability) -> io::Result<Self> {
        let store = Self {
            root: root.to_owned(),
            sync: durability == Durability::PowerCut,
            temporary: false,
            buckets: RwLock::default(),
            writing: Mutex::default(),
        };
        // What a process that died was writing.
        let incoming = store.root.join("incoming");
        if incoming.exists() {
            fs::remove_dir_all(&incoming)?;
        }
        fs::create_dir_all(&incoming)?;
        if let Some(parent) = root.parent() {
            store.sync_folder(parent)?;
        }
        Ok(store)
    }

    pub(crate) fn temporary() -> io::Result<Self> {
        let name = format!("onsale-objects-{}", Uuid::new_v4().simple());
        let root = std::env::temp_dir().join(name);
        let mut store = Self::open(&root, Durability::ProcessDeath)?;
        store.temporary = true;
        Ok(store)
    }

    pub(crate) fn declare(&self, buckets: BTreeSet<String>) {
        *self.buckets.write().unwrap_or_else(PoisonError::into_inner) = buckets;
    }

    pub fn has_bucket(&self, bucket: &str) -> bool {
        let buckets = self.buckets.read().unwrap_or_else(PoisonError::into_inner);
        buckets.contains(bucket)
    }

    fn folder(&self, bucket: &str) -> PathBuf {
        self.root.join(file_name(bucket))
    }

    /// Where the object is stored; `None`: its key is too long.
    fn path(&self, bucket: &str, key: &str) -> Option<PathBuf> {
        let name = file_name(key);
        (name.len() <= FILE_NAME_MAX).then(|| self.folder(bucket).join(name))
    }

    pub async fn find(
        self: &Arc<Self>,
        bucket: &str,
        key: &str,
    ) -> io::Result<Option<StoredObject>> {
        let Some(path) = self.path(bucket, key) else {
            return Ok(None);
        };
        blocking(move || open_object(&path)).await
    }

    /// Begins a new object; its content is written to what is returned.
    pub fn begin(&self, content_type: Option<String>) -> io::Result<Incoming> {
        let tag = Uuid::new_v4().simple().to_string();
        let path = self.root.join("incoming").join(&tag);
        // S3 writes its tags in quotation marks.
        let tag = format!("\"{tag}\"");
        let head = Head {
            tag: tag.clone(),
            content_type,
        };
        let mut file = File::create_new(&path)?;
        serde_json::to_writer(&file, &head)?;
        file.write_all(b"\n")?;
        Ok(Incoming { file, path, tag })
    }

    /// Puts what came in the place of the object.
    pub async fn finish(
        self: &Arc<Self>,
        incoming: Incoming,
        bucket: &str,
        key: &str,
        precondition: Precondition,
    ) -> io::Result<Put> {
        let store = Arc::clone(self);
        let (folder, path) = (self.folder(bucket), self.path(bucket, key));
        blocking(move || {
            let path = path.ok_or_else(|| io::Error::other("the key is too long"))?;
            if store.sync {
                incoming.file.sync_all()?;
            }
            if !folder.exists() {
                fs::create_dir_all(&folder)?;
                store.sync_folder(&store.root)?;
            }
            let put = store.replace(incoming, &path, &precondition)?;
            store.sync_folder(&folder)?;
            Ok(put)
        })
        .await
    }

    fn replace(
        &self,
        incoming: Incoming,
        path: &Path,
        precondition: &Precondition,
    ) -> io::Result<Put> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let current = open_object(path)?.map(|object| object.tag);
        let refusal = match (precondition, current) {
            (Precondition::None, _) | (Precondition::Absent, None) => None,
            (Precondition::Tag(tag), Some(current)) if *tag == current => None,
            (Precondition::Tag(_), None) => Some(Put::Missing),
            _ => Some(Put::PreconditionFailed),
        };
        match refusal {
            Some(refusal) => fs::remove_file(incoming.path).map(|()| refusal),
            None => fs::rename(incoming.path, path).map(|()| Put::Done(incoming.tag)),
        }
    }

    /// A new name in a folder survives a power cut once the folder is flushed.
    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        match self.sync {
            true => File::open(folder)?.sync_all(),
            false => Ok(()),
        }
    }

    pub async fn delete(self: &Arc<Self>, bucket: &str, key: &str) -> io::Result<()> {
        let Some(path) = self.path(bucket, key) else {
            return Ok(());
        };
        let (store, folder) = (Arc::clone(self), self.folder(bucket));
        blocking(move || match fs::remove_file(path) {
            Ok(()) => store.sync_folder(&folder),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        })
        .await
    }

    /// The keys that begin so, in their order, each with the time of its last write in
    /// milliseconds.
    pub async fn list(
        self: &Arc<Self>,
        bucket: &str,
        prefix: String,
        after: Option<String>,
        limit: usize,
    ) -> io::Result<Vec<(String, u64)>> {
        let folder = self.folder(bucket);
        blocking(move || {
            let is_wanted = |key: &String| {
                key.starts_with(&prefix) && after.as_ref().is_none_or(|after| key > after)
            };
            let mut keys: Vec<_> = keys(&folder)?.into_iter().filter(is_wanted).collect();
            keys.sort();
            keys.truncate(limit);
            let mut found = Vec::with_capacity(keys.len());
            for key in keys {
                let modified_ms = modified_ms(&folder.join(file_name(&key)))?;
                found.extend(modified_ms.map(|modified_ms| (key, modified_ms)));
            }
            Ok(found)
        })
        .await
    }
}

pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(io::Error::other)?
}

/// What is not there is no error.
fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn open_object(path: &Path) -> io::Result<Option<StoredObject>> {
    let Some(mut file) = found(File::open(path))? else {
        return Ok(None);
    };
    let mut line = String::new();
    BufReader::new(&file).read_line(&mut line)?;
    let head: Head = serde_json::from_str(&line)?;
    let offset = line.len() as u64;
    file.seek(SeekFrom::Start(offset))?;
    Ok(Some(StoredObject {
        bytes: file.metadata()?.len() - offset,
        file,
        tag: head.tag,
        content_type: head.content_type,
    }))
}

/// All keys of a bucket; a folder that is not there has none.
fn keys(folder: &Path) -> io::Result<Vec<String>> {
    let mut keys = Vec::new();
    for entry in found(fs::read_dir(folder))?.into_iter().flatten() {
        keys.extend(entry?.file_name().to_str().and_then(percent_decoded));
    }
    Ok(keys)
}

fn modified_ms(path: &Path) -> io::Result<Option<u64>> {
    let Some(meta) = found(fs::metadata(path))? else {
        return Ok(None);
    };
    let since = meta.modified()?.duration_since(UNIX_EPOCH);
    Ok(Some(since.map_or(0, |since| since.as_millis() as u64)))
}

/// A key as the name of a file: everything but letters, digits, `-`, `_` and inner dots is written
/// as `%` and two digits.
fn file_name(key: &str) -> String {
    let mut name = String::with_capacity(key.len());
    for (at, byte) in key.bytes().enumerate() {
        let plain =
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || (byte == b'.' && at > 0);
        push(&mut name, byte, plain);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_file_name_and_reads_back() {
        for key in ["a/b.json", "../../etc/passwd", ".hidden", "ü%2F", "a b"] {
            let name = file_name(key);
            assert!(!name.contains('/') && !name.starts_with('.'), "{name}");
            assert_eq!(percent_decoded(&name).as_deref(), Some(key));
        }
    }
}
