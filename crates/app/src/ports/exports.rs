//! Lists that organisers take away: how far each is, and the queue of the work on them.

use async_trait::async_trait;
use onsale_domain::ids::ExportId;
use serde::{Deserialize, Serialize};

use super::Stored;

/// "Look at this export: there may be a part to write."
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteExport {
    pub export_id: ExportId,
}

#[async_trait]
pub trait ExportQueue: Send + Sync {
    async fn send_export(&self, message: &WriteExport) -> Stored<()>;
}
