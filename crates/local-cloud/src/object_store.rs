//! Objects as files: one folder for each bucket, one file for each object. A file begins with a line
//! of JSON that says what its object is, so that both are replaced by one rename.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::cloud::Durability;

/// A file name has at most 255 bytes, and a key may grow threefold when it is written as one.
const FILE_NAME_MAX: usize = 250;

/// An object as it is stored; its content begins `offset` bytes into the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredObject {
    pub file: PathBuf,
    pub offset: u64,
    pub bytes: u64,
    pub etag: String,
    pub content_type: Option<String>,
    pub modified_ms: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Head {
    etag: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content_type: Option<String>,
}

/// What must be there for a write to take place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Precondition {
    None,
    Absent,
    Tag(String),
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Put {
    Done(String),
    PreconditionFailed,
    /// There is nothing that could have the wanted tag.
    Missing,
}

/// A file with the content of an object that is being written.
pub(crate) struct Incoming {
    file: File,
    path: PathBuf,
    digest: md5::Context,
}

impl Incoming {
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.digest.consume(bytes);
        self.file.write_all(bytes)
    }
}

#[derive(Debug)]
pub(crate) struct ObjectStore {
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
        // What a process that died was writing.
        let incoming = root.join("incoming");
        if incoming.exists() {
            fs::remove_dir_all(&incoming)?;
        }
        fs::create_dir_all(&incoming)?;
        Ok(Self {
            root: root.to_owned(),
            sync: durability == Durability::PowerCut,
            temporary: false,
            buckets: RwLock::default(),
            writing: Mutex::default(),
        })
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

    pub(crate) fn has_bucket(&self, bucket: &str) -> bool {
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

    pub(crate) async fn find(
        self: &Arc<Self>,
        bucket: &str,
        key: &str,
    ) -> io::Result<Option<StoredObject>> {
        let Some(path) = self.path(bucket, key) else {
            return Ok(None);
        };
        blocking(move || read_head(path)).await
    }

    pub(crate) fn begin(&self) -> io::Result<Incoming> {
        let path = self.root.join("incoming").join(Uuid::new_v4().to_string());
        Ok(Incoming {
            file: File::create_new(&path)?,
            path,
            digest: md5::Context::new(),
        })
    }

    /// Puts what came in the place of the object. The content has to be known before its
    /// tag can be written ahead of it, so it is copied once.
    pub(crate) async fn finish(
        self: &Arc<Self>,
        incoming: Incoming,
        bucket: &str,
        key: &str,
        content_type: Option<String>,
        precondition: Precondition,
    ) -> io::Result<Put> {
        let store = Arc::clone(self);
        let (folder, path) = (self.folder(bucket), self.path(bucket, key));
        blocking(move || {
            let path = path.ok_or_else(|| io::Error::other("the key is too long"))?;
            let body = incoming.path.clone();
            let whole = body.with_extension("whole");
            let etag = format!("\"{:x}\"", incoming.digest.compute());
            drop(incoming.file);
            let head = Head {
                etag: etag.clone(),
                content_type,
            };
            let mut file = File::create_new(&whole)?;
            serde_json::to_writer(&file, &head)?;
            file.write_all(b"\n")?;
            io::copy(&mut File::open(&body)?, &mut file)?;
            if store.sync {
                file.sync_all()?;
            }
            fs::remove_file(&body)?;
            fs::create_dir_all(&folder)?;
            let put = store.replace(&whole, &path, etag, &precondition)?;
            if store.sync {
                File::open(&folder)?.sync_all()?;
            }
            Ok(put)
        })
        .await
    }

    fn replace(
        &self,
        whole: &Path,
        path: &Path,
        etag: String,
        precondition: &Precondition,
    ) -> io::Result<Put> {
        let _writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let current = read_head(path.to_owned())?.map(|object| object.etag);
        let refusal = match (precondition, current) {
            (Precondition::None, _) | (Precondition::Absent, None) => None,
            (Precondition::Tag(tag), Some(current)) if *tag == current => None,
            (Precondition::Tag(_), None) => Some(Put::Missing),
            _ => Some(Put::PreconditionFailed),
        };
        match refusal {
            Some(refusal) => fs::remove_file(whole).map(|()| refusal),
            None => fs::rename(whole, path).map(|()| Put::Done(etag)),
        }
    }

    pub(crate) async fn delete(self: &Arc<Self>, bucket: &str, key: &str) -> io::Result<()> {
        let Some(path) = self.path(bucket, key) else {
            return Ok(());
        };
        blocking(move || match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        })
        .await
    }

    /// The objects whose keys begin so, in the order of their keys.
    pub(crate) async fn list(
        self: &Arc<Self>,
        bucket: &str,
        prefix: String,
        after: Option<String>,
        limit: usize,
    ) -> io::Result<Vec<(String, StoredObject)>> {
        let folder = self.folder(bucket);
        blocking(move || {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
                Err(error) => return Err(error),
            };
            let mut keys = Vec::new();
            for entry in entries {
                let name = entry?.file_name();
                let key = name.to_str().and_then(key_of);
                keys.extend(key.filter(|key| {
                    key.starts_with(&prefix) && after.as_ref().is_none_or(|after| key > after)
                }));
            }
            keys.sort();
            keys.truncate(limit);
            let mut found = Vec::with_capacity(keys.len());
            for key in keys {
                let object = read_head(folder.join(file_name(&key)))?;
                found.extend(object.map(|object| (key, object)));
            }
            Ok(found)
        })
        .await
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(io::Error::other)?
}

fn read_head(path: PathBuf) -> io::Result<Option<StoredObject>> {
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let meta = file.metadata()?;
    let mut line = String::new();
    BufReader::new(file).read_line(&mut line)?;
    let head: Head = serde_json::from_str(&line)?;
    let modified = meta.modified()?.duration_since(UNIX_EPOCH);
    let offset = line.len() as u64;
    Ok(Some(StoredObject {
        file: path,
        offset,
        bytes: meta.len() - offset,
        etag: head.etag,
        content_type: head.content_type,
        modified_ms: modified.map_or(0, |since| since.as_millis() as u64),
    }))
}

/// A key as the name of a file: everything but letters, digits, `-`, `_` and inner dots is written
/// as `%` and two digits.
fn file_name(key: &str) -> String {
    let mut name = String::with_capacity(key.len());
    for (at, byte) in key.bytes().enumerate() {
        let plain =
            byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_') || (byte == b'.' && at > 0);
        match plain {
            true => name.push(byte as char),
            false => name.push_str(&format!("%{byte:02X}")),
        }
    }
    name
}

fn key_of(name: &str) -> Option<String> {
    percent_decoded(name)
}

pub(crate) fn percent_decoded(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        if *byte == b'%' {
            let digits = bytes.get(at + 1..at + 3)?;
            let digits = std::str::from_utf8(digits).ok()?;
            decoded.push(u8::from_str_radix(digits, 16).ok()?);
            at += 3;
        } else {
            decoded.push(*byte);
            at += 1;
        }
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_one_file_name_and_reads_back() {
        for key in ["a/b.json", "../../etc/passwd", ".hidden", "ü%2F", "a b"] {
            let name = file_name(key);
            assert!(!name.contains('/') && !name.starts_with('.'), "{name}");
            assert_eq!(key_of(&name).as_deref(), Some(key));
        }
        assert_eq!(percent_decoded("%4"), None);
        assert_eq!(percent_decoded("%zz"), None);
    }
}
