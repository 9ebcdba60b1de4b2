//! Audit trails.

use async_trait::async_trait;
use onsale_app::ports::{Audit, Page, Stored};
use onsale_domain::audit::AuditEntry;
use onsale_domain::ids::ShowId;

use crate::orders::page;
use crate::{Items, MemoryStore};

impl Items {
    /// Only ever adds.
    pub(crate) fn note(&mut self, entry: &AuditEntry) {
        self.audit.entry(entry.id).or_insert_with(|| entry.clone());
    }
}

#[async_trait]
impl Audit for MemoryStore {
    async fn note(&self, entry: &AuditEntry) -> Stored<()> {
        let note = async {
            self.items().note(entry);
            Ok(())
        };
        self.pass("note", note).await
    }

    async fn audit_of(
        &self,
        show: ShowId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<AuditEntry>> {
        let items = self.items();
        let entries = items.audit.values().filter(|entry| entry.show == show);
        // Newest first: the key counts down.
        let key = |e: &AuditEntry| format!("{:020}#{}", u64::MAX - e.at.0, e.id);
        let mut sorted: Vec<_> = entries.map(|e| (key(e), e.clone())).collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(page(sorted, after, limit))
    }
}
