//! A PaymentIntent as Stripe sends it, and what it means to us.
//!
//! It carries a secret for the buyer's browser, so it is never printed.

use onsale_app::ports::{Authorisation, Paid, PaymentFailure};
use onsale_domain::ids::OrderId;
use onsale_domain::money::{Cents, Currency, Money};
use onsale_domain::payment::{Action, Payment, PaymentId, PaymentState};
use onsale_domain::time::Millis;
use serde::Deserialize;

use super::amount;
use super::failure::ErrorBody;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    RequiresPaymentMethod,
    RequiresConfirmation,
    RequiresAction,
    RequiresCapture,
    Succeeded,
    Canceled,
    /// `processing`, and whatever Stripe may add: it will be something else soon.
    #[serde(other)]
    Between,
}

#[derive(Deserialize)]
pub(super) struct Intent {
    pub(super) id: String,
    pub(super) status: Status,
    amount: u64,
    currency: String,
    /// In seconds.
    created: u64,
    metadata: Option<Metadata>,
    client_secret: Option<String>,
    next_action: Option<NextAction>,
    last_payment_error: Option<ErrorBody>,
    latest_charge: Option<Charge>,
}

#[derive(Deserialize)]
pub(super) struct Metadata {
    order_id: Option<String>,
    onsale_stack: Option<String>,
}

impl Metadata {
    /// The order is only told to the deployment that opened the payment.
    pub(super) fn order(&self, stack: &str) -> Option<OrderId> {
        let ours = self.onsale_stack.as_deref() == Some(stack);
        let order = self.order_id.as_deref().filter(|_| ours)?;
        order.parse().ok()
    }
}

#[derive(Deserialize)]
struct NextAction {
    redirect_to_url: Option<RedirectToUrl>,
}

#[derive(Deserialize)]
struct RedirectToUrl {
    url: Option<String>,
}

/// Stripe sends the charge itself only where it was asked to.
#[derive(Deserialize)]
#[serde(untagged)]
enum Charge {
    Whole { amount_refunded: u64 },
    Name(#[expect(dead_code, reason = "it tells the name from the charge")] String),
}

/// An id of Stripe is letters, digits and underscores: nothing else may reach a path.
pub(super) fn is_name(id: &str) -> bool {
    let named = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    (1..=255).contains(&id.len()) && id.bytes().all(named)
}

pub(super) fn unclear() -> PaymentFailure {
    PaymentFailure::Unavailable("the payment is still being processed".into())
}

fn lacks(what: &str) -> PaymentFailure {
    PaymentFailure::Unavailable(format!("the reply cannot be read: it lacks {what}"))
}

impl Intent {
    /// Whether it will be something else by the next look.
    pub(super) fn is_between(&self) -> bool {
        matches!(self.status, Status::RequiresConfirmation | Status::Between)
    }

    /// What the reply to a confirmation says about it.
    pub(super) fn authorisation(&self) -> Paid<Authorisation> {
        match self.status {
            Status::RequiresCapture | Status::Succeeded => Ok(Authorisation::Authorised),
            Status::RequiresAction => self.action().map(Authorisation::ActionRequired),
            Status::Canceled => Ok(Authorisation::Refused("The payment was cancelled.".into())),
            Status::RequiresPaymentMethod => {
                let error = self.last_payment_error.as_ref();
                error
                    .map(|error| Authorisation::Refused(error.reason()))
                    .ok_or_else(|| lacks("the reason of the refusal"))
            }
            Status::RequiresConfirmation | Status::Between => Err(unclear()),
        }
    }

    pub(super) fn action(&self) -> Paid<Action> {
        let redirect = self
            .next_action
            .as_ref()
            .and_then(|n| n.redirect_to_url.as_ref());
        if let Some(url) = redirect.and_then(|r| r.url.clone()) {
            return Ok(Action::Redirect { url });
        }
        let client_secret = self.client_secret.clone();
        client_secret
            .map(|client_secret| Action::UseSdk { client_secret })
            .ok_or_else(|| lacks("client_secret"))
    }

    pub(super) fn currency(&self) -> Paid<Currency> {
        Currency::parse(&self.currency.to_ascii_uppercase()).ok_or_else(|| lacks("a currency"))
    }

    /// How much of the captured money went back.
    pub(super) fn refunded(&self) -> Paid<Cents> {
        match self.latest_charge {
            Some(Charge::Whole { amount_refunded }) => {
                Ok(amount::received(amount_refunded, self.currency()?))
            }
            Some(Charge::Name(_)) | None => Err(lacks("latest_charge")),
        }
    }

    pub(super) fn payment(&self, stack: &str) -> Paid<Payment> {
        let state = match self.status {
            Status::RequiresPaymentMethod | Status::RequiresConfirmation => PaymentState::Open,
            Status::RequiresAction => PaymentState::ActionRequired(self.action()?),
            Status::RequiresCapture => PaymentState::Authorised,
            Status::Succeeded => PaymentState::Captured {
                refunded: self.refunded()?,
            },
            Status::Canceled => PaymentState::Voided,
            Status::Between => return Err(unclear()),
        };
        let currency = self.currency()?;
        let metadata = self.metadata.as_ref();
        Ok(Payment {
            id: PaymentId(self.id.clone()),
            order: metadata.and_then(|metadata| metadata.order(stack)),
            total: Money {
                amount: amount::received(self.amount, currency),
                currency,
            },
            created: Millis(self.created.saturating_mul(1000)),
            state,
        })
    }
}

/// A page of PaymentIntents, newest first.
#[derive(Deserialize)]
pub(super) struct Intents {
    pub(super) data: Vec<Intent>,
    pub(super) has_more: bool,
}

#[derive(Deserialize)]
pub(super) struct RefundReply {
    id: Option<String>,
    status: Option<String>,
}

impl RefundReply {
    /// A refund that is under way counts as done: Stripe sees it through, and tells us if
    /// the bank sends it back.
    pub(super) fn failed(&self) -> bool {
        matches!(self.status.as_deref(), Some("failed" | "canceled"))
    }
    /// Where it can be read again.
    pub(super) fn path(&self, refunds: &str) -> Option<String> {
        let id = self.id.as_deref()?;
        is_name(id).then(|| format!("{refunds}/{id}"))
    }
}
