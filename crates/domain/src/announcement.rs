//! What the platform tells the world, as versioned JSON on the event bus.
//!
//! `docs/EVENTS.md` is the contract. An announcement may come twice; its `id` is the
//! same both times.

use serde::{Deserialize, Serialize};

use crate::account::Email;
use crate::ids::{
    AccountId, EventId, HoldId, OrderId, ResetId, ShowId, TicketId, TransferId, WaitlistId,
};
use crate::language::Language;
use crate::money::Money;
use crate::password_reset::ResetPurpose;
use crate::room::opaque::Lot;
use crate::time::Millis;

/// The version of every detail. A change that a reader could stumble over raises it.
pub const VERSION: u32 = 1;
/// Every `detail-type` there is.
pub const KINDS: [&str; 16] = [
    "OrderConfirmed",
    "OrderDeclined",
    "OrderCancelled",
    "RefundIssued",
    "SeatsReturned",
    "ShowCancelled",
    "SagaStuck",
    "PasswordResetAsked",
    "TransferOffered",
    "TransferAccepted",
    "TicketResold",
    "ShowChanged",
    "OfferMade",
    "OfferLapsed",
    "EventChanged",
    "TurnCame",
];
/// The source of every event.
pub const SOURCE: &str = "onsale";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announcement {
    pub version: u32,
    /// The same for every repetition.
    pub id: String,
    pub at: Millis,
    #[serde(flatten)]
    pub news: News,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "data")]
pub enum News {
    OrderConfirmed(OrderNews),
    OrderDeclined(OrderNews),
    OrderCancelled(OrderNews),
    RefundIssued {
        #[serde(flatten)]
        order: OrderNews,
        refund: Money,
    },
    SeatsReturned {
        order_id: OrderId,
        show_id: ShowId,
        seats: Vec<String>,
    },
    ShowCancelled {
        show_id: ShowId,
        refunds_due: u64,
    },
    SagaStuck {
        order_id: OrderId,
        show_id: ShowId,
        step: String,
        reason: String,
    },
    PasswordResetAsked {
        reset_id: ResetId,
        account_id: AccountId,
        purpose: ResetPurpose,
    },
    TransferOffered {
        transfer_id: TransferId,
        ticket_id: TicketId,
        show_id: ShowId,
        from_account: AccountId,
        to_email: Email,
    },
    TransferAccepted {
        transfer_id: TransferId,
        ticket_id: TicketId,
        new_ticket_id: TicketId,
        show_id: ShowId,
        from_account: AccountId,
        to_account: AccountId,
    },
    TicketResold(ResoldNews),
    ShowChanged {
        show_id: ShowId,
        was: ShowFacts,
        is: ShowFacts,
    },
    OfferMade(OfferNews),
    OfferLapsed(OfferNews),
    EventChanged {
        event_id: EventId,
    },
    /// The room lets somebody in who asked to be told.
    TurnCame {
        show_id: ShowId,
        lot: Lot,
        to_email: Email,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        language: Option<Language>,
        enter_by: Millis,
    },
}

/// An offer from the waitlist: places that are held for somebody who waited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferNews {
    pub waitlist_id: WaitlistId,
    pub show_id: ShowId,
    pub account_id: AccountId,
    pub hold_id: HoldId,
    pub seats: Vec<String>,
    pub expires_at: Millis,
}

/// A ticket that was put back has a new owner, and its price went back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResoldNews {
    pub ticket_id: TicketId,
    pub order_id: OrderId,
    pub show_id: ShowId,
    /// Who put it back.
    pub account_id: AccountId,
    pub seat: String,
    pub refund: Money,
}

/// What a buyer has to know of a show.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShowFacts {
    pub title: String,
    pub venue: String,
    pub city: String,
    pub starts_at: Millis,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderNews {
    pub order_id: OrderId,
    pub show_id: ShowId,
    pub account_id: AccountId,
    pub seats: Vec<String>,
    pub total: Money,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl News {
    /// The `detail-type` on the bus.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::OrderConfirmed(_) => "OrderConfirmed",
            Self::OrderDeclined(_) => "OrderDeclined",
            Self::OrderCancelled(_) => "OrderCancelled",
            Self::RefundIssued { .. } => "RefundIssued",
            Self::SeatsReturned { .. } => "SeatsReturned",
            Self::ShowCancelled { .. } => "ShowCancelled",
            Self::SagaStuck { .. } => "SagaStuck",
            Self::PasswordResetAsked { .. } => "PasswordResetAsked",
            Self::TransferOffered { .. } => "TransferOffered",
            Self::TransferAccepted { .. } => "TransferAccepted",
            Self::TicketResold(_) => "TicketResold",
            Self::ShowChanged { .. } => "ShowChanged",
            Self::OfferMade(_) => "OfferMade",
            Self::OfferLapsed(_) => "OfferLapsed",
            Self::EventChanged { .. } => "EventChanged",
            Self::TurnCame { .. } => "TurnCame",
        }
    }

    /// The announcement of this news. `subject` names what it is about, so that the
    /// same news gets the same id when it is told again.
    pub fn announce(self, subject: &str, at: Millis) -> Announcement {
        Announcement {
            version: VERSION,
            id: format!("{}:{subject}", self.kind()),
            at,
            news: self,
        }
    }
}
