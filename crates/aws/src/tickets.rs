//! Tickets, each a document of its own: a gate reads and uses up just one of them.

use async_trait::async_trait;
use onsale_app::ports::{EntryRight, Page, Stored, Tickets, Versioned, Written};
use onsale_domain::ids::{AccountId, TicketId};
use onsale_domain::ticket::Ticket;

use crate::attributes::get_json;
use crate::documents::{Document, Listing};
use crate::keys::{self, BY_BUYER, BY_LIST, BY_OWNER, BY_WORK, Key};
use crate::lists::List;
use crate::table::DynamoStore;

impl Document for Ticket {
    fn key(&self) -> Key {
        Key::ticket(self.id)
    }

    /// A ticket is in its owner's list until it is given away; in the log of the gates from
    /// its first change on, at the time of its last; in a list of conflicts while
    /// somebody has to look at it; and among those that were put back while it is.
    fn listings(&self) -> Vec<Listing> {
        let by_time = |at| keys::by_time(at, self.id);
        let owned = !self.code.is_empty() && self.hands.passed_on.is_none();
        let owner = (keys::tickets_of(self.account), by_time(self.issued));
        let logged = EntryRight::of(self).map(|right| {
            let place = keys::gate_place(self.changed, self.id, &right);
            (keys::gate_log(self.show_id), place)
        });
        let conflict = self.conflict().map(|kind| {
            let list = keys::conflicts_of(self.show_id, kind);
            (list, by_time(self.changed))
        });
        let put_back = self.put_back.as_ref().filter(|r| r.is_open());
        let put_back = put_back.map(|r| (keys::put_back_in(self.show_id), by_time(r.since)));
        let listing = |index, place| Listing { index, place };
        vec![
            listing(BY_BUYER, owned.then_some(owner)),
            listing(BY_WORK, logged),
            listing(BY_LIST, conflict),
            listing(BY_OWNER, put_back),
        ]
    }
}

impl DynamoStore {
    /// Tickets of a list, as they are now.
    pub(crate) async fn list_tickets(
        &self,
        list: &List,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Ticket>> {
        let key = |pk: &str| Key::ticket_id(pk).map(Key::ticket);
        let page = self.list_items(list, after, limit, key).await?;
        let tickets = page.items.iter().map(|item| get_json(item, "doc"));
        Ok(Page {
            items: tickets.collect::<Stored<_>>()?,
            next: page.next,
        })
    }
}

#[async_trait]
impl Tickets for DynamoStore {
    async fn create_ticket(&self, ticket: &Ticket) -> Stored<Written<Ticket>> {
        self.create_document(ticket).await
    }

    async fn ticket(&self, id: TicketId) -> Stored<Option<Versioned<Ticket>>> {
        self.get_versioned(&Key::ticket(id)).await
    }

    async fn tickets(&self, ids: &[TicketId]) -> Stored<Vec<Versioned<Ticket>>> {
        let keys: Vec<_> = ids.iter().copied().map(Key::ticket).collect();
        self.get_documents(&keys).await
    }

    async fn replace_ticket(&self, ticket: &Versioned<Ticket>) -> Stored<Written<Ticket>> {
        self.replace_document(ticket).await
    }

    async fn tickets_owned(
        &self,
        account: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Ticket>> {
        let list = List::newest_first(BY_BUYER, keys::tickets_of(account));
        let mut page = self.list_tickets(&list, after, limit).await?;
        // The list lags behind a ticket that was given away a moment ago.
        let owned = |ticket: &Ticket| ticket.account == account && ticket.hands.passed_on.is_none();
        page.items.retain(owned);
        Ok(page)
    }
}
