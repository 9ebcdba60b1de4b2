//! Audit trails. An entry is put under a key that is new, or not at all; nothing here
//! changes one.

use async_trait::async_trait;
use aws_sdk_dynamodb::types::TransactWriteItem;
use onsale_app::ports::{Audit, Page, Stored};
use onsale_domain::audit::AuditEntry;
use onsale_domain::ids::ShowId;

use crate::attributes::{Item, get_json, json, text};
use crate::keys::{self, BY_BUYER, Key};
use crate::lists::List;
use crate::table::DynamoStore;

fn item_of(entry: &AuditEntry) -> Stored<Item> {
    Ok(Item::from([
        ("doc".to_owned(), json(entry)?),
        (BY_BUYER.pk.to_owned(), text(keys::audit_of(entry.show))),
        (
            BY_BUYER.sk.to_owned(),
            text(keys::by_time(entry.at, entry.id)),
        ),
    ]))
}

impl DynamoStore {
    /// The entry as part of the write that it is about.
    pub(crate) fn audit_part(&self, entry: &AuditEntry) -> Stored<TransactWriteItem> {
        self.put_new_part(&Key::audit(entry.id), item_of(entry)?)
    }
}

#[async_trait]
impl Audit for DynamoStore {
    async fn note(&self, entry: &AuditEntry) -> Stored<()> {
        let key = Key::audit(entry.id);
        self.put_new(&key, item_of(entry)?).await.map(|_| ())
    }

    async fn audit_of(
        &self,
        show: ShowId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<AuditEntry>> {
        let list = List::newest_first(BY_BUYER, keys::audit_of(show));
        let page = self
            .list_items(&list, after, limit, keys::listed_audit)
            .await?;
        let entries = page.items.iter().map(|item| get_json(item, "doc"));
        Ok(Page {
            items: entries.collect::<Stored<_>>()?,
            next: page.next,
        })
    }
}
