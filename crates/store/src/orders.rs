//! Orders: the buyer's list, and the list of those whose saga has not ended.

use onsale_domain::ids::{AccountId, OrderId};
use onsale_domain::order::Order;
use onsale_table::Index;

use crate::documents::{Document, id_of};
use crate::error::{Stored, corrupt};
use crate::indexes::{BY_BUYER, BY_WORK, WORK_SHARDS};
use crate::lists::{List, Page, Place, Sorted, by_time};
use crate::store::Store;

impl Document for Order {
    const KIND: &'static str = "ORD";
    /// Neither the buyer nor the time of an order changes, so an ordinary step leaves both
    /// indexes alone; one that ends or reopens the order writes the second.
    const INDEXES: &'static [Index] = &[BY_BUYER, BY_WORK];
    type Id = OrderId;

    fn id(&self) -> OrderId {
        self.id
    }

    fn lists(&self) -> Vec<Place> {
        let at = by_time(self.created, self.id);
        let mut lists = vec![List::OrdersOf(self.account).at(at.clone())];
        if self.is_open() {
            lists.push(List::open_orders(self.id).at(at));
        }
        lists
    }
}

/// Where a walk over the open orders goes on: the shard, and the last place seen in it.
#[derive(Debug, PartialEq, Eq)]
struct Walk {
    shard: u8,
    after: Option<String>,
}

impl Walk {
    fn parse(cursor: Option<&str>) -> Option<Self> {
        let Some(cursor) = cursor else {
            return Some(Self {
                shard: 0,
                after: None,
            });
        };
        let (shard, after) = cursor.split_once('@')?;
        Some(Self {
            shard: shard.parse().ok().filter(|shard| *shard < WORK_SHARDS)?,
            after: (!after.is_empty()).then(|| after.to_owned()),
        })
    }

    fn cursor(&self) -> String {
        format!("{}@{}", self.shard, self.after.as_deref().unwrap_or(""))
    }

    /// What follows a page of this shard; `None` after the last shard.
    fn beyond(&self, next: Option<String>) -> Option<Self> {
        let shard = self.shard + u8::from(next.is_none());
        Some(Self { shard, after: next }).filter(|walk| walk.shard < WORK_SHARDS)
    }
}

impl Store {
    /// The orders of a buyer, newest first.
    pub async fn orders_of(
        &self,
        account: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Order>> {
        let list = List::OrdersOf(account);
        let page = self.list(&list, Sorted::NewestFirst, after, limit);
        Ok(page.await?.values())
    }

    /// Orders whose saga has not ended (`Order::is_open`), oldest first within each part of the
    /// list. A list may lag behind by seconds.
    pub async fn open_orders(&self, after: Option<&str>, limit: usize) -> Stored<Page<OrderId>> {
        let mut walk = Walk::parse(after).ok_or_else(|| corrupt("a cursor of open orders"))?;
        let mut items = Vec::new();
        loop {
            let list = List::OpenOrders(walk.shard);
            let (after, most) = (walk.after.as_deref(), limit - items.len());
            let page = self.page(&list, Sorted::OldestFirst, after, most).await?;
            for row in &page.items {
                items.push(id_of::<Order>(&row.key)?);
            }
            match walk.beyond(page.next) {
                Some(next) if items.len() < limit => walk = next,
                next => {
                    let next = next.map(|walk| walk.cursor());
                    return Ok(Page { items, next });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_names_its_shard_and_place() {
        for (shard, after) in [(0, None), (7, Some("000001800000000000#ord_1")), (15, None)] {
            let after = after.map(str::to_owned);
            let walk = Walk { shard, after };
            assert_eq!(Walk::parse(Some(&walk.cursor())), Some(walk));
        }
        for wrong in ["", "3", "16@", "x@", "-1@"] {
            assert_eq!(Walk::parse(Some(wrong)), None, "{wrong}");
        }
    }
}
