//! Exports.

use async_trait::async_trait;
use onsale_app::ports::{Exports, Stored, Versioned, Written};
use onsale_domain::export::Export;
use onsale_domain::ids::ExportId;

use crate::MemoryStore;
use crate::orders::{create, replace};

#[async_trait]
impl Exports for MemoryStore {
    async fn create_export(&self, new: &Export) -> Stored<Written<Export>> {
        self.pass("create_export", async {
            Ok(create(&mut self.items().exports, new.id, new))
        })
        .await
    }

    async fn export(&self, id: ExportId) -> Stored<Option<Versioned<Export>>> {
        self.pass("export", async {
            Ok(self.items().exports.get(&id).cloned())
        })
        .await
    }

    async fn replace_export(&self, next: &Versioned<Export>) -> Stored<Written<Export>> {
        self.pass("replace_export", async {
            replace(&mut self.items().exports, next.value.id, next)
        })
        .await
    }

    async fn open_exports(&self) -> Stored<Vec<ExportId>> {
        let items = self.items();
        let open = items.exports.values().filter(|e| e.value.is_open());
        Ok(open.map(|e| e.value.id).collect())
    }
}
