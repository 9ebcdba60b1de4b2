//! A whole cloud in one process: opening it, giving it the shape of the template, and the HTTP
//! client through which the AWS SDKs reach it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aws_smithy_runtime_api::client::http::SharedHttpClient;
use dynoxide::Database;
use serde_json::{Value, json};

use crate::bus::Bus;
use crate::clock::{Clock, SystemClock};
use crate::connector::{Connector, Services};
use crate::mailbox::{Mailbox, MailboxError};
use crate::object_store::{ObjectStore, StoredObject};
use crate::presigned::{self, LinkError};
use crate::queue_store::QueueStore;
use crate::queues::{QueueError, Queues};
use crate::table::Table;
use crate::wiring::{TableWiring, Wiring};

#[derive(Debug, thiserror::Error)]
pub enum CloudError {
    #[error("cannot open {}: {reason}", path.display())]
    Open { path: PathBuf, reason: String },
    #[error("cannot start a storage thread: {0}")]
    Thread(#[from] std::io::Error),
    #[error("the table {table} does not fit the template: {reason}")]
    Table { table: String, reason: String },
    #[error(transparent)]
    Queue(#[from] QueueError),
    #[error(transparent)]
    Mailbox(#[from] MailboxError),
    #[error("the table's storage failed: {0}")]
    Storage(String),
}

/// What an acknowledged write outlives. Both stores are SQLite files in WAL mode, so neither choice
/// can corrupt them; the difference is whether the latest answers can be forgotten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// A power cut: every answer waits until the log is flushed to the disk (`synchronous = FULL`).
    #[default]
    PowerCut,
    /// The death of the process, `kill -9` included, because what was written is then with the
    /// operating system (`synchronous = NORMAL`). About three times as many writes per second.
    ProcessDeath,
}

/// DynamoDB, SQS, EventBridge, SES and S3 in this process. Clones share the same data.
#[derive(Debug, Clone)]
pub struct LocalCloud {
    services: Arc<Services>,
}

impl LocalCloud {
    /// Opens or creates `table.db`, `queues.db`, `mails.db` and `objects/` in the folder `dir`, which must exist.
    pub fn open(dir: &Path) -> Result<Self, CloudError> {
        Self::open_with(dir, Arc::new(SystemClock), Durability::default())
    }

    /// [`LocalCloud::open`] with another clock for the queues, or another durability.
    pub fn open_with(
        dir: &Path,
        clock: Arc<dyn Clock>,
        durability: Durability,
    ) -> Result<Self, CloudError> {
        let failed = |path: &Path, reason: String| CloudError::Open {
            path: path.to_owned(),
            reason,
        };
        let path = dir.join("table.db");
        let text = path
            .to_str()
            .ok_or_else(|| failed(&path, "the path is not UTF-8".to_owned()))?;
        let database = Database::new(text)
            .and_then(|database| match durability {
                // FULL is what SQLite does unless told otherwise.
                Durability::PowerCut => Ok(database),
                Durability::ProcessDeath => relax(database),
            })
            .map_err(|e| failed(&path, e.to_string()))?;
        let path = dir.join("queues.db");
        let queues = QueueStore::open(&path, Arc::clone(&clock), durability)
            .map_err(|e| failed(&path, e.to_string()))?;
        let mailbox = Mailbox::open(&dir.join("mails.db"), Arc::clone(&clock), durability)?;
        let path = dir.join("objects");
        let objects =
            ObjectStore::open(&path, durability).map_err(|e| failed(&path, e.to_string()))?;
        Self::start(database, queues, mailbox, objects, clock)
    }

    /// A cloud that is gone when the last clone is dropped.
    pub fn memory() -> Result<Self, CloudError> {
        Self::memory_with_clock(Arc::new(SystemClock))
    }

    /// [`LocalCloud::memory`] with another clock for the queues.
    pub fn memory_with_clock(clock: Arc<dyn Clock>) -> Result<Self, CloudError> {
        let database = Database::memory().map_err(|e| CloudError::Storage(e.to_string()))?;
        let queues = QueueStore::memory(Arc::clone(&clock))?;
        let mailbox = Mailbox::memory(Arc::clone(&clock))?;
        Self::start(database, queues, mailbox, ObjectStore::temporary()?, clock)
    }

    fn start(
        database: Database,
        queues: QueueStore,
        mailbox: Mailbox,
        objects: ObjectStore,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, CloudError> {
        let queues = Queues::start(queues, clock)?;
        Ok(Self {
            services: Arc::new(Services {
                table: Table::start(database)?,
                bus: Bus::new(queues.clone()),
                queues,
                mailbox,
                objects: Arc::new(objects),
            }),
        })
    }

    /// What to give to the configuration of any AWS SDK client.
    pub fn http_client(&self) -> SharedHttpClient {
        SharedHttpClient::new(Connector(Arc::clone(&self.services)))
    }

    pub fn queues(&self) -> &Queues {
        &self.services.queues
    }

    /// Every mail that was sent.
    pub fn mailbox(&self) -> &Mailbox {
        &self.services.mailbox
    }

    pub fn bus(&self) -> &Bus {
        &self.services.bus
    }

    /// Creates whatever of the template is not there yet, also an index that the table of an earlier
    /// version lacks; it then lists the items that were there before. Repeating it changes nothing.
    pub async fn apply(&self, wiring: &Wiring) -> Result<(), CloudError> {
        if let Some(table) = &wiring.table {
            self.apply_table(table).await?;
        }
        for settings in wiring.queues.values() {
            self.queues().declare(settings.clone()).await?;
        }
        self.services.objects.declare(wiring.buckets.clone());
        self.bus().set_rules(wiring.rules.clone());
        Ok(())
    }

    /// The object that a signed link points to, if its signature is of this secret and its
    /// time is not over. `target` is path and query as they came, without what stands
    /// before the bucket; `prefix` is what does.
    pub async fn linked_object(
        &self,
        prefix: &str,
        target: &str,
        host: &str,
        secret: &str,
    ) -> Result<StoredObject, LinkError> {
        let now_ms = self.queues().clock().now_ms();
        presigned::check(&format!("{prefix}{target}"), host, secret, now_ms)?;
        let path = target.split('?').next().unwrap_or_default();
        let objects = Arc::clone(&self.services.objects);
        let name = crate::s3_protocol::object_name(path).ok_or(LinkError::Refused)?;
        let found = objects.find(&name.bucket, &name.key).await;
        found.ok().flatten().ok_or(LinkError::NoSuchObject)
    }

    /// Deletes the items whose time to live has passed and returns how many. DynamoDB does this by
    /// itself, within days; here somebody has to ask for it now and then.
    pub async fn sweep_expired_items(&self) -> Result<usize, CloudError> {
        let swept = self.services.table.sweep().await;
        swept.map_err(CloudError::Storage)
    }

    /// The latest failure of the table's storage, such as a full disk, until a write works again.
    pub fn last_storage_error(&self) -> Option<String> {
        self.services.table.last_error()
    }

    async fn apply_table(&self, table: &TableWiring) -> Result<(), CloudError> {
        let misfit = |reason| CloudError::Table {
            table: table.name.clone(),
            reason,
        };
        let name = json!({ "TableName": table.name });
        match self.ask("DescribeTable", &name).await {
            Ok(described) => {
                for request in table.missing_indexes(&described).map_err(misfit)? {
                    let added = self.ask("UpdateTable", &request).await;
                    added.map_err(|e| misfit(e.to_string()))?;
                }
            }
            Err(error) if error["__type"].as_str().is_some_and(is_not_found) => {
                let created = self.ask("CreateTable", &table.create_request()).await;
                created.map_err(|e| misfit(e.to_string()))?;
            }
            Err(error) => return Err(CloudError::Storage(error.to_string())),
        }
        let Some(request) = table.ttl_request() else {
            return Ok(());
        };
        // Asked separately, because the process may have died between the two steps.
        let ttl = self.ask("DescribeTimeToLive", &name).await;
        let ttl = ttl.map_err(|e| CloudError::Storage(e.to_string()))?;
        if ttl["TimeToLiveDescription"]["TimeToLiveStatus"] != "ENABLED" {
            let enabled = self.ask("UpdateTimeToLive", &request).await;
            enabled.map_err(|e| misfit(e.to_string()))?;
        }
        Ok(())
    }

    /// One request to the table, with either answer as JSON.
    async fn ask(&self, operation: &str, request: &Value) -> Result<Value, Value> {
        let body = request.to_string();
        let reply = self.services.table.answer(operation, body.as_bytes()).await;
        reply.into_json()
    }
}

/// dynoxide has no setting for this, but leaving its bulk-loading mode sets `synchronous = NORMAL`,
/// and puts everything else that the mode changes back to SQLite's defaults.
fn relax(database: Database) -> dynoxide::Result<Database> {
    database.enable_bulk_loading()?;
    database.disable_bulk_loading()?;
    Ok(database)
}

fn is_not_found(kind: &str) -> bool {
    kind.ends_with("#ResourceNotFoundException")
}
