//! A whole cloud in one process: opening it, and giving it the shape of the template.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use onsale_table::sqlite::{Durability, OpenError, SqliteFile, SqliteTable};
use onsale_table::{Table, TableError};

use crate::bus::Bus;
use crate::clock::{Clock, SystemClock};
use crate::links::Links;
use crate::mailbox::Mailbox;
use crate::object_store::ObjectStore;
use crate::objects::LocalObjects;
use crate::queues::{QueueError, Queues};
use crate::wiring::Wiring;

const FILE: &str = "onsale.db";
const OBJECTS: &str = "objects";
/// What builds before the first release wrote in place of [`FILE`].
const OLDER_FILES: [&str; 2] = ["table.db", "queues.db"];
/// Items that one write deletes once their time to live has passed. Other writes wait meanwhile.
const SWEEP_ITEMS: usize = 500;

#[derive(Debug, thiserror::Error)]
pub enum CloudError {
    #[error("cannot open {}: {reason}", path.display())]
    Open { path: PathBuf, reason: String },
    #[error(
        "this folder was written by an older build of Onsale; nothing was released, so start \
         with an empty folder"
    )]
    OlderBuild,
    #[error("the template has no bucket {0}")]
    NoSuchBucket(String),
    #[error(transparent)]
    Queue(#[from] QueueError),
    #[error("the table's storage failed: {0}")]
    Storage(#[from] TableError),
}

/// Table, queues, bus, mailbox and objects in this process. Clones share the same data.
#[derive(Debug, Clone)]
pub struct LocalCloud {
    table: Arc<SqliteTable>,
    queues: Queues,
    bus: Bus,
    mailbox: Mailbox,
    objects: Arc<ObjectStore>,
}

impl LocalCloud {
    /// Opens or creates `onsale.db` and `objects/` in the folder `dir`, which must exist.
    pub async fn open(dir: &Path) -> Result<Self, CloudError> {
        Self::open_with(dir, Arc::new(SystemClock), Durability::default()).await
    }

    /// [`LocalCloud::open`] with another clock, or another durability.
    pub async fn open_with(
        dir: &Path,
        clock: Arc<dyn Clock>,
        durability: Durability,
    ) -> Result<Self, CloudError> {
        if OLDER_FILES.iter().any(|name| dir.join(name).exists()) {
            return Err(CloudError::OlderBuild);
        }
        let path = dir.join(FILE);
        let opened = SqliteFile::open(&path, durability);
        let file = opened.map_err(|error| unusable(&path, &error))?;
        let root = dir.join(OBJECTS);
        let objects = ObjectStore::open(&root, durability);
        let objects = objects.map_err(|error| unusable(&root, &error))?;
        let started = Self::start(file, objects, clock).await;
        started.map_err(|error| unusable(&path, &error))
    }

    /// A cloud that is gone when the last clone is dropped.
    pub async fn temporary() -> Result<Self, CloudError> {
        Self::temporary_with_clock(Arc::new(SystemClock)).await
    }

    /// [`LocalCloud::temporary`] with another clock.
    pub async fn temporary_with_clock(clock: Arc<dyn Clock>) -> Result<Self, CloudError> {
        let path = std::env::temp_dir();
        let file = SqliteFile::temporary().map_err(|error| unusable(&path, &error))?;
        let objects: io::Result<_> = ObjectStore::temporary();
        let objects = objects.map_err(|error| unusable(&path, &error))?;
        let started = Self::start(file, objects, clock).await;
        started.map_err(|error| unusable(&path, &error))
    }

    async fn start(
        file: Arc<SqliteFile>,
        objects: ObjectStore,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, OpenError> {
        let queues = Queues::open(Arc::clone(&file), Arc::clone(&clock)).await?;
        let mailbox = Mailbox::open(Arc::clone(&file), clock).await?;
        let table = SqliteTable::open(file, onsale_store::SCHEMA).await?;
        Ok(Self {
            table: Arc::new(table.with_outbox(Arc::new(queues.clone()))),
            bus: Bus::new(queues.clone()),
            queues,
            mailbox,
            objects: Arc::new(objects),
        })
    }

    /// The table in which the application stores everything. A message at the end of writes in
    /// order goes to the queues with the same flush.
    pub fn table(&self) -> Arc<SqliteTable> {
        Arc::clone(&self.table)
    }

    pub fn queues(&self) -> &Queues {
        &self.queues
    }

    pub fn bus(&self) -> &Bus {
        &self.bus
    }

    /// Every mail that was sent.
    pub fn mailbox(&self) -> &Mailbox {
        &self.mailbox
    }

    /// The objects of all buckets.
    pub fn object_store(&self) -> &Arc<ObjectStore> {
        &self.objects
    }

    /// The objects of one bucket, with links that are signed like this.
    pub fn objects(&self, bucket: &str, links: Links) -> Result<LocalObjects, CloudError> {
        if !self.objects.has_bucket(bucket) {
            return Err(CloudError::NoSuchBucket(bucket.to_owned()));
        }
        Ok(LocalObjects {
            store: Arc::clone(&self.objects),
            bucket: bucket.to_owned(),
            links,
            clock: Arc::clone(self.queues.clock()),
        })
    }

    /// Declares the queues, rules and buckets of the template. Repeating it changes nothing.
    pub async fn apply(&self, wiring: &Wiring) -> Result<(), CloudError> {
        for settings in wiring.queues.values() {
            self.queues.declare(settings.clone()).await?;
        }
        self.objects.declare(wiring.buckets.clone());
        self.bus.set_rules(wiring.rules.clone());
        Ok(())
    }

    /// Deletes the items whose time to live has passed and returns how many. DynamoDB does this
    /// by itself, within days; here the host has to ask for it now and then.
    pub async fn sweep_expired_items(&self) -> Result<usize, CloudError> {
        let now_s = self.queues.clock().now_ms() / 1000;
        let mut swept = 0;
        loop {
            match self.table.forget(now_s, SWEEP_ITEMS).await? {
                0 => return Ok(swept),
                more => swept += more,
            }
        }
    }

    /// The latest failure of the storage, such as a full disk, until a write works again.
    pub fn last_storage_error(&self) -> Option<String> {
        self.table.trouble()
    }
}

fn unusable(path: &Path, error: &impl ToString) -> CloudError {
    CloudError::Open {
        path: path.to_owned(),
        reason: error.to_string(),
    }
}
