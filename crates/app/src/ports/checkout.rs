//! What paying for a hold needs from the world.

use async_trait::async_trait;
use onsale_domain::announcement::Announcement;
use onsale_domain::ids::{AccountId, OrderId, ResetId, ShowId};
use onsale_domain::money::{Cents, Money};
use onsale_domain::payment::{Action, ChargeBack, Payment, PaymentId, PaymentMethod};
use onsale_domain::ticket_code::{TicketClaims, TicketKey};
use onsale_domain::time::Millis;
use serde::{Deserialize, Serialize};

use super::{Page, Stored};

/// Why a call to the payment provider has no result. Neither is a refusal: the call may
/// have happened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PaymentFailure {
    /// No answer, or "try again".
    #[error("the payment provider does not answer: {0}")]
    Unavailable(String),
    /// The provider does not trust or understand us: an operator has to look.
    #[error("the payment provider does not accept our request: {0}")]
    Ours(String),
}

pub type Paid<T> = Result<T, PaymentFailure>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    Payment(PaymentId),
    /// The provider takes no such amount, for a reason that a buyer may read.
    Refused(String),
}

impl Opened {
    pub fn payment(self) -> Option<PaymentId> {
        match self {
            Self::Payment(payment) => Some(payment),
            Self::Refused(_) => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authorisation {
    Authorised,
    /// The buyer has to act first; afterwards `look_up` tells what came of it.
    ActionRequired(Action),
    /// The method was refused, for a reason that a buyer may read.
    Refused(String),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Capture {
    Captured,
    /// The money cannot be taken any more.
    Refused(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Void {
    /// It can never be charged any more.
    Voided,
    /// Too late: the money was taken, and only a refund gives it back.
    Captured,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refund {
    Refunded,
    Refused(String),
}

/// The payment provider. Every call can be repeated: it is done once, and a repetition
/// gives the same answer.
#[async_trait]
pub trait Payments: Send + Sync {
    /// Opens the one payment of an order; nothing is charged. Repeated: the same payment.
    async fn open(&self, order: OrderId, total: Money) -> Paid<Opened>;
    /// Reserves the money with this method. The same attempt repeated, even after later
    /// ones, gives its first answer and charges nothing.
    async fn authorise(
        &self,
        payment: &PaymentId,
        order: OrderId,
        attempt: u32,
        method: &PaymentMethod,
    ) -> Paid<Authorisation>;
    async fn capture(&self, payment: &PaymentId, order: OrderId) -> Paid<Capture>;
    async fn void(&self, payment: &PaymentId, order: OrderId) -> Paid<Void>;
    /// Gives back this much after `already` was given back, once however often it is asked.
    /// Each refund of an order must be asked for until it is done before the next is.
    async fn refund(
        &self,
        payment: &PaymentId,
        order: OrderId,
        already: Cents,
        amount: Cents,
    ) -> Paid<Refund>;
    async fn look_up(&self, payment: &PaymentId) -> Paid<Option<Payment>>;
    /// Payments that were opened since then, in the order of the provider.
    async fn list(&self, since: Millis, after: Option<&str>) -> Paid<Page<Payment>>;
    /// What banks have taken back, by disputes that began since then, in the order of the
    /// provider.
    async fn charge_backs(&self, since: Millis, after: Option<&str>) -> Paid<Page<ChargeBack>>;
    /// The buyer did what `Action::ConfirmInSandbox` asks. `false`: this provider has no
    /// such action, or it was not asked for.
    async fn confirm_action(&self, payment: &PaymentId) -> Paid<bool>;
}

/// "Look at this: there may be a step to do."
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Drive {
    Order {
        order_id: OrderId,
        /// How often it was sent again because a step could not be done.
        #[serde(default)]
        tries: u32,
    },
    /// The cancellation of a show, from this block on.
    Cancellation {
        show_id: ShowId,
        #[serde(default)]
        from_block: u32,
    },
    /// A bank took the money of an order back.
    ChargeBack {
        order_id: OrderId,
        payment: PaymentId,
    },
    /// A link to set a password was asked for.
    Reset { reset_id: ResetId },
    /// An account was deleted, and things are left to do.
    Deletion { account_id: AccountId },
}

#[async_trait]
pub trait SagaQueue: Send + Sync {
    async fn send_drive(&self, message: &Drive, delay_s: u32) -> Stored<()>;
}

#[async_trait]
pub trait Bus: Send + Sync {
    /// Tells all of it, or answers an error; parts may have been told all the same.
    async fn announce(&self, announcements: &[Announcement]) -> Stored<()>;
}

/// Signs what a ticket's QR says.
pub trait TicketSigner: Send + Sync {
    fn sign(&self, claims: &TicketClaims) -> Stored<String>;
}

impl TicketSigner for TicketKey {
    fn sign(&self, claims: &TicketClaims) -> Stored<String> {
        Ok(TicketKey::sign(self, claims))
    }
}
