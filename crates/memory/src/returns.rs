//! Tickets that their owners put back.

use async_trait::async_trait;
use onsale_app::ports::{BlockCells, ResaleWrite, Returns, Stored};
use onsale_domain::ids::{ShowId, TicketId};

use crate::gates::{put, stand};
use crate::orders::replace;
use crate::{Items, MemoryStore, Step};

fn cells_stand(items: &Items, show: ShowId, group: &BlockCells) -> bool {
    let block = items.blocks.get(&(show, group.block));
    block.is_some_and(|block| {
        let exact = |(slot, old)| block.cell(slot) == Some(old);
        !block.closed && group.cells.iter().copied().all(exact)
    })
}

#[async_trait]
impl Returns for MemoryStore {
    async fn tickets_put_back(&self, show: ShowId, limit: usize) -> Stored<Vec<TicketId>> {
        let items = self.items();
        let of_show = items.tickets.values().map(|ticket| &ticket.value);
        let put_back = of_show.filter(|t| t.show_id == show && t.is_put_back());
        let mut sorted: Vec<_> = put_back
            .map(|t| (t.put_back.as_ref().map(|r| r.since), t.id))
            .collect();
        sorted.sort();
        sorted.truncate(limit);
        Ok(sorted.into_iter().map(|(_, id)| id).collect())
    }

    async fn resell(&self, write: &ResaleWrite) -> Stored<bool> {
        self.reach(Step::Resell).await;
        self.pass("resell", async {
            let mut items = self.items();
            let orders_stand = write.orders.iter().all(|order| {
                let stored = items.orders.get(&order.value.id);
                stored.is_some_and(|stored| stored.version == order.version)
            });
            let mut blocks = write.blocks.iter();
            let stands = orders_stand
                && stand(&items, &write.tickets)
                && blocks.all(|group| cells_stand(&items, write.show, group));
            if !stands {
                return Ok(false);
            }
            for group in &write.blocks {
                let block = items.blocks.entry((write.show, group.block)).or_default();
                for (slot, _) in &group.cells {
                    block.set(*slot, Some(write.sold));
                }
            }
            for ticket in &write.tickets {
                put(&mut items, ticket);
            }
            for order in &write.orders {
                replace(&mut items.orders, order.value.id, order)?;
            }
            Ok(true)
        })
        .await
    }
}
