//! Places that are bought from those who put their tickets back: the sale itself, and what
//! the sellers are owed for it.
//!
//! The sale is one write: every cell of the order becomes the buyer's, those tickets die,
//! and the orders they came from owe their money. So there is no moment in which a place
//! has two owners or two good tickets, and no crash after which a seller has neither
//! ticket nor money: an order that owes is open, and `reconcile` drives open orders.
//! The seller is owed from then on, whatever becomes of the buyer's payment.

use std::collections::BTreeMap;

use onsale_domain::block::Cell;
use onsale_domain::checkout_saga::Moved;
use onsale_domain::claim::by_block;
use onsale_domain::ids::{OrderId, TicketId};
use onsale_domain::layout::{Layout, PlaceIndex};
use onsale_domain::money::Cents;
use onsale_domain::order::Order;
use onsale_domain::resale::Repayment;
use onsale_domain::ticket::Ticket;
use onsale_domain::ticket_return::Promise;

use super::cells;
use super::drive::{Tried, Trouble};
use crate::app::App;
use crate::error::{Error, Result};
use crate::holds::ROUNDS;
use crate::ports::{BlockCells, Reads, Refund, Together, Versioned};

/// How the tickets are kept for an order that is being paid.
fn paying(order: &Order) -> Promise {
    Promise {
        hold: order.id.hold(),
        until: order.pay_until,
    }
}

impl App {
    /// Keeps the tickets for the order until it is paid. Nothing to do without any.
    pub(super) async fn lock_resales(&self, order: &Order) -> Result<bool> {
        let held = Promise {
            until: order.held_until,
            ..paying(order)
        };
        self.extend_promises(&order.resales, held, paying(order))
            .await
    }

    /// Sells all places of an order that buys some of them from others.
    pub(super) async fn sell_resales(&self, order: &Order) -> Result<Moved> {
        let show = self.recent_show(order.show_id).await?;
        let layout = self.layout_of(&show).await?;
        let blocks = cells_to_sell(order, &layout);
        let ids: Vec<TicketId> = order.resales.iter().map(|r| r.ticket).collect();
        for _ in 0..ROUNDS {
            let tickets = self.store.read_many::<Ticket>(&ids).await?;
            if tickets.len() != ids.len() {
                return Err(Error::Corrupt);
            }
            if tickets.iter().all(|t| t.value.is_resold_to(order.id)) {
                for resale in &order.resales {
                    self.wake_order(resale.from).await;
                }
                return Ok(Moved::Done);
            }
            let Some(write) = self.resale(order, &blocks, &tickets).await? else {
                return Ok(Moved::SeatsLost);
            };
            if !self.store.write(&write).await?
                && let Some(lost) = self.why_not_sold(order, &blocks).await?
            {
                return Ok(lost);
            }
            // Whether it was stored, the tickets tell.
        }
        Err(Error::Unavailable)
    }

    /// The write that sells; `None` if a seller has changed their mind.
    async fn resale(
        &self,
        order: &Order,
        blocks: &[BlockCells],
        tickets: &[Versioned<Ticket>],
    ) -> Result<Option<Together>> {
        let now = self.now();
        let mut dead = Vec::with_capacity(tickets.len());
        let mut from: BTreeMap<OrderId, Vec<Ticket>> = BTreeMap::new();
        for ticket in tickets {
            let Some(value) = ticket.value.resold(paying(order), order.id, now) else {
                return Ok(None);
            };
            let sold = from.entry(value.order_id).or_default();
            sold.push(value.clone());
            let version = ticket.version;
            dead.push(Versioned { version, value });
        }
        let sellers: Vec<OrderId> = from.keys().copied().collect();
        let mut orders = Vec::with_capacity(sellers.len());
        for seller in self.store.read_many::<Order>(&sellers).await? {
            let sold = from.get(&seller.value.id).ok_or(Error::Corrupt)?;
            let Some(value) = seller.value.with_resold(sold, now) else {
                return Ok(None);
            };
            let version = seller.version;
            orders.push(Versioned { version, value });
        }
        if orders.len() != sellers.len() {
            return Err(Error::Corrupt);
        }
        let mut together = self.store.together();
        together
            .sell_from(order.show_id, blocks, cells::sold(order))
            .replace_all(&dead)?
            .replace_all(&orders)?;
        Ok(Some(together))
    }

    /// What the cells say about a sale that was refused; `None`: nothing, try again.
    async fn why_not_sold(&self, order: &Order, blocks: &[BlockCells]) -> Result<Option<Moved>> {
        let indexes: Vec<_> = blocks.iter().map(|group| group.block).collect();
        let found = self
            .store
            .read_blocks(order.show_id, &indexes, Reads::Consistent)
            .await?;
        let state = |group: &BlockCells| found.iter().find(|(index, _)| *index == group.block);
        let all = |is: &dyn Fn(Option<Cell>, Cell) -> bool| {
            blocks.iter().all(|group| {
                let state = state(group).map(|(_, state)| state);
                let mut cells = group.cells.iter();
                cells.all(|(slot, old)| is(state.and_then(|state| state.cell(*slot)), *old))
            })
        };
        if all(&|cell, _| cell == Some(cells::sold(order))) {
            return Ok(None);
        }
        if !all(&|cell, old| cell == Some(old)) {
            return Ok(Some(Moved::SeatsLost));
        }
        let closed = found.iter().any(|(_, state)| state.closed);
        Ok(closed.then_some(Moved::Closed))
    }

    /// Pays back what an order is owed for places that were resold, takes them off its
    /// buyer's count, enters it in the books and tells the sellers.
    pub(super) async fn repay(&self, order: &Order, due: &Repayment) -> Tried<Order> {
        if let Some(payment) = order.payment.as_ref().filter(|_| due.amount > Cents(0)) {
            let refund = self
                .payments
                .refund(payment, order.id, due.already, due.amount);
            if let Refund::Refused(reason) = refund.await? {
                return Err(Trouble::Refused(format!("repayment: {reason}")));
            }
        }
        // Refused when it was done before, or when the whole order was undone.
        let _ = self
            .move_entry(order, |buyer, hold| {
                buyer.resell(hold, &due.places, self.now())
            })
            .await?;
        let repaid = order.repaid(due, self.now());
        let mut lines = repaid.sale_lines();
        lines.retain(|line| line.at == due.at);
        self.keep_lines(order.show_id, &lines).await?;
        let told: Vec<_> = order
            .resold_news(due)
            .into_iter()
            .map(|told| {
                let subject = told.ticket_id.to_string();
                told.news().announce(&subject, due.at)
            })
            .collect();
        self.bus.announce(&told).await?;
        metrics::counter!("onsale_returns_total", "result" => "resold")
            .increment(due.places.len() as u64);
        Ok(repaid)
    }
}

/// Every cell of the order as it is just before it is sold.
fn cells_to_sell(order: &Order, layout: &Layout) -> Vec<BlockCells> {
    let old = |place: PlaceIndex| {
        let resale = order.resales.iter().find(|r| r.place == place);
        resale.map_or(cells::paying(order), |r| Cell::sold(r.from.hold()))
    };
    by_block(layout, &order.places())
        .into_iter()
        .map(|group| BlockCells {
            block: group.block,
            cells: group
                .slots
                .iter()
                .map(|slot| (*slot, old(layout.place_of(group.block, *slot))))
                .collect(),
        })
        .collect()
}
