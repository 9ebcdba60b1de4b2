//! An object storage in a folder, without anything between.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use onsale_app::ports::{Fetched, Object, ObjectEntry, Objects, Page, StoreError, Stored, Tag};

#[derive(Debug)]
pub struct FolderObjects(PathBuf);

fn failed(error: std::io::Error) -> StoreError {
    StoreError::Unavailable(error.to_string())
}

/// One process writes at a time, so the time of the last change is tag enough.
fn tag(path: &Path) -> Stored<Option<Tag>> {
    match path.metadata() {
        Ok(meta) => Ok(Some(Tag(format!("{:?}", meta.modified().map_err(failed)?)))),
        Err(_) => Ok(None),
    }
}

impl FolderObjects {
    pub fn new(folder: PathBuf) -> std::io::Result<Self> {
        std::fs::create_dir_all(&folder)?;
        Ok(Self(folder))
    }

    fn path(&self, key: &str) -> PathBuf {
        self.0.join(key.replace('/', "+"))
    }
}

pub fn size(folder: &Path) -> std::io::Result<u64> {
    let sizes = folder.read_dir()?.map(|entry| Ok(entry?.metadata()?.len()));
    sizes.sum()
}

#[async_trait]
impl Objects for FolderObjects {
    async fn get(&self, key: &str, known: Option<&Tag>) -> Stored<Fetched> {
        let path = self.path(key);
        match tag(&path)? {
            None => Ok(Fetched::Missing),
            Some(tag) if Some(&tag) == known => Ok(Fetched::Unchanged),
            Some(tag) => Ok(Fetched::Found(Object {
                body: std::fs::read(path).map_err(failed)?,
                tag,
            })),
        }
    }

    async fn replace(&self, key: &str, body: Vec<u8>, old: Option<&Tag>) -> Stored<Option<Tag>> {
        let path = self.path(key);
        if tag(&path)?.as_ref() != old {
            return Ok(None);
        }
        let beside = path.with_extension("new");
        std::fs::write(&beside, body).map_err(failed)?;
        std::fs::rename(beside, &path).map_err(failed)?;
        tag(&path)
    }

    async fn upload(&self, key: &str, file: &Path, _: &str) -> Stored<()> {
        std::fs::copy(file, self.path(key))
            .map(|_| ())
            .map_err(failed)
    }

    async fn download(&self, key: &str, file: &Path) -> Stored<bool> {
        std::fs::copy(self.path(key), file)
            .map(|_| true)
            .map_err(failed)
    }

    async fn list(&self, _: &str, _: Option<&str>) -> Stored<Page<ObjectEntry>> {
        Ok(Page {
            items: Vec::new(),
            next: None,
        })
    }

    async fn delete(&self, _: &str) -> Stored<()> {
        Ok(())
    }

    async fn link(&self, key: &str, _: &str, _: Duration) -> Stored<String> {
        Ok(key.to_owned())
    }
}
