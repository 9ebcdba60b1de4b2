//! The objects of one bucket, as the application uses them, and downloads by links.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use onsale_app::ports::{Fetched, Object, ObjectEntry, Objects, Page, StoreError, Stored, Tag};
use onsale_domain::time::Millis;

use crate::clock::Clock;
use crate::links::{LinkError, Links};
use crate::object_store::{ObjectStore, Precondition, Put, StoredObject, blocking};

/// Objects of one page of a list.
const LIST_PAGE: usize = 1_000;

/// The objects of a bucket. Clones share them.
#[derive(Debug, Clone)]
pub struct LocalObjects {
    pub(crate) store: Arc<ObjectStore>,
    pub(crate) bucket: String,
    pub(crate) links: Links,
    pub(crate) clock: Arc<dyn Clock>,
}

/// What a link leads to.
#[derive(Debug)]
pub struct Download {
    pub object: StoredObject,
    /// Under which the object is to be saved; without quotation marks and control characters.
    pub file_name: String,
}

impl LocalObjects {
    /// The object of a link. `target` is what follows the base of the [`Links`]: path and query
    /// as they came.
    pub async fn linked(&self, target: &str) -> Result<Download, LinkError> {
        let signed = self.links.check(target, self.clock.now_ms() / 1000)?;
        let found = self.store.find(&self.bucket, &signed.key).await;
        let object = found.map_err(|error| {
            tracing::error!(%error, "an object cannot be opened");
            LinkError::NoSuchObject
        })?;
        Ok(Download {
            object: object.ok_or(LinkError::NoSuchObject)?,
            file_name: signed.file_name,
        })
    }

    async fn find(&self, key: &str) -> Stored<Option<StoredObject>> {
        self.store.find(&self.bucket, key).await.map_err(failed)
    }

    /// Stores what `write` writes as the object.
    async fn put(
        &self,
        key: &str,
        content_type: Option<String>,
        precondition: Precondition,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
    ) -> Stored<Put> {
        let store = Arc::clone(&self.store);
        let incoming = blocking(move || {
            let mut incoming = store.begin(content_type)?;
            write(&mut incoming)?;
            Ok(incoming)
        });
        let incoming = incoming.await.map_err(failed)?;
        let put = self.store.finish(incoming, &self.bucket, key, precondition);
        put.await.map_err(failed)
    }
}

fn failed(error: io::Error) -> StoreError {
    StoreError::Unavailable(format!("objects: {error}"))
}

#[async_trait]
impl Objects for LocalObjects {
    async fn get(&self, key: &str, known: Option<&Tag>) -> Stored<Fetched> {
        let Some(mut object) = self.find(key).await? else {
            return Ok(Fetched::Missing);
        };
        if known.is_some_and(|known| known.0 == object.tag) {
            return Ok(Fetched::Unchanged);
        }
        let read = blocking(move || {
            let mut body = Vec::new();
            object.file.read_to_end(&mut body)?;
            let tag = Tag(object.tag);
            Ok(Object { body, tag })
        });
        read.await.map(Fetched::Found).map_err(failed)
    }

    async fn replace(&self, key: &str, body: Vec<u8>, old: Option<&Tag>) -> Stored<Option<Tag>> {
        let precondition = match old {
            Some(old) => Precondition::Tag(old.0.clone()),
            None => Precondition::Absent,
        };
        let write = move |to: &mut dyn Write| to.write_all(&body);
        match self.put(key, None, precondition, write).await? {
            Put::Done(tag) => Ok(Some(Tag(tag))),
            Put::PreconditionFailed | Put::Missing => Ok(None),
        }
    }

    async fn upload(&self, key: &str, file: &Path, content_type: &str) -> Stored<()> {
        let (file, kind) = (file.to_owned(), content_type.to_owned());
        let copy = move |to: &mut dyn Write| io::copy(&mut File::open(file)?, to).map(drop);
        let put = self.put(key, Some(kind), Precondition::None, copy);
        put.await.map(drop)
    }

    async fn download(&self, key: &str, file: &Path) -> Stored<bool> {
        let Some(mut object) = self.find(key).await? else {
            return Ok(false);
        };
        let file = file.to_owned();
        let copied = blocking(move || io::copy(&mut object.file, &mut File::create(file)?));
        copied.await.map(|_| true).map_err(failed)
    }

    async fn list(&self, prefix: &str, after: Option<&str>) -> Stored<Page<ObjectEntry>> {
        let (prefix, after) = (prefix.to_owned(), after.map(str::to_owned));
        let found = self.store.list(&self.bucket, prefix, after, LIST_PAGE + 1);
        let mut found = found.await.map_err(failed)?;
        let more = found.len() > LIST_PAGE;
        found.truncate(LIST_PAGE);
        let next = found.last().filter(|_| more).map(|(key, _)| key.clone());
        let entry = |(key, modified_ms)| ObjectEntry {
            key,
            modified: Millis(modified_ms),
        };
        let items = found.into_iter().map(entry).collect();
        Ok(Page { items, next })
    }

    async fn delete(&self, key: &str) -> Stored<()> {
        let deleted = self.store.delete(&self.bucket, key).await;
        deleted.map_err(failed)
    }

    async fn link(&self, key: &str, file_name: &str, valid: Duration) -> Stored<String> {
        let until_s = self.clock.now_ms() / 1000 + valid.as_secs();
        let link = self.links.link(key, file_name, until_s);
        link.map_err(|error| StoreError::Unavailable(format!("objects: {error}")))
    }
}
