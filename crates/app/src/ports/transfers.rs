//! Tickets that go from one owner to another.

use async_trait::async_trait;
use onsale_domain::account::Email;
use onsale_domain::ids::{AccountId, TransferId};
use onsale_domain::order::Order;
use onsale_domain::ticket::Ticket;
use onsale_domain::transfer::Transfer;

use super::{Page, Stored, Versioned, Written};

/// What is stored in one piece when a ticket is accepted. Each part must be at its
/// version still, and `new` must be new.
#[derive(Debug, Clone)]
pub struct AcceptanceWrite {
    pub transfer: Versioned<Transfer>,
    pub old: Versioned<Ticket>,
    pub new: Ticket,
    pub order: Versioned<Order>,
}

#[async_trait]
pub trait Transfers: Send + Sync {
    /// A consistent read.
    async fn transfer(&self, id: TransferId) -> Stored<Option<Versioned<Transfer>>>;
    /// Stores a new transfer and the ticket that it offers, both or neither; `false`: the
    /// transfer exists, or the ticket has moved on.
    async fn offer_transfer(&self, new: &Transfer, ticket: &Versioned<Ticket>) -> Stored<bool>;
    /// Stores all four or none; `false`: one of them has moved on.
    async fn accept_transfer(&self, write: &AcceptanceWrite) -> Stored<bool>;
    async fn replace_transfer(&self, next: &Versioned<Transfer>) -> Stored<Written<Transfer>>;
    /// What this account sent and what was offered to this address, newest first.
    async fn transfers_of(
        &self,
        account: AccountId,
        email: &Email,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Transfer>>;
    /// Transfers of which the world was not told everything (`Transfer::untold`), oldest
    /// first. The list may lag behind by seconds.
    async fn untold_transfers(&self, after: Option<&str>, limit: usize)
    -> Stored<Page<TransferId>>;
}
