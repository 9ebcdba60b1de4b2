//! Lists that organisers take away as files.
//!
//! A request only notes what is wanted. The file is written in the background, part by
//! part, from the lines of what the show sold; how far it is stands in the table, so any
//! worker goes on where another one died, and no row is there twice or missing.

mod rows;
mod write;

pub use write::Portion;

use std::time::Duration;

use onsale_domain::audit::{AuditAction, AuditChange, AuditEntry};
use onsale_domain::export::{Export, ExportKind, ExportStatus, FOLDER, GIVEN_UP_MS, KEPT_MS};
use onsale_domain::ids::{ExportId, ShowId};
use onsale_domain::request_hash::IdempotencyKey;

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::ports::{List, Versioned, WriteExport, Written};
use crate::reconcile::{IDLE_MS, Report};

/// How long a link to a file works. Whoever needs it longer asks again.
pub const LINK_VALID: Duration = Duration::from_secs(300);

/// An export, and the link to its file once it is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportView {
    pub export: Export,
    pub link: Option<String>,
}

impl App {
    /// Notes that the organiser of a show wants a list of it.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn begin_export(
        &self,
        caller: &Caller,
        show: ShowId,
        kind: ExportKind,
        key: Option<&IdempotencyKey>,
    ) -> Result<Export> {
        self.own_show(caller, show).await?;
        let now = self.now();
        let account = caller.account;
        let id = match key {
            Some(key) => {
                let (by, name) = ("key".as_bytes(), key.as_str().as_bytes());
                ExportId::derived(&[account.as_bytes(), show.as_bytes(), by, name])
            }
            // Whoever asks again wants the list as it is by then.
            None => ExportId::new(now, self.id_entropy()),
        };
        let new = Export::begin(id, show, account, kind, now);
        let export = match self.store.create(&new).await? {
            Written::Done(_) => new,
            Written::Lost(known) if known.value.kind == kind => known.value,
            Written::Lost(_) => return Err(Error::IdempotencyMismatch),
        };
        self.note_export(&export).await?;
        if export.is_open() {
            self.wake_export(id).await;
        }
        Ok(export)
    }

    /// Personal data leaves the platform: who took it is known afterwards. Noted before
    /// anything is written, and once for each export.
    async fn note_export(&self, export: &Export) -> Result<()> {
        let kind = export.kind.as_str().to_owned();
        let entry = AuditEntry::new(
            export.show_id,
            export.account,
            AuditAction::ListExported,
            export.id.as_bytes(),
            vec![AuditChange::new("kind", None, Some(kind))],
            export.created,
        );
        Ok(self.store.note(&entry).await?)
    }

    /// How far an export of a show of the caller is.
    pub async fn read_export(
        &self,
        caller: &Caller,
        show: ShowId,
        id: ExportId,
    ) -> Result<ExportView> {
        self.own_show(caller, show).await?;
        let stored = self.store.read::<Export>(id).await?;
        let export = stored
            .map(|stored| stored.value)
            .filter(|export| export.show_id == show && !export.is_over(self.now()))
            .ok_or(Error::NotFound("export"))?;
        let link = match export.status {
            ExportStatus::Ready => {
                let (key, name) = (export.file_key(), export.file_name());
                Some(self.objects.link(&key, &name, LINK_VALID).await?)
            }
            ExportStatus::Preparing | ExportStatus::Failed => None,
        };
        Ok(ExportView { export, link })
    }

    /// A message that cannot be sent is made up for by reconciling.
    async fn wake_export(&self, id: ExportId) {
        let message = WriteExport { export_id: id };
        if let Err(error) = self.export_queue.send_export(&message).await {
            tracing::warn!(export = %id, %error, "an export waits for reconciling");
        }
    }

    /// Wakes the exports that nobody works on, and gives up those that never end.
    pub(crate) async fn look_at_open_exports(&self, report: &mut Report) -> Result<()> {
        for id in self.store.ids_in::<Export>(&List::OpenExports).await? {
            let stored = self.store.read::<Export>(id).await;
            let Some(stored) = report.readable(format!("export {id}"), stored)? else {
                continue;
            };
            let now = self.now();
            if !stored.value.is_open() {
                continue;
            }
            report.open_exports += 1;
            if stored.value.created + GIVEN_UP_MS <= now {
                tracing::error!(export = %id, "an export could not be written");
                let value = stored.value.ended(ExportStatus::Failed, now);
                let version = stored.version;
                self.store.replace(&Versioned { version, value }).await?;
            } else if stored.value.changed + IDLE_MS <= now {
                self.wake_export(id).await;
            }
        }
        Ok(())
    }

    /// Deletes the files whose time is over, and what was left of parts.
    pub(crate) async fn delete_old_exports(&self) -> Result<u64> {
        let (mut deleted, mut after) = (0, None::<String>);
        loop {
            let page = self.objects.list(FOLDER, after.as_deref()).await?;
            let now = self.now();
            for object in page.items.iter().filter(|o| o.modified + KEPT_MS <= now) {
                self.objects.delete(&object.key).await?;
                deleted += 1;
            }
            after = page.next;
            if after.is_none() {
                return Ok(deleted);
            }
        }
    }
}
