//! Tickets, each a document of its own: a gate reads and uses up just one of them.

use onsale_domain::ids::{AccountId, ShowId, TicketId};
use onsale_domain::ticket::Ticket;
use onsale_table::Index;

use crate::documents::{Document, id_of};
use crate::error::Stored;
use crate::gates::{EntryRight, gate_place};
use crate::indexes::{BY_BUYER, BY_LIST, BY_OWNER, BY_WORK};
use crate::lists::{List, Page, Place, Sorted, by_time};
use crate::store::Store;

impl Document for Ticket {
    const KIND: &'static str = "TKT";
    const INDEXES: &'static [Index] = &[BY_BUYER, BY_WORK, BY_LIST, BY_OWNER];
    type Id = TicketId;

    fn id(&self) -> TicketId {
        self.id
    }

    /// A ticket is in its owner's list until it is given away; in the log of the gates from its
    /// first change on, at the time of its last; in a list of conflicts while a person has to
    /// look at it; and among those that were put back while it is.
    fn lists(&self) -> Vec<Place> {
        let by_time = |at| by_time(at, self.id);
        let owned = !self.code.is_empty() && self.hands.passed_on.is_none();
        let owner = owned.then(|| List::TicketsOf(self.account).at(by_time(self.issued)));
        let logged = EntryRight::of(self)
            .map(|right| List::GateLog(self.show_id).at(gate_place(self.changed, self.id, &right)));
        let conflict = self
            .conflict()
            .map(|kind| List::Conflicts(self.show_id, kind).at(by_time(self.changed)));
        let put_back = self.put_back.as_ref().filter(|r| r.is_open());
        let put_back = put_back.map(|r| List::PutBack(self.show_id).at(by_time(r.since)));
        [owner, logged, conflict, put_back]
            .into_iter()
            .flatten()
            .collect()
    }
}

impl Store {
    /// The tickets that an account has, newest first; those that it gave away are not among
    /// them.
    pub async fn tickets_owned(
        &self,
        account: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Ticket>> {
        let list = List::TicketsOf(account);
        let page = self.list::<Ticket>(&list, Sorted::NewestFirst, after, limit);
        let mut page = page.await?.values();
        // The list lags behind a ticket that was given away a moment ago.
        let owned = |ticket: &Ticket| ticket.account == account && ticket.hands.passed_on.is_none();
        page.items.retain(owned);
        Ok(page)
    }

    /// Tickets of a show that were put back (`Ticket::is_put_back`), longest first. The list may
    /// lag behind by seconds.
    pub async fn tickets_put_back(&self, show: ShowId, limit: usize) -> Stored<Vec<TicketId>> {
        let rows = self.first(&List::PutBack(show), limit).await?;
        rows.iter().map(|row| id_of::<Ticket>(&row.key)).collect()
    }
}
