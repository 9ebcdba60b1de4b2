//! Orders, cancellations, tickets and the ledger of the sandbox.

use std::collections::BTreeMap;

use async_trait::async_trait;
use onsale_app::ports::{
    Cancellations, Orders, Page, SandboxLedger, Stored, Tickets, Versioned, Written,
};
use onsale_domain::block::BlockIndex;
use onsale_domain::cancellation::Cancellation;
use onsale_domain::ids::{AccountId, OrderId, ShowId, TicketId};
use onsale_domain::order::Order;
use onsale_domain::ticket::Ticket;
use onsale_domain::time::Millis;

use crate::MemoryStore;
use crate::gates::{put, stand};

pub(crate) fn create<K: Ord, T: Clone>(
    map: &mut BTreeMap<K, Versioned<T>>,
    key: K,
    value: &T,
) -> Written<T> {
    if let Some(stored) = map.get(&key) {
        return Written::Lost(stored.clone());
    }
    let value = value.clone();
    map.insert(key, Versioned { version: 1, value });
    Written::Done(1)
}

pub(crate) fn replace<K: Ord, T: Clone>(
    map: &mut BTreeMap<K, Versioned<T>>,
    key: K,
    next: &Versioned<T>,
) -> Stored<Written<T>> {
    let stored = map
        .get_mut(&key)
        .ok_or_else(|| crate::corrupt("a document that was read is gone"))?;
    if stored.version != next.version {
        return Ok(Written::Lost(stored.clone()));
    }
    stored.version += 1;
    stored.value = next.value.clone();
    Ok(Written::Done(stored.version))
}

/// One page of sorted keys, from after `after` on.
pub(crate) fn page<T>(sorted: Vec<(String, T)>, after: Option<&str>, limit: usize) -> Page<T> {
    let mut rest = sorted
        .into_iter()
        .filter(|(key, _)| after.is_none_or(|after| key.as_str() > after))
        .peekable();
    let mut items = Vec::new();
    let mut last = None;
    while items.len() < limit
        && let Some((key, value)) = rest.next()
    {
        items.push(value);
        last = Some(key);
    }
    let next = last.filter(|_| rest.peek().is_some());
    Page { items, next }
}

#[async_trait]
impl Orders for MemoryStore {
    async fn create_order(&self, order: &Order) -> Stored<Written<Order>> {
        self.pass("create_order", async {
            Ok(create(&mut self.items().orders, order.id, order))
        })
        .await
    }

    async fn order(&self, id: OrderId) -> Stored<Option<Versioned<Order>>> {
        self.pass("order", async { Ok(self.items().orders.get(&id).cloned()) })
            .await
    }

    async fn orders(&self, ids: &[OrderId]) -> Stored<Vec<Versioned<Order>>> {
        self.pass("orders", async {
            let items = self.items();
            let known = ids.iter().filter_map(|id| items.orders.get(id).cloned());
            Ok(known.collect())
        })
        .await
    }

    async fn replace_order(&self, order: &Versioned<Order>) -> Stored<Written<Order>> {
        self.reach(crate::Step::ReplaceOrder).await;
        self.pass("replace_order", async {
            replace(&mut self.items().orders, order.value.id, order)
        })
        .await
    }

    async fn replace_order_and_tickets(
        &self,
        order: &Versioned<Order>,
        tickets: &[Versioned<Ticket>],
    ) -> Stored<bool> {
        self.reach(crate::Step::ReplaceOrder).await;
        self.pass("replace_order_and_tickets", async {
            let mut items = self.items();
            let stored = items.orders.get(&order.value.id);
            let order_stands = stored.is_some_and(|stored| stored.version == order.version);
            if !order_stands || !stand(&items, tickets) {
                return Ok(false);
            }
            replace(&mut items.orders, order.value.id, order)?;
            for ticket in tickets {
                put(&mut items, ticket);
            }
            Ok(true)
        })
        .await
    }

    async fn orders_of(
        &self,
        account: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Order>> {
        let items = self.items();
        let own = items.orders.values().filter(|o| o.value.account == account);
        // Newest first: the key counts down.
        let key = |o: &Order| format!("{:020}#{}", u64::MAX - o.created.0, o.id);
        let mut sorted: Vec<_> = own.map(|o| (key(&o.value), o.value.clone())).collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(page(sorted, after, limit))
    }

    async fn open_orders(&self, after: Option<&str>, limit: usize) -> Stored<Page<OrderId>> {
        let items = self.items();
        let open = items.orders.values().filter(|o| o.value.is_open());
        let mut sorted: Vec<_> = open
            .map(|o| {
                (
                    format!("{:020}#{}", o.value.created.0, o.value.id),
                    o.value.id,
                )
            })
            .collect();
        sorted.sort();
        Ok(page(sorted, after, limit))
    }
}

#[async_trait]
impl Cancellations for MemoryStore {
    async fn create_cancellation(&self, new: &Cancellation) -> Stored<Written<Cancellation>> {
        self.pass("create_cancellation", async {
            Ok(create(&mut self.items().cancellations, new.show_id, new))
        })
        .await
    }

    async fn cancellation(&self, show: ShowId) -> Stored<Option<Versioned<Cancellation>>> {
        self.pass("cancellation", async {
            Ok(self.items().cancellations.get(&show).cloned())
        })
        .await
    }

    async fn replace_cancellation(
        &self,
        next: &Versioned<Cancellation>,
    ) -> Stored<Written<Cancellation>> {
        self.pass("replace_cancellation", async {
            replace(&mut self.items().cancellations, next.value.show_id, next)
        })
        .await
    }

    async fn open_cancellations(&self) -> Stored<Vec<ShowId>> {
        let items = self.items();
        let open = items.cancellations.values().filter(|c| c.value.is_open());
        Ok(open.map(|c| c.value.show_id).collect())
    }

    async fn close_blocks(&self, show: ShowId, blocks: &[BlockIndex]) -> Stored<()> {
        self.pass("close_blocks", async {
            blocks
                .iter()
                .for_each(|block| self.close_block(show, *block));
            Ok(())
        })
        .await
    }
}

#[async_trait]
impl Tickets for MemoryStore {
    async fn create_ticket(&self, ticket: &Ticket) -> Stored<Written<Ticket>> {
        self.reach(crate::Step::CreateTicket).await;
        self.pass("create_ticket", async {
            Ok(create(&mut self.items().tickets, ticket.id, ticket))
        })
        .await
    }

    async fn ticket(&self, id: TicketId) -> Stored<Option<Versioned<Ticket>>> {
        self.reach(crate::Step::ReadTicket).await;
        self.pass("ticket", async {
            Ok(self.items().tickets.get(&id).cloned())
        })
        .await
    }

    async fn tickets(&self, ids: &[TicketId]) -> Stored<Vec<Versioned<Ticket>>> {
        self.reach(crate::Step::ReadTickets).await;
        self.pass("tickets", async {
            let items = self.items();
            let known = ids.iter().filter_map(|id| items.tickets.get(id).cloned());
            Ok(known.collect())
        })
        .await
    }

    async fn replace_ticket(&self, ticket: &Versioned<Ticket>) -> Stored<Written<Ticket>> {
        self.reach(crate::Step::ReplaceTicket).await;
        self.pass("replace_ticket", async {
            replace(&mut self.items().tickets, ticket.value.id, ticket)
        })
        .await
    }

    async fn tickets_owned(
        &self,
        account: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Ticket>> {
        let items = self.items();
        let own =
            items.tickets.values().map(|t| &t.value).filter(|t| {
                t.account == account && !t.code.is_empty() && t.hands.passed_on.is_none()
            });
        let key = |t: &Ticket| format!("{:020}#{}", u64::MAX - t.issued.0, t.id);
        let mut sorted: Vec<_> = own.map(|t| (key(t), t.clone())).collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(page(sorted, after, limit))
    }
}

#[async_trait]
impl SandboxLedger for MemoryStore {
    async fn sandbox_entry(&self, id: &str) -> Stored<Option<Versioned<String>>> {
        Ok(self.items().sandbox.get(id).map(|(_, entry)| entry.clone()))
    }

    async fn put_sandbox_entry(
        &self,
        id: &str,
        created: Millis,
        entry: &Versioned<String>,
    ) -> Stored<bool> {
        let mut items = self.items();
        let stored = items.sandbox.get(id).map_or(0, |(_, entry)| entry.version);
        if stored != entry.version {
            return Ok(false);
        }
        let next = Versioned {
            version: stored + 1,
            value: entry.value.clone(),
        };
        items.sandbox.insert(id.to_owned(), (created, next));
        Ok(true)
    }

    async fn sandbox_entries(
        &self,
        since: Millis,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<String>> {
        let items = self.items();
        let recent = items.sandbox.iter().filter(|(_, (at, _))| *at >= since);
        let mut sorted: Vec<_> = recent
            .map(|(id, (at, entry))| (format!("{:020}#{id}", at.0), entry.value.clone()))
            .collect();
        sorted.sort();
        Ok(page(sorted, after, limit))
    }
}
