//! All emulated services, and the HTTP client through which the SDKs reach them.

use std::sync::Arc;

use aws_smithy_runtime_api::client::http::SharedHttpClient;
use dynoxide::Database;
use onsale_local_cloud::{
    Clock, CloudError, LocalCloud, Mailbox, Queues, StoredObject, SystemClock, TableWiring, Wiring,
};

use crate::connector::{Connector, Services};
use crate::create_table::create_request;
use crate::dynamodb::Table;
use crate::presigned::{self, LinkError};
use crate::s3;

#[derive(Debug, thiserror::Error)]
pub enum EmulatorError {
    #[error("cannot start a thread: {0}")]
    Thread(#[from] std::io::Error),
    #[error("the table failed: {0}")]
    Table(String),
    #[error(transparent)]
    Cloud(#[from] CloudError),
}

/// DynamoDB, SQS, EventBridge, SES and S3 in this process. Clones share the same data, which is
/// gone when the last of them is dropped.
#[derive(Debug, Clone)]
pub struct Emulator {
    services: Arc<Services>,
    clock: Arc<dyn Clock>,
}

impl Emulator {
    pub fn memory() -> Result<Self, EmulatorError> {
        Self::memory_with_clock(Arc::new(SystemClock))
    }

    /// [`Emulator::memory`] with another clock for everything but the table.
    pub fn memory_with_clock(clock: Arc<dyn Clock>) -> Result<Self, EmulatorError> {
        let database = Database::memory().map_err(|e| EmulatorError::Table(e.to_string()))?;
        let services = Services {
            table: Table::start(database)?,
            cloud: open_cloud(Arc::clone(&clock))?,
        };
        Ok(Self {
            services: Arc::new(services),
            clock,
        })
    }

    /// What to give to the configuration of any AWS SDK client.
    pub fn http_client(&self) -> SharedHttpClient {
        SharedHttpClient::new(Connector(Arc::clone(&self.services)))
    }

    pub fn queues(&self) -> &Queues {
        self.services.cloud.queues()
    }

    /// Every mail that was sent.
    pub fn mailbox(&self) -> &Mailbox {
        self.services.cloud.mailbox()
    }

    /// Creates what the template declares. Repeating it changes nothing.
    pub async fn apply(&self, wiring: &Wiring) -> Result<(), EmulatorError> {
        if let Some(table) = &wiring.table {
            self.apply_table(table).await?;
        }
        Ok(self.services.cloud.apply(wiring).await?)
    }

    async fn apply_table(&self, table: &TableWiring) -> Result<(), EmulatorError> {
        let request = create_request(table).to_string();
        let created = self
            .services
            .table
            .answer("CreateTable", request.as_bytes());
        match created.await.into_json() {
            Ok(_) => Ok(()),
            Err(error) if error["__type"].as_str().is_some_and(is_in_use) => Ok(()),
            Err(error) => Err(EmulatorError::Table(error.to_string())),
        }
    }

    /// The object that a link of S3 points to, if it was signed with this secret and its time is
    /// not over. `target` is path and query as they came, without what stands before the bucket;
    /// `prefix` is what does.
    pub async fn linked_object(
        &self,
        prefix: &str,
        target: &str,
        host: &str,
        secret: &str,
    ) -> Result<StoredObject, LinkError> {
        let now_ms = self.clock.now_ms();
        presigned::check(&format!("{prefix}{target}"), host, secret, now_ms)?;
        let path = target.split('?').next().unwrap_or_default();
        let name = s3::object_name(path).ok_or(LinkError::Refused)?;
        let objects = self.services.cloud.object_store();
        let found = objects.find(&name.bucket, &name.key).await;
        found.ok().flatten().ok_or(LinkError::NoSuchObject)
    }
}

/// Tests make an emulator where they cannot wait, also within a runtime; so another thread does.
fn open_cloud(clock: Arc<dyn Clock>) -> Result<LocalCloud, EmulatorError> {
    let open = move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build()?;
        let cloud = runtime.block_on(LocalCloud::temporary_with_clock(clock));
        Ok(cloud?)
    };
    let opened = std::thread::spawn(open).join();
    opened.unwrap_or_else(|_| Err(EmulatorError::Table("opening it panicked".to_owned())))
}

fn is_in_use(kind: &str) -> bool {
    kind.ends_with("#ResourceInUseException")
}
