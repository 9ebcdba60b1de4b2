//! Objects in a map.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use onsale_app::ports::{
    Clock, Fetched, Object, ObjectEntry, Objects, Page, StoreError, Stored, Tag,
};
use onsale_domain::time::Millis;

use crate::no_answer;
use crate::world::ManualClock;
use onsale_table::faults::Faults;

/// Objects that one page of a list has.
const PAGE: usize = 100;

#[derive(Debug, Clone)]
struct Kept {
    body: Vec<u8>,
    tag: u64,
    modified: Millis,
}

#[derive(Debug)]
pub struct MemoryObjects {
    clock: Arc<ManualClock>,
    faults: Arc<Faults>,
    objects: Mutex<(u64, BTreeMap<String, Kept>)>,
}

fn failed(error: std::io::Error) -> StoreError {
    StoreError::Unavailable(error.to_string())
}

impl MemoryObjects {
    pub fn new(clock: Arc<ManualClock>, faults: Arc<Faults>) -> Self {
        Self {
            clock,
            faults,
            objects: Mutex::default(),
        }
    }

    fn objects(&self) -> MutexGuard<'_, (u64, BTreeMap<String, Kept>)> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, key: &str, body: Vec<u8>) -> Tag {
        let modified = self.clock.now();
        let (writes, objects) = &mut *self.objects();
        *writes += 1;
        let tag = *writes;
        let object = Kept {
            body,
            tag,
            modified,
        };
        objects.insert(key.to_owned(), object);
        Tag(tag.to_string())
    }

    /// Everything that is stored now.
    pub fn keys(&self) -> Vec<String> {
        self.objects().1.keys().cloned().collect()
    }

    /// Changes the bytes of an object, as nothing but an accident does.
    pub fn damage(&self, key: &str, change: impl FnOnce(&mut Vec<u8>)) {
        if let Some(object) = self.objects().1.get_mut(key) {
            change(&mut object.body);
        }
    }

    /// Loses every object, as nothing but an accident does.
    pub fn lose_all(&self) {
        self.objects().1.clear();
    }
}

#[async_trait]
impl Objects for MemoryObjects {
    async fn get(&self, key: &str, known: Option<&Tag>) -> Stored<Fetched> {
        let get = async {
            let objects = self.objects();
            Ok(match objects.1.get(key) {
                None => Fetched::Missing,
                Some(found) if known.is_some_and(|known| known.0 == found.tag.to_string()) => {
                    Fetched::Unchanged
                }
                Some(found) => Fetched::Found(Object {
                    body: found.body.clone(),
                    tag: Tag(found.tag.to_string()),
                }),
            })
        };
        self.faults.pass("get_object", no_answer, get).await
    }

    async fn replace(&self, key: &str, body: Vec<u8>, old: Option<&Tag>) -> Stored<Option<Tag>> {
        let replace = async {
            let current = self.objects().1.get(key).map(|found| found.tag.to_string());
            if current.as_ref() != old.map(|old| &old.0) {
                return Ok(None);
            }
            Ok(Some(self.put(key, body)))
        };
        self.faults.pass("replace_object", no_answer, replace).await
    }

    async fn upload(&self, key: &str, file: &Path, _: &str) -> Stored<()> {
        let upload = async {
            self.put(key, std::fs::read(file).map_err(failed)?);
            Ok(())
        };
        self.faults.pass("upload_object", no_answer, upload).await
    }

    async fn download(&self, key: &str, file: &Path) -> Stored<bool> {
        let download = async {
            let body = self.objects().1.get(key).map(|found| found.body.clone());
            match body {
                Some(body) => std::fs::write(file, body).map(|()| true).map_err(failed),
                None => Ok(false),
            }
        };
        self.faults
            .pass("download_object", no_answer, download)
            .await
    }

    async fn list(&self, prefix: &str, after: Option<&str>) -> Stored<Page<ObjectEntry>> {
        let objects = self.objects();
        let entries = objects.1.iter().filter(|(key, _)| {
            key.starts_with(prefix) && after.is_none_or(|after| key.as_str() > after)
        });
        let mut items: Vec<_> = entries
            .take(PAGE + 1)
            .map(|(key, object)| ObjectEntry {
                key: key.clone(),
                modified: object.modified,
            })
            .collect();
        let more = items.len() > PAGE;
        items.truncate(PAGE);
        let next = items.last().filter(|_| more).map(|entry| entry.key.clone());
        Ok(Page { items, next })
    }

    async fn delete(&self, key: &str) -> Stored<()> {
        let delete = async {
            self.objects().1.remove(key);
            Ok(())
        };
        self.faults.pass("delete_object", no_answer, delete).await
    }

    async fn link(&self, key: &str, file_name: &str, valid: Duration) -> Stored<String> {
        let until = self.clock.now().0 + valid.as_millis() as u64;
        Ok(format!("memory://{key}?name={file_name}&until={until}"))
    }
}
