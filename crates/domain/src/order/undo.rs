//! Why and how far an order is undone, and what its buyer gets back.

use serde::{Deserialize, Serialize};

use crate::money::Cents;
use crate::show::RefundStep;
use crate::time::Millis;

/// Why an order is undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The hold lapsed before it was paid.
    HoldExpired,
    /// Somebody else has the places.
    SeatsLost,
    CaptureRefused,
    Buyer,
    ShowCancelled,
    ChargedBack,
}

impl Why {
    /// Whether the order failed by itself, rather than being called off.
    pub(super) fn is_failure(self) -> bool {
        matches!(
            self,
            Self::HoldExpired | Self::SeatsLost | Self::CaptureRefused
        )
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::HoldExpired => "hold_expired",
            Self::SeatsLost => "seats_lost",
            Self::CaptureRefused => "capture_refused",
            Self::Buyer => "buyer",
            Self::ShowCancelled => "show_cancelled",
            Self::ChargedBack => "charged_back",
        }
    }
}

/// The decision to undo an order; fixed when it is taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undo {
    pub why: Why,
    pub percent: u8,
    /// What goes back to the buyer, if the money was taken.
    pub refund: Cents,
    /// Whether the money was known to be taken when this was decided. What the buyer was
    /// told then is told again, whatever the provider says later.
    #[serde(default)]
    pub was_paid: bool,
    pub began: Millis,
}

/// A percentage of an amount in whole cents, halves rounded in the buyer's favour.
pub fn share(amount: Cents, percent: u8) -> Cents {
    let percent = u128::from(percent.min(100));
    let cents = (u128::from(amount.0) * percent + 50) / 100;
    Cents(u64::try_from(cents).unwrap_or(amount.0))
}

/// What the policy gives back now. A policy lists its steps from far to near; later
/// than all of them nothing is given back.
pub fn refund_percent(policy: &[RefundStep], starts_at: Millis, now: Millis) -> u8 {
    let early_enough = |step: &&RefundStep| {
        let before_ms = u64::from(step.hours_before) * 3_600_000;
        now + before_ms <= starts_at
    };
    policy.iter().find(early_enough).map_or(0, |s| s.percent)
}
