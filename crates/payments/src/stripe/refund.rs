//! Giving money back, once however often it is asked.
//!
//! It looks before it asks: an idempotency key is forgotten after a day, and a refund may
//! be asked for again much later. Within that day Stripe gives the first answer under a key
//! again and again: a rejection for want of balance, say, or the success of a refund that
//! the bank has sent back since. Such a key is done with. The next in the row is taken, and
//! whoever else asks takes the same one, so that it is still one refund.

use onsale_app::ports::{Paid, PaymentFailure, Refund};
use onsale_domain::ids::OrderId;
use onsale_domain::money::{Cents, Money};
use onsale_domain::payment::PaymentId;

use super::Stripe;
use super::amount;
use super::failure::CallError;
use super::intent::{RefundReply, Status, unclear};

const REFUNDS: &str = "/v1/refunds";
/// More than a parked order is tried and resumed in a day.
const MAX_KEYS: u32 = 64;

impl Stripe {
    pub(super) async fn give_back(
        &self,
        payment: &PaymentId,
        order: OrderId,
        already: Cents,
        amount: Cents,
    ) -> Paid<Refund> {
        let in_all = Cents(already.0.saturating_add(amount.0));
        let intent = self.expect(payment).await?;
        match intent.status {
            Status::Succeeded if intent.refunded()? >= in_all => return Ok(Refund::Refunded),
            Status::Succeeded => {}
            Status::Between => return Err(unclear()),
            _ => return Ok(Refund::Refused("No money was taken.".into())),
        }
        let currency = intent.currency()?;
        let amount = amount::sent(Money { amount, currency });
        let form = [
            ("payment_intent", payment.0.as_str()),
            ("amount", amount.as_str()),
        ];
        for turn in 0..MAX_KEYS {
            let key = refund_key(order, already, turn);
            let told = self.api.post_told(REFUNDS, &form, &key).await;
            if told.again && self.gave_nothing(&told.answer).await? {
                continue;
            }
            return match told.answer {
                Ok(refund) if refund.failed() => {
                    Ok(Refund::Refused("The bank did not take the refund.".into()))
                }
                Ok(_) => Ok(Refund::Refunded),
                Err(CallError::Card(reason)) => Ok(Refund::Refused(reason)),
                Err(error @ (CallError::Rejected(_) | CallError::Broken(_))) => {
                    self.refund_after(payment, in_all, error).await
                }
                Err(error) => Err(error.into()),
            };
        }
        let why = "the refund was rejected too often for one day";
        Err(PaymentFailure::Unavailable(why.into()))
    }

    /// Whether an answer of before is that of a call by which no money went back, for good.
    async fn gave_nothing(&self, answer: &Result<RefundReply, CallError>) -> Paid<bool> {
        match answer {
            Err(CallError::Rejected(_) | CallError::Card(_)) => Ok(true),
            Ok(refund) => match refund.path(REFUNDS) {
                Some(path) => Ok(self.api.get::<RefundReply>(&path, &[]).await?.failed()),
                None => Ok(false),
            },
            Err(_) => Ok(false),
        }
    }

    async fn refund_after(
        &self,
        payment: &PaymentId,
        in_all: Cents,
        error: CallError,
    ) -> Paid<Refund> {
        if self.expect(payment).await?.refunded()? >= in_all {
            return Ok(Refund::Refunded);
        }
        match error {
            CallError::Rejected(rejection) if rejection.rules_out_refund() => {
                Ok(Refund::Refused(if rejection.message.is_empty() {
                    "The charge cannot be refunded.".into()
                } else {
                    rejection.message
                }))
            }
            error => Err(error.into()),
        }
    }
}

/// One row of keys for each refund of an order: what went before tells them apart.
fn refund_key(order: OrderId, already: Cents, turn: u32) -> String {
    let mut key = format!("refund-{order}");
    if already > Cents(0) {
        key.push_str(&format!("-after-{}", already.0));
    }
    if turn > 0 {
        key.push_str(&format!("-again-{turn}"));
    }
    key
}
