//! An order is called off by its buyer.

use onsale_domain::ids::OrderId;
use onsale_domain::money::{Cents, Money};
use onsale_domain::order::{Order, Stage, Why, refund_percent};
use onsale_domain::show::Show;
use onsale_domain::ticket::TicketState;

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
    /// stored, and asking again gives the same answer.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn cancel_order(&self, caller: &Caller, id: OrderId) -> Result<Cancelled> {
        let mut order = self.own_order(caller, id).await?;
        let show = self.store.show(order.value.show_id).await?;
        let show = show.ok_or(Error::Corrupt)?.value;
        for _ in 0..ROUNDS {
            if order.value.undo.is_some() {
                self.wake_order(id).await;
                return Cancelled::of(&order.value);
            }
            self.check_may_cancel(&order.value, &show).await?;
            let now = self.now();
            let percent = refund_percent(&show.refund_policy, show.starts_at, now);
            match self.call_off(&order, Why::Buyer, percent).await? {
                Written::Done(_) => {}
                Written::Lost(current) => {
                    order = current;
                    continue;
                }
            }
            let again = self.store.order(id).await?;
            order = again.ok_or(Error::Corrupt)?;
        }
        Err(Error::Unavailable)
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
                Ok(self.store.replace_order(&next).await?)
            }
            Err(_) => Ok(Written::Done(order.version)),
        }
    }

    async fn check_may_cancel(&self, order: &Order, show: &Show) -> Result<()> {
        if !matches!(order.stage, Stage::Announcing | Stage::Confirmed) {
            return Ok(());
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
        let tickets = self.store.tickets(&order.ticket_ids()).await?;
        let used = |state: &TicketState| matches!(state, TicketState::Used { .. });
        match tickets.iter().any(|ticket| used(&ticket.value.state)) {
            true => Err(Error::Conflict("a ticket of this order was used")),
            false => Ok(()),
        }
    }
}
