//! Orders: the buyer's list, and the list of those whose saga has not ended.

use async_trait::async_trait;
use onsale_app::ports::{Orders, Page, StoreError, Stored, Versioned, Written};
use onsale_domain::ids::{AccountId, OrderId};
use onsale_domain::order::Order;
use onsale_domain::ticket::Ticket;

use crate::attributes::get_json;
use crate::documents::{Document, Listing, new_mark};
use crate::keys::{self, BY_BUYER, BY_WORK, Key, WORK_SHARDS};
use crate::lists::{List, named};
use crate::table::DynamoStore;

impl Document for Order {
    fn key(&self) -> Key {
        Key::order(self.id)
    }

    /// Neither the buyer nor the time of an order changes, so an ordinary step leaves
    /// both indexes alone; one that ends or reopens the order writes the second.
    fn listings(&self) -> Vec<Listing> {
        let place = keys::by_time(self.created, self.id);
        let open = keys::open_orders(keys::work_shard(self.id));
        vec![
            Listing {
                index: BY_BUYER,
                place: Some((keys::buyer_orders(self.account), place.clone())),
            },
            Listing {
                index: BY_WORK,
                place: self.is_open().then_some((open, place)),
            },
        ]
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
        match next {
            Some(after) => Some(Self {
                shard: self.shard,
                after: Some(after),
            }),
            None => Some(Self {
                shard: self.shard + 1,
                after: None,
            })
            .filter(|walk| walk.shard < WORK_SHARDS),
        }
    }
}

#[async_trait]
impl Orders for DynamoStore {
    async fn create_order(&self, order: &Order) -> Stored<Written<Order>> {
        self.create_document(order).await
    }

    async fn order(&self, id: OrderId) -> Stored<Option<Versioned<Order>>> {
        self.get_versioned(&Key::order(id)).await
    }

    async fn orders(&self, ids: &[OrderId]) -> Stored<Vec<Versioned<Order>>> {
        let keys: Vec<_> = ids.iter().copied().map(Key::order).collect();
        self.get_documents(&keys).await
    }

    async fn replace_order(&self, order: &Versioned<Order>) -> Stored<Written<Order>> {
        self.replace_document(order).await
    }

    async fn replace_order_and_tickets(
        &self,
        order: &Versioned<Order>,
        tickets: &[Versioned<Ticket>],
    ) -> Stored<bool> {
        let mark = new_mark()?;
        let mut parts = vec![self.document_part(mark, order.version, &order.value)?];
        for ticket in tickets {
            parts.push(self.document_part(mark, ticket.version, &ticket.value)?);
        }
        self.transact_documents(mark, parts).await
    }

    async fn orders_of(
        &self,
        account: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Order>> {
        let list = List::newest_first(BY_BUYER, keys::buyer_orders(account));
        let key = |pk: &str| Key::order_id(pk).map(Key::order);
        let page = self.list_items(&list, after, limit, key).await?;
        let orders = page.items.iter().map(|item| get_json(item, "doc"));
        Ok(Page {
            items: orders.collect::<Stored<_>>()?,
            next: page.next,
        })
    }

    async fn open_orders(&self, after: Option<&str>, limit: usize) -> Stored<Page<OrderId>> {
        let mut walk = Walk::parse(after)
            .ok_or_else(|| StoreError::Corrupt("a cursor of open orders".to_owned()))?;
        let mut items = Vec::new();
        loop {
            let list = List::oldest_first(BY_WORK, keys::open_orders(walk.shard));
            let after = walk.after.as_deref();
            let page = self.list(&list, after, limit - items.len()).await?;
            items.extend(named(&page.items, Key::order_id)?);
            let next = walk.beyond(page.next);
            match next {
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
