//! Object storage: files by key, too large or too many for the table.

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use onsale_domain::time::Millis;

use super::{Page, Stored};

/// Changes with every write of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag(pub String);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Object {
    pub body: Vec<u8>,
    pub tag: Tag,
}

/// What looking for an object found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    Missing,
    /// It is still the one with the tag that the caller knows.
    Unchanged,
    Found(Object),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectEntry {
    pub key: String,
    pub modified: Millis,
}

/// Keys are 1 to 200 characters of `a-z`, `A-Z`, `0-9`, `-`, `_`, `.` and `/`.
#[async_trait]
pub trait Objects: Send + Sync {
    /// A small object, as a whole; one with the `known` tag is not sent again.
    async fn get(&self, key: &str, known: Option<&Tag>) -> Stored<Fetched>;
    /// Stores a small object in place of the one with this tag, or of none. `None`:
    /// another one is there. A repetition whose first reply was lost gets `None`, too:
    /// only the content tells whose it is.
    async fn replace(&self, key: &str, body: Vec<u8>, old: Option<&Tag>) -> Stored<Option<Tag>>;
    /// Stores a file of up to 5 GB, in place of any object that is there. `content_type`
    /// is what a download of it says.
    async fn upload(&self, key: &str, file: &Path, content_type: &str) -> Stored<()>;
    /// Writes an object to a new file; `false`: there is none.
    async fn download(&self, key: &str, file: &Path) -> Stored<bool>;
    /// Objects whose keys begin so, in the order of their keys.
    async fn list(&self, prefix: &str, after: Option<&str>) -> Stored<Page<ObjectEntry>>;
    /// Deleting what is not there is done.
    async fn delete(&self, key: &str) -> Stored<()>;
    /// A link with which anybody may download the object under this file name for a
    /// while.
    async fn link(&self, key: &str, file_name: &str, valid: Duration) -> Stored<String>;
}
