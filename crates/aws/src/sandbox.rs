//! The ledger of the sandbox provider, which nothing but the sandbox reads.

use async_trait::async_trait;
use onsale_app::ports::{Page, SandboxLedger, Stored, Versioned};
use onsale_domain::time::Millis;

use crate::attributes::{Item, get_number, get_text, text};
use crate::documents::Listing;
use crate::keys::{self, BY_BUYER, Key, SANDBOX_PAYMENTS};
use crate::lists::List;
use crate::table::DynamoStore;

fn entry_of(item: &Item) -> Stored<String> {
    Ok(get_text(item, "entry")?.to_owned())
}

#[async_trait]
impl SandboxLedger for DynamoStore {
    async fn sandbox_entry(&self, id: &str) -> Stored<Option<Versioned<String>>> {
        let Some(item) = self.get(&Key::sandbox(id)).await? else {
            return Ok(None);
        };
        Ok(Some(Versioned {
            version: get_number(&item, "v")?,
            value: entry_of(&item)?,
        }))
    }

    async fn put_sandbox_entry(
        &self,
        id: &str,
        created: Millis,
        entry: &Versioned<String>,
    ) -> Stored<bool> {
        let place = (SANDBOX_PAYMENTS.to_owned(), keys::by_time(created, id));
        let listing = Listing {
            index: BY_BUYER,
            place: Some(place),
        };
        let value = ("entry", text(&entry.value));
        let found = self
            .write_versioned(&Key::sandbox(id), entry.version, value, vec![listing])
            .await?;
        Ok(found.is_none())
    }

    async fn sandbox_entries(
        &self,
        since: Millis,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<String>> {
        // Every entry of that very millisecond comes after the place without an id.
        let begin = keys::by_time(since, "");
        let after = after.map_or(begin.as_str(), |after| after.max(begin.as_str()));
        let list = List::oldest_first(BY_BUYER, SANDBOX_PAYMENTS);
        let key = |pk: &str| Key::sandbox_id(pk).map(Key::sandbox);
        let page = self.list_items(&list, Some(after), limit, key).await?;
        Ok(Page {
            items: page.items.iter().map(entry_of).collect::<Stored<_>>()?,
            next: page.next,
        })
    }
}
