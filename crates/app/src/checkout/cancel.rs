//! An order is called off by its buyer.

use onsale_domain::ids::OrderId;
use onsale_domain::money::{Cents, Money};
use onsale_domain::order::{AlreadyUndone, Order, Stage, Why};
use onsale_domain::show::Show;
use onsale_domain::ticket::{Ticket, TicketState};

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::holds::ROUNDS;
use crate::ports::{Versioned, Written};

/// What a buyer gets back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled {
    pub refund: Money,
    pub percent: u8,
}

/// The answer to a buyer who cancels for a refund that they were told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cancelling {
    Done(Cancelled),
    /// Nothing was stored: by now this would go back, which is not what was expected.
    Other(Cancelled),
}

impl Cancelled {
    fn of(order: &Order) -> Result<Self> {
        let undo = order.undo.as_ref().ok_or(Error::Corrupt)?;
        match undo.why {
            Why::Buyer | Why::ShowCancelled => {}
            Why::ChargedBack => return Err(Error::Conflict("the payment was charged back")),
            Why::HoldExpired | Why::SeatsLost | Why::CaptureRefused => {
                return Err(Error::Conflict("the order has failed, and nothing is owed"));
            }
        }
        // Nothing was taken, so there is no share of it to name. If it turns out that it
        // was, all of it goes back, and the order says so.
        let (amount, percent) = match undo.was_paid {
            true => (undo.refund, undo.percent),
            false => (Cents(0), 0),
        };
        let refund = Money {
            amount,
            currency: order.currency,
        };
        Ok(Self { refund, percent })
    }
}

impl App {
    /// The buyer cancels. The percentage is that of the moment in which the cancelling is
    /// stored, by the terms of the sale or by those of today, whichever give more. Asking
    /// again gives the same answer.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn cancel_order(&self, caller: &Caller, id: OrderId) -> Result<Cancelled> {
        match self.cancel_order_for(caller, id, None).await? {
            Cancelling::Done(cancelled) | Cancelling::Other(cancelled) => Ok(cancelled),
        }
    }

    /// Like `cancel_order`, if `expected` is what would go back: the share falls with time,
    /// perhaps between the question and the answer. Of an order that is cancelled already
    /// the answer is what went back, whatever is expected.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn cancel_order_for(
        &self,
        caller: &Caller,
        id: OrderId,
        expected: Option<Money>,
    ) -> Result<Cancelling> {
        let mut order = self.own_order(caller, id).await?;
        let show = self.store.read::<Show>(order.value.show_id).await?;
        let show = show.ok_or(Error::Corrupt)?.value;
        for _ in 0..ROUNDS {
            if order.value.undo.is_some() {
                self.wake_order(id).await;
                return Cancelled::of(&order.value).map(Cancelling::Done);
            }
            let tickets = self.check_may_cancel(&order.value, &show).await?;
            let percent = order.value.refund_percent(&show, self.now());
            if let (Some(expected), Ok(next)) = (
                expected,
                order.value.call_off(Why::Buyer, percent, self.now()),
            ) {
                let now = Cancelled::of(&next)?;
                if now.refund != expected {
                    return Ok(Cancelling::Other(now));
                }
            }
            // Whether it was stored, the order tells.
            self.call_off_with(&order, &tickets, percent).await?;
            let again = self.store.read::<Order>(id).await?;
            order = again.ok_or(Error::Corrupt)?;
        }
        Err(Error::Unavailable)
    }

    /// What cancelling would give back now, by the very decision that `cancel_order` would
    /// store. `None`: it cannot be cancelled, or was.
    pub async fn refund_if_cancelled(&self, order: &Order) -> Result<Option<Cancelled>> {
        if order.undo.is_some() {
            return Ok(None);
        }
        let show = self.recent_show(order.show_id).await?;
        match self.check_may_cancel(order, &show).await {
            Ok(_) => {}
            Err(Error::Conflict(_)) => return Ok(None),
            Err(error) => return Err(error),
        }
        let now = self.now();
        let percent = order.refund_percent(&show, now);
        match order.call_off(Why::Buyer, percent, now) {
            Ok(next) => Cancelled::of(&next).map(Some),
            Err(AlreadyUndone) => Ok(None),
        }
    }

    /// Stores the decision of the buyer and that their tickets are dead, in one write: who
    /// enters on one of them in the same moment keeps the order from being cancelled, and
    /// nobody enters on one afterwards.
    async fn call_off_with(
        &self,
        order: &Versioned<Order>,
        tickets: &[Versioned<Ticket>],
        percent: u8,
    ) -> Result<()> {
        let now = self.now();
        let dead = tickets.iter().filter_map(|ticket| {
            let value = ticket.value.revoked(now)?;
            let version = ticket.version;
            Some(Versioned { version, value })
        });
        let dead: Vec<_> = dead.collect();
        if dead.is_empty() {
            self.call_off(order, Why::Buyer, percent).await?;
        } else if let Ok(value) = order.value.call_off(Why::Buyer, percent, now) {
            let version = order.version;
            let next = Versioned { version, value };
            let mut together = self.store.together();
            together.replace(&next)?.replace_all(&dead)?;
            self.store.write(&together).await?;
        }
        Ok(())
    }

    /// Stores the decision to undo, before anything is undone.
    pub(crate) async fn call_off(
        &self,
        order: &Versioned<Order>,
        why: Why,
        percent: u8,
    ) -> Result<Written<Order>> {
        match order.value.call_off(why, percent, self.now()) {
            Ok(value) => {
                let version = order.version;
                let next = Versioned { version, value };
                Ok(self.store.replace(&next).await?)
            }
            Err(_) => Ok(Written::Done(order.version)),
        }
    }

    /// The tickets of the order, if it has any, of which none was used.
    async fn check_may_cancel(&self, order: &Order, show: &Show) -> Result<Vec<Versioned<Ticket>>> {
        if !matches!(order.stage, Stage::Announcing | Stage::Confirmed) {
            return Ok(Vec::new());
        }
        if self.now() >= show.starts_at {
            return Err(Error::Conflict("the show has begun"));
        }
        if order.kept().next().is_none() {
            return Err(Error::Conflict("every ticket of this order was resold"));
        }
        // The buyer gave it away, and the money for it is no longer theirs to ask back.
        if order.transfers > 0 {
            return Err(Error::Conflict(
                "a ticket of this order was passed on, so its buyer can no longer cancel it",
            ));
        }
        let tickets = self.store.read_many::<Ticket>(&order.ticket_ids()).await?;
        let used = |state: &TicketState| matches!(state, TicketState::Used { .. });
        match tickets.iter().any(|ticket| used(&ticket.value.state)) {
            true => Err(Error::Conflict("a ticket of this order was used")),
            false => Ok(tickets),
        }
    }
}
