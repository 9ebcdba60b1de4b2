//! Exports: how far each is, and the list of those that are not ready.

use async_trait::async_trait;
use onsale_app::ports::{Exports, Stored, Versioned, Written};
use onsale_domain::export::Export;
use onsale_domain::ids::ExportId;

use crate::documents::{Document, Listing};
use crate::keys::{self, BY_WORK, Key, OPEN_EXPORTS};
use crate::lists::{List, named};
use crate::table::DynamoStore;

/// Open exports read by one request.
const LIST_PAGE: usize = 100;

impl Document for Export {
    fn key(&self) -> Key {
        Key::export(self.id)
    }

    fn listings(&self) -> Vec<Listing> {
        let place = keys::by_time(self.created, self.id);
        vec![Listing {
            index: BY_WORK,
            place: self.is_open().then(|| (OPEN_EXPORTS.to_owned(), place)),
        }]
    }
}

#[async_trait]
impl Exports for DynamoStore {
    async fn create_export(&self, new: &Export) -> Stored<Written<Export>> {
        self.create_document(new).await
    }

    async fn export(&self, id: ExportId) -> Stored<Option<Versioned<Export>>> {
        self.get_versioned(&Key::export(id)).await
    }

    async fn replace_export(&self, next: &Versioned<Export>) -> Stored<Written<Export>> {
        self.replace_document(next).await
    }

    async fn open_exports(&self) -> Stored<Vec<ExportId>> {
        let list = List::oldest_first(BY_WORK, OPEN_EXPORTS);
        let (mut open, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = self.list(&list, after.as_deref(), LIST_PAGE).await?;
            open.extend(named(&page.items, Key::export_id)?);
            after = page.next;
            if after.is_none() {
                return Ok(open);
            }
        }
    }
}
