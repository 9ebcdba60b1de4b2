//! What becomes of an order when places of it are bought from it, one by one.
//!
//! The write that sells a place to somebody else adds it to `resold`, and so makes the
//! order one whose saga has something to do: `Repay`. What is owed is paid back in the
//! order in which it was sold, places of one sale together, each after the one before is
//! stored as paid. So how much went back before is known for every payment, and that makes
//! each of them one that happens once (`Payments::refund`).

use serde::{Deserialize, Serialize};

use crate::announcement::{News, ResoldNews};
use crate::ids::{AccountId, TicketId};
use crate::layout::PlaceIndex;
use crate::money::{Cents, Money};
use crate::order::{Order, OrderStatus, OrderedSeat, Why};
use crate::ticket::Ticket;
use crate::ticket_return::Resale;
use crate::time::Millis;

/// A place of an order that somebody else has now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resold {
    pub place: PlaceIndex,
    /// The ticket that was put back, and who had it: not always the buyer of the order.
    pub ticket: TicketId,
    pub seller: AccountId,
    pub price: Cents,
    /// When. Places that were sold together share it, and no others.
    pub at: Millis,
    /// Whether the money went back.
    #[serde(default)]
    pub repaid: bool,
}

/// What has to be paid back next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repayment {
    pub at: Millis,
    /// What went back before.
    pub already: Cents,
    pub amount: Cents,
    pub places: Vec<PlaceIndex>,
}

impl Order {
    /// The same order, some places of which are bought from others.
    #[must_use]
    pub fn buying(mut self, resales: Vec<Resale>) -> Self {
        self.resales = resales;
        self
    }

    /// Its places that are bought from nobody.
    pub fn unsold_places(&self) -> Vec<PlaceIndex> {
        let resale = |place: &PlaceIndex| self.resales.iter().any(|r| r.place == *place);
        let mut places = self.places();
        places.retain(|place| !resale(place));
        places
    }

    /// The order without the places of these tickets, whose money is owed from now on;
    /// `None` if they are not its to give.
    pub fn with_resold(&self, tickets: &[Ticket], now: Millis) -> Option<Self> {
        if !self.has_tickets() || self.undo.is_some() {
            return None;
        }
        let last = self.resold.last().map(|resold| resold.at + 1);
        let at = last.map_or(now, |last| last.max(now));
        let mut next = self.at(self.stage, now);
        for ticket in tickets {
            let seat = next.kept().find(|seat| seat.place == ticket.place)?;
            let resold = Resold {
                place: ticket.place,
                ticket: ticket.id,
                seller: ticket.account,
                price: seat.price,
                at,
                repaid: false,
            };
            next.resold.push(resold);
        }
        Some(next)
    }

    /// Its seats that nobody else has bought.
    pub fn kept(&self) -> impl Iterator<Item = &OrderedSeat> {
        let resold = |place| self.resold.iter().any(|r| r.place == place);
        self.seats.iter().filter(move |seat| !resold(seat.place))
    }

    /// What they cost.
    pub fn kept_amount(&self) -> Cents {
        self.kept().map(|seat| seat.price).sum()
    }

    /// What went back for places that were resold.
    pub fn repaid_amount(&self) -> Cents {
        let repaid = self.resold.iter().filter(|resold| resold.repaid);
        repaid.map(|resold| resold.price).sum()
    }

    /// What its buyer gets back, or got: for places that were resold, and for the rest of
    /// the order if that was cancelled. `None`: nothing of the kind happened.
    pub fn given_back(&self) -> Option<Money> {
        let undone = self.refund();
        if undone.is_none() && self.resold.is_empty() {
            return None;
        }
        let resold: Cents = self.resold.iter().map(|resold| resold.price).sum();
        let undone = undone.map_or(Cents(0), |money| money.amount);
        Some(Money {
            amount: Cents(resold.0 + undone.0),
            currency: self.currency,
        })
    }

    /// What is owed next for places that were resold. When a bank took all of the money
    /// back, nothing is.
    pub fn repayment(&self) -> Option<Repayment> {
        let charged_back = |why| why == Why::ChargedBack;
        if self.undo.as_ref().is_some_and(|u| charged_back(u.why)) {
            return None;
        }
        let at = self.resold.iter().find(|resold| !resold.repaid)?.at;
        let due = || self.resold.iter().filter(|resold| resold.at == at);
        Some(Repayment {
            at,
            already: self.repaid_amount(),
            amount: due().map(|resold| resold.price).sum(),
            places: due().map(|resold| resold.place).collect(),
        })
    }

    /// The order after this was paid back.
    pub fn repaid(&self, repayment: &Repayment, now: Millis) -> Self {
        let mut next = self.at(self.stage, now);
        for resold in &mut next.resold {
            resold.repaid |= resold.at == repayment.at;
        }
        next
    }

    /// What the sellers are told.
    pub fn resold_news(&self, repayment: &Repayment) -> Vec<ResoldNews> {
        let sold = |resold: &&Resold| resold.at == repayment.at;
        let news = |resold: &Resold| {
            let seat = self.seats.iter().find(|seat| seat.place == resold.place)?;
            Some(ResoldNews {
                ticket_id: resold.ticket,
                order_id: self.id,
                show_id: self.show_id,
                account_id: resold.seller,
                seat: seat.seat.clone(),
                refund: Money {
                    amount: resold.price,
                    currency: self.currency,
                },
            })
        };
        self.resold.iter().filter(sold).filter_map(news).collect()
    }

    /// The status of an order whose saga has come to its end and that nobody undid.
    pub(crate) fn confirmed_status(&self) -> OrderStatus {
        let gone = !self.resold.is_empty() && self.kept().next().is_none();
        match gone && self.repayment().is_none() {
            true => OrderStatus::Refunded,
            false => OrderStatus::Confirmed,
        }
    }
}

impl ResoldNews {
    pub fn news(self) -> News {
        News::TicketResold(self)
    }
}
