//! What the world sees of an order.

use serde::{Deserialize, Serialize};

use super::{Order, Stage};
use crate::money::Cents;

/// The status that the world sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OrderStatus {
    Pending,
    RequiresAction,
    Authorised,
    Confirmed,
    Declined,
    Cancelling,
    /// Ended without a refund.
    Cancelled,
    Refunded,
    Failed,
    Stuck,
}

impl OrderStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::RequiresAction => "requires_action",
            Self::Authorised => "authorised",
            Self::Confirmed => "confirmed",
            Self::Declined => "declined",
            Self::Cancelling => "cancelling",
            Self::Cancelled => "cancelled",
            Self::Refunded => "refunded",
            Self::Failed => "failed",
            Self::Stuck => "stuck",
        }
    }
}

impl Order {
    pub fn status(&self) -> OrderStatus {
        if self.stuck.is_some() {
            return OrderStatus::Stuck;
        }
        match self.stage {
            Stage::Locking | Stage::Authorising | Stage::Declining => OrderStatus::Pending,
            Stage::AwaitingAction => OrderStatus::RequiresAction,
            Stage::Selling | Stage::Capturing | Stage::Issuing => OrderStatus::Authorised,
            Stage::Announcing => OrderStatus::Confirmed,
            Stage::Confirmed => self.confirmed_status(),
            Stage::Declined => OrderStatus::Declined,
            Stage::Voiding
            | Stage::Revoking
            | Stage::Refunding
            | Stage::Returning
            | Stage::AnnouncingEnd => OrderStatus::Cancelling,
            Stage::Ended => self.end_status(),
        }
    }

    fn end_status(&self) -> OrderStatus {
        let Some(undo) = &self.undo else {
            return OrderStatus::Cancelled;
        };
        if self.captured && undo.refund > Cents(0) {
            OrderStatus::Refunded
        } else if undo.why.is_failure() {
            OrderStatus::Failed
        } else {
            OrderStatus::Cancelled
        }
    }
}
