//! Payments as the provider knows them.
//!
//! There is one payment per order. It is opened and stored on the order before any
//! method is charged, so that whatever happens later can be found again.

use serde::{Deserialize, Serialize};

use crate::ids::OrderId;
use crate::money::{Cents, Money};
use crate::time::Millis;

/// The provider's name for a payment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PaymentId(pub String);

impl std::fmt::Display for PaymentId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The provider's name for a way to pay, such as `pm_card_visa`. It never is a card
/// number: those do not reach us.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PaymentMethod(String);

impl PaymentMethod {
    pub const MAX_LEN: usize = 100;

    /// Letters, digits and underscores, and not digits alone: a card number that was
    /// sent by mistake is refused before it is stored anywhere.
    pub fn parse(text: &str) -> Option<Self> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        let fits = (1..=Self::MAX_LEN).contains(&text.len());
        let named = text.bytes().any(|b| b.is_ascii_alphabetic());
        (fits && named && text.bytes().all(allowed)).then(|| Self(text.to_owned()))
    }

    /// What stands for a method that was forgotten.
    pub fn forgotten() -> Self {
        Self("forgotten".to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What the buyer has to do before the payment can go on.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Action {
    /// Visit this page of the bank (3-D Secure).
    Redirect { url: String },
    /// The provider's own script takes over with this secret.
    UseSdk { client_secret: String },
    /// The sandbox: confirm through the order's `confirm-action`.
    ConfirmInSandbox,
}

/// The secret is the buyer's and belongs in no log.
impl std::fmt::Debug for Action {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Redirect { .. } => "Redirect",
            Self::UseSdk { .. } => "UseSdk",
            Self::ConfirmInSandbox => "ConfirmInSandbox",
        })
    }
}

/// What the provider says is true of one payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    pub id: PaymentId,
    /// The order that opened it, as the provider has it on record.
    pub order: Option<OrderId>,
    pub total: Money,
    pub created: Millis,
    pub state: PaymentState,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaymentState {
    /// Opened, or its last method was refused: nothing is reserved.
    Open,
    ActionRequired(Action),
    /// The money is reserved and can be captured or voided.
    Authorised,
    /// The money was taken; so much of it went back.
    Captured {
        refunded: Cents,
    },
    /// It can never be charged any more.
    Voided,
}

/// Money of ours that a bank has taken back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeBack {
    pub payment: PaymentId,
    pub order: OrderId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_payment_method_is_a_name_and_never_a_card_number() {
        assert!(PaymentMethod::parse("pm_card_visa").is_some());
        let long = "p".repeat(101);
        for wrong in [
            "",
            "4242424242424242",
            "pm card",
            "pm-card",
            "ä",
            long.as_str(),
        ] {
            assert!(PaymentMethod::parse(wrong).is_none(), "{wrong}");
        }
    }
}
