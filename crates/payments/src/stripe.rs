//! Stripe: one PaymentIntent per order, authorised first and captured later.
//!
//! The few calls we need are written by hand. Whenever Stripe rejects a call, fails in the
//! middle of it, or says that it is still at it, the answer comes from looking at the
//! payment: under its key a call gets its first answer again, however old that is.

mod amount;
mod api;
mod config;
mod dispute;
mod emulator;
mod failure;
mod intent;
mod refund;
pub mod webhook;

use std::fmt;

use async_trait::async_trait;
use onsale_app::ports::{
    Authorisation, Capture, Opened, Page, Paid, PaymentFailure, Payments, Refund, Void,
};
use onsale_domain::ids::OrderId;
use onsale_domain::money::{Cents, Money};
use onsale_domain::payment::{ChargeBack, Payment, PaymentId, PaymentMethod};
use onsale_domain::time::Millis;

use api::Api;
pub use config::StripeConfig;
use failure::CallError;
use intent::{Intent, Intents, Status, is_name, unclear};

const INTENTS: &str = "/v1/payment_intents";
const EXPAND_CHARGE: (&str, &str) = ("expand[]", "latest_charge");

pub struct Stripe {
    api: Api,
    stack: String,
    return_to: Option<String>,
    has_script: bool,
}

impl fmt::Debug for Stripe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stripe").finish_non_exhaustive()
    }
}

/// The path of a payment, or of what can be done with it.
fn path(payment: &PaymentId, verb: &str) -> Paid<String> {
    let PaymentId(id) = payment;
    if !is_name(id) {
        return Err(PaymentFailure::Ours("not the id of a payment".into()));
    }
    Ok(format!("{INTENTS}/{id}{verb}"))
}

impl Stripe {
    pub fn new(config: &StripeConfig) -> Result<Self, String> {
        Ok(Self {
            api: Api::new(config)?,
            stack: config.stack.clone(),
            return_to: config.return_to.clone(),
            has_script: config.has_script,
        })
    }

    async fn find(&self, payment: &PaymentId) -> Paid<Option<Intent>> {
        let path = path(payment, "")?;
        match self.api.get(&path, &[EXPAND_CHARGE]).await {
            Ok(intent) => Ok(Some(intent)),
            Err(CallError::Rejected(rejection)) if rejection.is_missing() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn expect(&self, payment: &PaymentId) -> Paid<Intent> {
        self.find(payment)
            .await?
            .ok_or_else(|| PaymentFailure::Ours("Stripe has no such payment".into()))
    }

    async fn confirm(
        &self,
        payment: &PaymentId,
        order: OrderId,
        attempt: u32,
        method: &PaymentMethod,
    ) -> Paid<Result<Intent, CallError>> {
        let confirm = path(payment, "/confirm")?;
        let method = [("payment_method", method.as_str())];
        let address = self.return_address(order);
        let back: Vec<_> = self.way_back(address.as_deref()).collect();
        let key = format!("authorise-{order}-{attempt}");
        let form = [method.as_slice(), back.as_slice()].concat();
        let answer = self.api.post(&confirm, &form, Some(&key)).await;
        match answer {
            Err(error) if emulator::cannot_confirm_with_a_method(&error) => {
                let key = format!("method-{order}-{attempt}");
                let set = self
                    .api
                    .post(&path(payment, "")?, &method, Some(&key))
                    .await;
                if let Err(error) = set.map(|_: Intent| ()) {
                    return Ok(Err(error));
                }
                let key = format!("confirm-{order}-{attempt}");
                Ok(self.api.post(&confirm, &back, Some(&key)).await)
            }
            answer => Ok(answer),
        }
    }

    /// The page that a buyer comes back to from their bank.
    fn return_address(&self, order: OrderId) -> Option<String> {
        let origin = self.return_to.as_deref()?;
        Some(format!("{origin}/orders/{order}"))
    }

    /// What Stripe has to know in case the bank wants to see the buyer. With the script the
    /// next action is for it (`use_stripe_sdk`), else a page to visit (`redirect_to_url`),
    /// which leads back to the address.
    fn way_back<'a>(
        &self,
        address: Option<&'a str>,
    ) -> impl Iterator<Item = (&'static str, &'a str)> + use<'a> {
        let script = self.has_script.then_some(("use_stripe_sdk", "true"));
        let address = address.map(|address| ("return_url", address));
        address.into_iter().chain(script)
    }

    /// A confirmation was rejected, or broke: what is true of the payment decides.
    async fn authorisation_after(
        &self,
        payment: &PaymentId,
        error: CallError,
    ) -> Paid<Authorisation> {
        let intent = self.expect(payment).await?;
        if let Status::RequiresCapture | Status::Succeeded | Status::Canceled = intent.status {
            return intent.authorisation();
        }
        let CallError::Rejected(rejection) = &error else {
            return Err(error.into());
        };
        // The payment is there, so what is missing is the method.
        if rejection.blames_method() || rejection.is_missing() {
            let reason = "This payment method cannot be used.";
            return Ok(Authorisation::Refused(reason.into()));
        }
        if intent.status == Status::RequiresAction {
            return intent.authorisation();
        }
        Err(error.into())
    }

    /// A capture that Stripe took on and was still at when it answered first.
    async fn capture_so_far(&self, payment: &PaymentId) -> Paid<Capture> {
        match self.expect(payment).await?.status {
            Status::Succeeded => Ok(Capture::Captured),
            Status::Canceled => Ok(Capture::Refused("The payment was cancelled.".into())),
            _ => Err(unclear()),
        }
    }

    async fn capture_after(&self, payment: &PaymentId, error: CallError) -> Paid<Capture> {
        match self.expect(payment).await?.status {
            Status::Succeeded => Ok(Capture::Captured),
            Status::Canceled => Ok(Capture::Refused("The payment was cancelled.".into())),
            Status::RequiresCapture => match error {
                CallError::Rejected(rejection) if rejection.is_too_late_to_capture() => {
                    let reason = "The bank no longer reserves the money.";
                    Ok(Capture::Refused(reason.into()))
                }
                error => Err(error.into()),
            },
            Status::Between => Err(unclear()),
            Status::RequiresPaymentMethod
            | Status::RequiresConfirmation
            | Status::RequiresAction => Ok(Capture::Refused("No money is reserved.".into())),
        }
    }
}

#[async_trait]
impl Payments for Stripe {
    async fn open(&self, order: OrderId, total: Money) -> Paid<Opened> {
        let form = [
            ("amount", amount::sent(total)),
            ("currency", total.currency.as_str().to_ascii_lowercase()),
            ("capture_method", "manual".to_owned()),
            ("metadata[order_id]", order.to_string()),
            ("metadata[onsale_stack]", self.stack.clone()),
            ("payment_method_types[]", "card".to_owned()),
        ];
        let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
        let key = format!("open-{order}");
        match self.api.post::<Intent>(INTENTS, &form, Some(&key)).await {
            Ok(intent) => Ok(Opened::Payment(PaymentId(intent.id))),
            Err(CallError::Rejected(rejection)) if rejection.is_no_amount() => Ok(Opened::Refused(
                "So small or large an amount cannot be paid by card.".into(),
            )),
            Err(error) => Err(error.into()),
        }
    }

    async fn authorise(
        &self,
        payment: &PaymentId,
        order: OrderId,
        attempt: u32,
        method: &PaymentMethod,
    ) -> Paid<Authorisation> {
        match self.confirm(payment, order, attempt, method).await? {
            Ok(intent) if intent.is_between() => self.expect(payment).await?.authorisation(),
            Ok(intent) => intent.authorisation(),
            Err(CallError::Card(reason)) => Ok(Authorisation::Refused(reason)),
            Err(error @ (CallError::Rejected(_) | CallError::Broken(_))) => {
                self.authorisation_after(payment, error).await
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn capture(&self, payment: &PaymentId, order: OrderId) -> Paid<Capture> {
        let path = path(payment, "/capture")?;
        let key = format!("capture-{order}");
        let answer = self.api.post::<Intent>(&path, &[], Some(&key)).await;
        match answer {
            Ok(intent) => match intent.status {
                Status::Succeeded => Ok(Capture::Captured),
                Status::Canceled => Ok(Capture::Refused("The payment was cancelled.".into())),
                _ => self.capture_so_far(payment).await,
            },
            Err(CallError::Card(reason)) => Ok(Capture::Refused(reason)),
            Err(error @ (CallError::Rejected(_) | CallError::Broken(_))) => {
                self.capture_after(payment, error).await
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Without an idempotency key: cancelling twice is harmless, while a rejection that
    /// Stripe keeps under a key would stand in the way of the next try.
    async fn void(&self, payment: &PaymentId, _order: OrderId) -> Paid<Void> {
        let path = path(payment, "/cancel")?;
        let answer = self.api.post::<Intent>(&path, &[], None).await;
        let (status, error) = match answer {
            Ok(intent) => (intent.status, None),
            Err(error @ (CallError::Rejected(_) | CallError::Broken(_))) => {
                (self.expect(payment).await?.status, Some(error))
            }
            Err(error) => return Err(error.into()),
        };
        match status {
            Status::Canceled => Ok(Void::Voided),
            Status::Succeeded => Ok(Void::Captured),
            _ => Err(error.map_or_else(unclear, Into::into)),
        }
    }

    async fn refund(
        &self,
        payment: &PaymentId,
        order: OrderId,
        already: Cents,
        amount: Cents,
    ) -> Paid<Refund> {
        self.give_back(payment, order, already, amount).await
    }

    async fn look_up(&self, payment: &PaymentId) -> Paid<Option<Payment>> {
        let found = self.find(payment).await?;
        found.map(|intent| intent.payment(&self.stack)).transpose()
    }

    /// A payment that is just being processed is left out; it is on the list later.
    async fn list(&self, since: Millis, after: Option<&str>) -> Paid<Page<Payment>> {
        let seconds = (since.0 / 1000).to_string();
        let mut query = vec![("limit", "100"), ("expand[]", "data.latest_charge")];
        query.extend(after.map(|id| ("starting_after", id)));
        let mut by_time = query.clone();
        by_time.push(("created[gte]", seconds.as_str()));
        let page: Intents = match self.api.get(INTENTS, &by_time).await {
            Err(error) if emulator::cannot_list_by_time(&error) => {
                self.api.get(INTENTS, &query).await?
            }
            answer => answer?,
        };
        let last = page.data.last().map(|intent| intent.id.clone());
        let settled = page.data.iter().filter(|i| i.status != Status::Between);
        let mut items = settled
            .map(|intent| intent.payment(&self.stack))
            .collect::<Paid<Vec<_>>>()?;
        items.retain(|payment| payment.created.0 / 1000 >= since.0 / 1000);
        Ok(Page {
            items,
            next: last.filter(|_| page.has_more),
        })
    }

    async fn charge_backs(&self, since: Millis, after: Option<&str>) -> Paid<Page<ChargeBack>> {
        self.taken_back(since, after).await
    }

    /// A buyer confirms with their bank and never with us: all that can be told is whether
    /// the bank still waits for them. Nobody waits for an action once the money is taken.
    async fn confirm_action(&self, payment: &PaymentId) -> Paid<bool> {
        let intent = self.expect(payment).await?;
        Ok(!matches!(
            intent.status,
            Status::RequiresAction | Status::Succeeded
        ))
    }
}
