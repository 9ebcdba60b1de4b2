//! Writes an export, a part at a time.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use onsale_domain::export::{Export, ExportStatus};
use onsale_domain::ids::ExportId;
use onsale_domain::time::Millis;

use super::rows::Rows;
use crate::app::App;
use crate::error::{Error, Result};
use crate::ports::{Fetched, Versioned, Written};

/// How much is done at a time.
#[derive(Debug, Clone, Copy)]
pub struct Portion {
    /// Lines that are read at once.
    pub lines: usize,
    /// About the size of a part.
    pub bytes: usize,
}

/// Small enough for any memory, large enough that a hundred thousand orders are some twenty
/// parts.
impl Default for Portion {
    fn default() -> Self {
        Self {
            lines: 500,
            bytes: 1 << 20,
        }
    }
}

/// After this long the rest is left to another invocation, which has its whole time.
const WORK_MS: u64 = 60_000;
const CONTENT_TYPE: &str = "text/csv; charset=utf-8";

impl App {
    /// Works on an export until it is ready, somebody else has taken it over, or it is time
    /// for another invocation.
    pub async fn write_export(&self, id: ExportId) -> Result<()> {
        self.write_export_by(id, Portion::default()).await
    }

    /// The same in portions of another size.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn write_export_by(&self, id: ExportId, portion: Portion) -> Result<()> {
        let began = self.now();
        let Some(mut export) = self.store.read::<Export>(id).await? else {
            tracing::warn!(export = %id, "a message names an export that does not exist");
            return Ok(());
        };
        while export.value.is_open() {
            if self.now() - began >= WORK_MS {
                self.wake_export(id).await;
                return Ok(());
            }
            // The version of this write is ours alone, and so is the part that bears it.
            let claimed = export.value.claimed(self.now());
            let Some(claimed) = self.store_export(export.version, claimed).await? else {
                return Ok(());
            };
            let next = match claimed.value.is_walked {
                false => self.write_part(&claimed, portion).await?,
                true => self.put_together(&claimed).await?,
            };
            let Some(stored) = self.store_export(claimed.version, next).await? else {
                return Ok(());
            };
            export = stored;
        }
        self.delete_parts(&export.value).await;
        Ok(())
    }

    /// `None`: another worker has moved it on, and goes on with it.
    async fn store_export(&self, version: u64, value: Export) -> Result<Option<Versioned<Export>>> {
        let next = Versioned { version, value };
        Ok(match self.store.replace(&next).await? {
            Written::Done(version) => Some(Versioned { version, ..next }),
            Written::Lost(_) => None,
        })
    }

    async fn write_part(&self, claimed: &Versioned<Export>, portion: Portion) -> Result<Export> {
        let Versioned { version, value } = claimed;
        let mut rows = Rows::default();
        if value.parts.is_empty() {
            rows.text = value.kind.heading();
        }
        let mut after = value.after.clone();
        loop {
            let walked = self
                .store
                .walk_sale_lines(value.show_id, after.as_deref(), portion.lines)
                .await?;
            self.rows_of(value.kind, &walked.items, &mut rows).await?;
            after = walked.next;
            if after.is_none() || rows.text.len() >= portion.bytes {
                break;
            }
        }
        let key = value.part_key(*version);
        // Nobody else writes under this key: if something is there, it is this part.
        self.objects
            .replace(&key, rows.text.into_bytes(), None)
            .await?;
        Ok(value.part_written(*version, rows.count, after, self.now()))
    }

    /// One part after the other goes through memory to a file of this machine, and the
    /// file to the objects.
    async fn put_together(&self, claimed: &Versioned<Export>) -> Result<Export> {
        let Versioned { version, value } = claimed;
        let file = Scratch::new(value, *version, self.now());
        for part in &value.parts {
            let key = value.part_key(*part);
            let Fetched::Found(part) = self.objects.get(&key, None).await? else {
                tracing::error!(export = %value.id, key, "a part of an export is gone");
                return Ok(value.ended(ExportStatus::Failed, self.now()));
            };
            file.append(&part.body)?;
        }
        let key = value.file_key();
        self.objects.upload(&key, &file.0, CONTENT_TYPE).await?;
        Ok(value.ended(ExportStatus::Ready, self.now()))
    }

    /// What cannot be deleted now is deleted with the file.
    async fn delete_parts(&self, export: &Export) {
        for part in &export.parts {
            if let Err(error) = self.objects.delete(&export.part_key(*part)).await {
                tracing::warn!(export = %export.id, %error, "parts of an export stay for a while");
                return;
            }
        }
    }
}

/// A file of this machine, gone when it is dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(export: &Export, version: u64, now: Millis) -> Self {
        let name = format!("onsale-{}-{version}-{}.csv", export.id, now.0);
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&path);
        Self(path)
    }

    /// A part is small, and a worker that writes to its disk has nothing else to do.
    fn append(&self, body: &[u8]) -> Result<()> {
        append(&self.0, body).map_err(|error| {
            tracing::error!(%error, "an export cannot be put together");
            Error::Unavailable
        })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn append(path: &Path, body: &[u8]) -> std::io::Result<()> {
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(body)
}
