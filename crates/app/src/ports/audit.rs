//! The audit trail: a list that is only ever added to.

use async_trait::async_trait;
use onsale_domain::audit::AuditEntry;
use onsale_domain::ids::ShowId;

use super::{Page, Stored};

#[async_trait]
pub trait Audit: Send + Sync {
    /// Writes an entry. The same entry again changes nothing. Those of changes to a show
    /// are written together with the show instead.
    async fn note(&self, entry: &AuditEntry) -> Stored<()>;
    /// The entries of a show, newest first.
    async fn audit_of(
        &self,
        show: ShowId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<AuditEntry>>;
}
