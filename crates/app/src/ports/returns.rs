//! Tickets that their owners put back.

use async_trait::async_trait;
use onsale_domain::block::{BlockIndex, Cell, Slot};
use onsale_domain::ids::{ShowId, TicketId};
use onsale_domain::order::Order;
use onsale_domain::ticket::Ticket;

use super::{Stored, Versioned};

/// So many items are written in one piece at most.
pub const MAX_PARTS: usize = 100;

/// Cells of one block, each with what it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockCells {
    pub block: BlockIndex,
    pub cells: Vec<(Slot, Cell)>,
}

/// What is stored in one piece when places change their owner. Every cell must be exactly
/// what it was, no block closed, and each ticket and order at its version still.
#[derive(Debug, Clone)]
pub struct ResaleWrite {
    pub show: ShowId,
    pub blocks: Vec<BlockCells>,
    /// What every one of these cells becomes.
    pub sold: Cell,
    /// The tickets that die with it.
    pub tickets: Vec<Versioned<Ticket>>,
    /// The orders they were bought with, which are owed the money now.
    pub orders: Vec<Versioned<Order>>,
}

#[async_trait]
pub trait Returns: Send + Sync {
    /// Tickets of a show that were put back (`Ticket::is_put_back`), longest first. The
    /// list may lag behind by seconds.
    async fn tickets_put_back(&self, show: ShowId, limit: usize) -> Stored<Vec<TicketId>>;
    /// Stores all of it or nothing; `false`: something of it has moved on.
    async fn resell(&self, write: &ResaleWrite) -> Stored<bool>;
}
