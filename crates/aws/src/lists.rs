//! Lists: pages of an index.
//!
//! An index lags behind its table by a moment. Where it has keys only, the items that it
//! names are read from the table itself, so a list is late but never wrong about them.

use std::collections::HashMap;

use onsale_app::ports::{Page, StoreError, Stored};

use crate::attributes::{Item, get_text, text};
use crate::errors::unavailable;
use crate::keys::{Index, Key, PK};
use crate::table::DynamoStore;

/// Keys that one request of a whole list reads.
const LIST_PAGE: usize = 100;

/// One partition of an index, and in which direction it is read.
#[derive(Debug, Clone)]
pub(crate) struct List {
    pub index: Index,
    pub partition: String,
    pub newest_first: bool,
}

impl List {
    pub(crate) fn newest_first(index: Index, partition: impl Into<String>) -> Self {
        Self {
            index,
            partition: partition.into(),
            newest_first: true,
        }
    }

    pub(crate) fn oldest_first(index: Index, partition: impl Into<String>) -> Self {
        Self {
            newest_first: false,
            ..Self::newest_first(index, partition)
        }
    }
}

/// What the keys of these items name.
pub(crate) fn named<T>(items: &[Item], name: impl Fn(&str) -> Option<T>) -> Stored<Vec<T>> {
    let read = |item| {
        let pk = get_text(item, PK)?;
        name(pk).ok_or_else(|| StoreError::Corrupt("the key of a listed item".to_owned()))
    };
    items.iter().map(read).collect()
}

impl DynamoStore {
    /// What the index has of the items that come after the place `after`.
    pub(crate) async fn list(
        &self,
        list: &List,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Item>> {
        let Index { name, pk, sk } = list.index;
        let mut query = self
            .client
            .query()
            .table_name(&self.table)
            .index_name(name)
            .expression_attribute_values(":list", text(&list.partition))
            .scan_index_forward(!list.newest_first)
            .limit(i32::try_from(limit).unwrap_or(100));
        let beyond = if list.newest_first { '<' } else { '>' };
        query = match after {
            Some(after) => query
                .key_condition_expression(format!("{pk} = :list AND {sk} {beyond} :after"))
                .expression_attribute_values(":after", text(after)),
            None => query.key_condition_expression(format!("{pk} = :list")),
        };
        let answer = query.send().await.map_err(unavailable)?;
        let items = answer.items.unwrap_or_default();
        let next = match (answer.last_evaluated_key, items.last()) {
            (Some(_), Some(last)) => Some(get_text(last, sk)?.to_owned()),
            _ => None,
        };
        Ok(Page { items, next })
    }

    /// What the index has of all items of a list, for lists that stay short.
    pub(crate) async fn whole_list(&self, list: &List) -> Stored<Vec<Item>> {
        let (mut items, mut after) = (Vec::new(), None);
        loop {
            let page = self.list(list, after.as_deref(), LIST_PAGE).await?;
            items.extend(page.items);
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(items),
            }
        }
    }

    /// The whole items of a page, read from the table, in the order of the list.
    pub(crate) async fn list_items(
        &self,
        list: &List,
        after: Option<&str>,
        limit: usize,
        key: impl Fn(&str) -> Option<Key>,
    ) -> Stored<Page<Item>> {
        let page = self.list(list, after, limit).await?;
        let keys = named(&page.items, key)?;
        let mut found: HashMap<String, Item> = HashMap::with_capacity(keys.len());
        for item in self.get_many(&keys, true).await? {
            found.insert(get_text(&item, PK)?.to_owned(), item);
        }
        let in_order = keys.iter().filter_map(|key| found.remove(&key.pk));
        Ok(Page {
            items: in_order.collect(),
            next: page.next,
        })
    }
}
