//! What gates need from the store: admissions that count, and what changed since.

use async_trait::async_trait;
use onsale_domain::gate::Conflict;
use onsale_domain::ids::{ShowId, TicketId};
use onsale_domain::request_hash::RequestHash;
use onsale_domain::ticket::Ticket;
use onsale_domain::time::Millis;

use super::{Page, Stored, Versioned};

/// How many came in by a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateCount {
    pub gate: String,
    pub admitted: u64,
}

/// What became of a ticket, as a gate must know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GateChange {
    pub ticket: TicketId,
    pub right: EntryRight,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryRight {
    Used {
        at: Millis,
        gate: String,
    },
    Revoked,
    /// Its use was undone.
    GoodAgain,
}

impl EntryRight {
    /// `None` for a ticket that is as good as on the day it was issued, and for one that
    /// was never issued: gates need not know of either.
    pub fn of(ticket: &Ticket) -> Option<Self> {
        use onsale_domain::ticket::TicketState;
        if ticket.code.is_empty() {
            return None;
        }
        match &ticket.state {
            TicketState::Valid if ticket.admissions.is_empty() => None,
            TicketState::Valid => Some(Self::GoodAgain),
            TicketState::Revoked { .. } => Some(Self::Revoked),
            TicketState::Used { at, gate, .. } => Some(Self::Used {
                at: *at,
                gate: gate.clone(),
            }),
        }
    }
}

/// What a scan that a key names was asked with, so that the key names no other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptScan {
    /// The name of the scan; it follows from the key.
    pub id: String,
    pub request: RequestHash,
    /// Until when it is kept.
    pub until: Millis,
}

#[async_trait]
pub trait Gates: Send + Sync {
    /// What this scan was asked with, unless that was forgotten by now.
    async fn kept_scan(&self, id: &str, now: Millis) -> Stored<Option<RequestHash>>;
    /// Like `store_admissions` for one ticket, and keeps the scan as well. `false`: the
    /// ticket has moved on, or the key came with another request.
    async fn store_scan(
        &self,
        ticket: &Versioned<Ticket>,
        counts: &[(String, i64)],
        scan: &KeptScan,
        now: Millis,
    ) -> Stored<bool>;
    /// Replaces these tickets of a show, each at its version, and changes the counts of its
    /// gates by so much: all or nothing. `false`: one of them has moved on.
    async fn store_admissions(
        &self,
        show: ShowId,
        tickets: &[Versioned<Ticket>],
        counts: &[(String, i64)],
    ) -> Stored<bool>;
    /// The counts of all gates that ever let somebody in, by name.
    async fn gate_counts(&self, show: ShowId) -> Stored<Vec<GateCount>>;
    /// The tickets of a show whose right to enter changed at this time or later, in the
    /// order of their last change. The list may lag behind by seconds.
    async fn gate_changes(
        &self,
        show: ShowId,
        from: Millis,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<GateChange>>;
    /// Tickets with such a conflict, oldest first. The list may lag behind by seconds.
    async fn gate_conflicts(
        &self,
        show: ShowId,
        kind: Conflict,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Ticket>>;
}
