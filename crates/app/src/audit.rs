//! What was done to a show, for its organiser to read.

use onsale_domain::audit::AuditEntry;
use onsale_domain::ids::ShowId;

use crate::app::{App, Caller};
use crate::error::Result;
use crate::ports::Page;

impl App {
    /// The audit trail of a show of the caller, newest first.
    pub async fn audit_trail(
        &self,
        caller: &Caller,
        show: ShowId,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Page<AuditEntry>> {
        self.own_show(caller, show).await?;
        Ok(self.store.audit_of(show, after, limit).await?)
    }
}
