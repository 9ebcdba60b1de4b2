//! Tickets, each a document of its own: a gate reads and uses up just one of them.

use async_trait::async_trait;
use onsale_app::ports::{Stored, Tickets, Versioned, Written};
use onsale_domain::ids::TicketId;
use onsale_domain::ticket::Ticket;

use crate::documents::Document;
use crate::keys::Key;
use crate::table::DynamoStore;

impl Document for Ticket {
    fn key(&self) -> Key {
        Key::ticket(self.id)
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
}
