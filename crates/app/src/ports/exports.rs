//! Lists that organisers take away: how far each is, and the queue of the work on them.

use async_trait::async_trait;
use onsale_domain::export::Export;
use onsale_domain::ids::ExportId;
use serde::{Deserialize, Serialize};

use super::{Stored, Versioned, Written};

#[async_trait]
pub trait Exports: Send + Sync {
    /// Stores a new export under version 1; `Lost`: there is one already.
    async fn create_export(&self, new: &Export) -> Stored<Written<Export>>;
    async fn export(&self, id: ExportId) -> Stored<Option<Versioned<Export>>>;
    /// Replaces the export if it is still at this version.
    async fn replace_export(&self, next: &Versioned<Export>) -> Stored<Written<Export>>;
    /// Exports that are not ready (`Export::is_open`). The list may lag behind by seconds.
    async fn open_exports(&self) -> Stored<Vec<ExportId>>;
}

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
