//! Tickets that their owners put back, and the one write that sells them to others.

use async_trait::async_trait;
use onsale_app::ports::{ResaleWrite, Returns, Stored};
use onsale_domain::ids::{ShowId, TicketId};

use crate::conditions;
use crate::documents::new_mark;
use crate::keys::{self, BY_OWNER, Key};
use crate::lists::{List, named};
use crate::table::DynamoStore;

/// Tickets read by one request.
const LIST_PAGE: usize = 100;

#[async_trait]
impl Returns for DynamoStore {
    async fn tickets_put_back(&self, show: ShowId, limit: usize) -> Stored<Vec<TicketId>> {
        let list = List::oldest_first(BY_OWNER, keys::put_back_in(show));
        let (mut ids, mut after) = (Vec::new(), None::<String>);
        while ids.len() < limit {
            let some = LIST_PAGE.min(limit - ids.len());
            let page = self.list(&list, after.as_deref(), some).await?;
            ids.extend(named(&page.items, Key::ticket_id)?);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(ids)
    }

    async fn resell(&self, write: &ResaleWrite) -> Stored<bool> {
        let mark = new_mark()?;
        let mut parts = Vec::new();
        for group in &write.blocks {
            let key = Key::block(write.show, group.block);
            let change = conditions::sell_from(&group.cells, write.sold);
            parts.push(self.update_part(&key, change)?);
        }
        for ticket in &write.tickets {
            parts.push(self.document_part(mark, ticket.version, &ticket.value)?);
        }
        for order in &write.orders {
            parts.push(self.document_part(mark, order.version, &order.value)?);
        }
        // A try whose answer was lost is known by the mark on its tickets.
        self.transact_documents(mark, parts).await
    }
}
