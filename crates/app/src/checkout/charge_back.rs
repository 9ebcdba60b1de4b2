//! A buyer's bank took the money back.

use onsale_domain::ids::OrderId;
use onsale_domain::money::Cents;
use onsale_domain::order::Order;
use onsale_domain::payment::{PaymentId, PaymentState};

use crate::app::App;
use crate::error::{Error, Result};
use crate::holds::ROUNDS;
use crate::ports::{Versioned, Written};

impl App {
    /// The tickets die, the places are free again, and nothing is refunded a second time,
    /// also not for somebody who had cancelled before.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn charge_back(&self, id: OrderId, payment: &PaymentId) -> Result<()> {
        let Some(mut order) = self.store.read::<Order>(id).await? else {
            tracing::error!(order = %id, "a charge-back names an order that does not exist");
            return Ok(());
        };
        for _ in 0..ROUNDS {
            if order.value.payment.as_ref() != Some(payment) {
                tracing::error!(order = %id, %payment, "a charge-back of a payment that is not the order's");
                return Ok(());
            }
            let next = order.value.charged_back(self.now());
            let next = match next {
                Some(next) if self.is_money_ours(&order.value, payment).await? => next,
                _ => {
                    let why = order.value.undo.as_ref().map(|undo| undo.why.as_str());
                    tracing::warn!(order = %id, why, "a charge-back on an order that is undone");
                    return Ok(());
                }
            };
            let next = Versioned {
                version: order.version,
                value: next,
            };
            match self.store.replace(&next).await? {
                Written::Done(_) => {
                    metrics::counter!("onsale_chargebacks_total").increment(1);
                    tracing::warn!(order = %id, "charged back");
                    self.wake_order(id).await;
                    return Ok(());
                }
                Written::Lost(current) => order = current,
            }
        }
        Err(Error::Unavailable)
    }

    /// Whether there was money to take back. `false`: we had given it back before. An order
    /// that is neither paid for certain nor at rest does not know; the provider does.
    async fn is_money_ours(&self, order: &Order, payment: &PaymentId) -> Result<bool> {
        if order.captured && order.undo.is_none() {
            return Ok(true);
        }
        let known = self.payments.look_up(payment).await?;
        match known.map(|known| known.state) {
            Some(PaymentState::Captured { refunded }) => {
                let due = order.refund_due();
                let given = due > Cents(0) && refunded.0 >= order.repaid_amount().0 + due.0;
                Ok(!given)
            }
            // The bank is ahead of the provider, which tells us again later.
            _ => Err(Error::Unavailable),
        }
    }
}
