//! The ledger of the sandbox provider, which nothing but the sandbox reads.

use onsale_domain::time::Millis;
use onsale_table::{Item, Value};

use crate::attributes::{VERSION, get_number, get_text};
use crate::documents::{Versioned, marked};
use crate::error::Stored;
use crate::keys;
use crate::lists::{List, Page, Sorted, by_time};
use crate::store::Store;

const ENTRY: &str = "entry";

fn entry_of(item: &Item) -> Stored<String> {
    Ok(get_text(item, ENTRY)?.to_owned())
}

impl Store {
    pub async fn sandbox_entry(&self, id: &str) -> Stored<Option<Versioned<String>>> {
        let Some(item) = self.get(&keys::sandbox(id)).await? else {
            return Ok(None);
        };
        Ok(Some(Versioned {
            version: get_number(&item, VERSION)?,
            value: entry_of(&item)?,
        }))
    }

    /// Stores the entry if it is at this version (0: not there yet).
    pub async fn put_sandbox_entry(
        &self,
        id: &str,
        created: Millis,
        entry: &Versioned<String>,
    ) -> Stored<bool> {
        let (mark, list) = (self.new_mark(), List::SandboxPayments);
        let value = (ENTRY, Value::from(entry.value.as_str()));
        let update = marked(entry.version, mark, value)
            .set(list.index().pk, list.partition())
            .set(list.index().sk, by_time(created, id));
        let found = self.write_marked(&keys::sandbox(id), mark, &update).await?;
        Ok(found.is_none())
    }

    /// Entries created since then, oldest first.
    pub async fn sandbox_entries(
        &self,
        since: Millis,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<String>> {
        // Every entry of that very millisecond comes after the place without an id.
        let begin = by_time(since, "");
        let after = after.map_or(begin.as_str(), |after| after.max(begin.as_str()));
        let list = List::SandboxPayments;
        let page = self.page_of_items(&list, Sorted::OldestFirst, Some(after), limit);
        page.await?.try_map(|row| entry_of(&row.item))
    }
}
