//! A ticket is put back at face value: its owner keeps it until somebody from the waitlist
//! has paid for the place, and is paid back then.
//!
//! ```text
//!           put back            promised to a hold          its order sells
//! (none) ───────────▶ Offered ◀────────────────▶ Promised ─────────────────▶ Resold
//!                        │       lapsed, let go      │
//!                        └────────────┬──────────────┘
//!                                     ▼ taken back, scanned, offered to somebody, revoked
//!                                   Ended
//! ```
//!
//! The return is part of the ticket, so that a scan, a transfer and a sale meet in one
//! version: only one of them can be first. A promise is to a ticket what a cell is to a
//! free place: it names a hold and an expiry, lapses by comparison, and moves on only from
//! exactly what it was. The place itself stays the seller's, sold and valid, until the
//! write that sells it to somebody else.

use serde::{Deserialize, Serialize};

use crate::block::claim_horizon;
use crate::ids::{HoldId, OrderId, TicketId};
use crate::layout::PlaceIndex;
use crate::money::{Cents, Money};
use crate::order::Order;
use crate::request_hash::RequestHash;
use crate::ticket::{Ticket, TicketState};
use crate::time::Millis;

/// For whom a ticket that was put back is kept, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Promise {
    pub hold: HoldId,
    pub until: Millis,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum ReturnState {
    Offered,
    Promised(Promise),
    Ended { at: Millis },
    Resold { at: Millis, to: OrderId },
}

impl ReturnState {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Offered => "offered",
            Self::Promised(_) => "being_bought",
            Self::Ended { .. } => "ended",
            Self::Resold { .. } => "resold",
        }
    }
}

/// That a ticket was put back, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Return {
    pub since: Millis,
    /// What was paid for the place: what the next buyer pays, and what goes back.
    pub price: Money,
    /// The request that put it back. The same one, coming late, does not do it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestHash>,
    #[serde(flatten)]
    pub state: ReturnState,
}

impl Return {
    /// Whether somebody may still buy it.
    pub fn is_open(&self) -> bool {
        matches!(self.state, ReturnState::Offered | ReturnState::Promised(_))
    }
}

/// A place that is bought from somebody who put their ticket back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resale {
    pub place: PlaceIndex,
    /// The ticket that dies with it.
    pub ticket: TicketId,
    /// The order that it was bought with.
    pub from: OrderId,
    pub price: Cents,
}

/// Why a ticket cannot be put back, or not be taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReturnRefusal {
    #[error("a ticket that was used cannot be put back")]
    Used,
    #[error("the ticket was revoked")]
    Revoked,
    #[error("the ticket was resold")]
    Resold,
    #[error("the order of this ticket is being cancelled")]
    Undone,
    #[error("the show has begun")]
    Begun,
}

impl Ticket {
    /// The ticket, put back. One that is offered to somebody must not come here.
    pub fn put_back_for(
        &self,
        order: &Order,
        request: Option<RequestHash>,
        starts_at: Millis,
        now: Millis,
    ) -> Result<Self, ReturnRefusal> {
        match &self.state {
            _ if self.is_resold() => return Err(ReturnRefusal::Resold),
            TicketState::Used { .. } => return Err(ReturnRefusal::Used),
            TicketState::Revoked { .. } => return Err(ReturnRefusal::Revoked),
            TicketState::Valid => {}
        }
        let seat = order.kept().find(|seat| seat.place == self.place);
        let (true, None, Some(seat)) = (order.has_tickets(), &order.undo, seat) else {
            return Err(ReturnRefusal::Undone);
        };
        if now >= starts_at {
            return Err(ReturnRefusal::Begun);
        }
        let price = Money {
            amount: seat.price,
            currency: order.currency,
        };
        let mut next = self.clone();
        next.put_back = Some(Return {
            since: now,
            price,
            request,
            state: ReturnState::Offered,
        });
        Ok(next)
    }

    /// The ticket as its owner's own again; `None` if it is already.
    pub fn taken_back(&self, now: Millis) -> Result<Option<Self>, ReturnRefusal> {
        match self.is_resold() {
            true => Err(ReturnRefusal::Resold),
            false => Ok(self.is_put_back().then(|| {
                let mut next = self.clone();
                next.end_return(now);
                next
            })),
        }
    }

    /// Ends a return that is open, because the ticket is needed otherwise.
    pub(crate) fn end_return(&mut self, now: Millis) {
        if let Some(put_back) = self.put_back.as_mut().filter(|r| r.is_open()) {
            put_back.state = ReturnState::Ended { at: now };
        }
    }

    /// Whether somebody may buy its place.
    pub fn is_put_back(&self) -> bool {
        self.put_back.as_ref().is_some_and(Return::is_open)
    }

    pub fn is_resold(&self) -> bool {
        let state = self.put_back.as_ref().map(|r| &r.state);
        matches!(state, Some(ReturnState::Resold { .. }))
    }

    pub fn is_resold_to(&self, order: OrderId) -> bool {
        let state = self.put_back.as_ref().map(|r| &r.state);
        matches!(state, Some(ReturnState::Resold { to, .. }) if *to == order)
    }

    /// For whom it is kept, lapsed or not.
    pub fn promise(&self) -> Option<Promise> {
        match self.put_back.as_ref()?.state {
            ReturnState::Promised(promise) => Some(promise),
            _ => None,
        }
    }

    /// What can be offered to somebody who waits: put back, and kept for nobody. A promise
    /// that lapsed for every clock is none.
    pub fn for_sale(&self, now: Millis) -> Option<Resale> {
        let put_back = self.put_back.as_ref().filter(|r| r.is_open())?;
        let kept = self
            .promise()
            .is_some_and(|p| p.until >= claim_horizon(now));
        (!kept && self.is_valid()).then_some(Resale {
            place: self.place,
            ticket: self.id,
            from: self.order_id,
            price: put_back.price.amount,
        })
    }

    /// The ticket, kept for a hold; `None` if it cannot be.
    pub fn promised(&self, promise: Promise, now: Millis) -> Option<Self> {
        self.for_sale(now)?;
        Some(self.in_return(ReturnState::Promised(promise)))
    }

    /// The same promise for longer; `None` if it is not exactly what was promised.
    pub fn promise_moved(&self, old: Promise, new: Promise) -> Option<Self> {
        let moved = || self.in_return(ReturnState::Promised(new));
        (self.promise() == Some(old)).then(moved)
    }

    /// The ticket, kept for this hold no longer; `None` if it is not kept for it.
    pub fn promise_released(&self, hold: HoldId) -> Option<Self> {
        let own = self.promise().is_some_and(|promise| promise.hold == hold);
        own.then(|| self.in_return(ReturnState::Offered))
    }

    /// The ticket dies, because its place is somebody else's from now on; `None` if it was
    /// not kept for them just so.
    pub fn resold(&self, promise: Promise, to: OrderId, now: Millis) -> Option<Self> {
        if self.promise() != Some(promise) || !self.is_valid() {
            return None;
        }
        let sold = self.in_return(ReturnState::Resold { at: now, to });
        sold.revoked(now)
    }

    fn in_return(&self, state: ReturnState) -> Self {
        let mut next = self.clone();
        if let Some(put_back) = next.put_back.as_mut() {
            put_back.state = state;
        }
        next
    }
}

#[cfg(test)]
#[path = "ticket_return_tests.rs"]
mod tests;
