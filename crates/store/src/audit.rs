//! Audit trails. An entry is put under a key that is new, or not at all; nothing here changes
//! one.

use onsale_domain::audit::AuditEntry;
use onsale_domain::ids::ShowId;
use onsale_table::{Item, Key, Write};

use crate::attributes::{DOC, get_json, json};
use crate::documents::Together;
use crate::error::Stored;
use crate::keys;
use crate::lists::{List, Page, Sorted, by_time};
use crate::store::Store;

fn entry_row(entry: &AuditEntry) -> Stored<(Key, Item)> {
    let key = keys::of(keys::AUDIT, entry.id.simple());
    let place = List::AuditOf(entry.show).at(by_time(entry.at, entry.id));
    let item = place.mark(Item::new().with(DOC, json(entry)?));
    Ok((key, item))
}

impl Together {
    /// Writes the entry with what it is about.
    pub fn note(&mut self, entry: &AuditEntry) -> Stored<&mut Self> {
        let (key, item) = entry_row(entry)?;
        Ok(self.push(Write::PutNew(key, item)))
    }
}

impl Store {
    /// Writes an entry. The same entry again changes nothing. Those of changes to a show are
    /// written together with the show instead.
    pub async fn note(&self, entry: &AuditEntry) -> Stored<()> {
        let (key, item) = entry_row(entry)?;
        self.put_new(&key, item).await.map(|_| ())
    }

    /// The entries of a show, newest first.
    pub async fn audit_of(
        &self,
        show: ShowId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<AuditEntry>> {
        let list = List::AuditOf(show);
        let page = self.page_of_items(&list, Sorted::NewestFirst, after, limit);
        page.await?.try_map(|row| get_json(&row.item, DOC))
    }
}
