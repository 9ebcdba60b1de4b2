//! What a mail says: every value of it, typed. A letter is stored as it is sent, so that
//! what somebody read can be written again, word for word.

use serde::{Deserialize, Serialize};

use crate::account::Email;
use crate::ids::{HoldId, OrderId, ResetId, ShowId, TicketId, TransferId, WaitlistId};
use crate::language::Language;
use crate::money::{Cents, Money};
use crate::order::Why;
use crate::time::Millis;

/// The version of all texts. Whoever changes what a letter says raises it, so that a
/// stored letter names the texts it was written with.
pub const TEMPLATES: u32 = 3;

/// A letter with its address, ready to be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Composed {
    pub to: Email,
    pub language: Language,
    pub letter: Letter,
    pub templates: u32,
    /// The date of the letter; a repetition bears the same.
    pub at: Millis,
    /// Letters from before this was kept are written under that of today.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Letterhead>,
}

/// What all letters of a time have in common. It is kept with each of them, so that a
/// letter can be written again after the settings have changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Letterhead {
    pub sender_name: String,
    pub sender: Email,
    /// The origin of all links.
    pub base_url: String,
    /// The key that made the link of a password; never the link itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reset_key: Option<u8>,
}

/// A show as a letter names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShowLine {
    pub show_id: ShowId,
    pub title: String,
    pub venue: String,
    pub city: String,
    pub timezone: String,
    pub starts_at: Millis,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketLine {
    pub ticket_id: TicketId,
    pub seat: String,
    pub price: Cents,
    /// What its QR says.
    pub code: String,
}

/// An order as a letter names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderLine {
    pub order_id: OrderId,
    pub seats: Vec<String>,
    pub total: Money,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Letter {
    /// The tickets come along.
    Confirmation {
        name: String,
        show: ShowLine,
        order: OrderLine,
        tickets: Vec<TicketLine>,
    },
    Decline {
        name: String,
        show: ShowLine,
        order: OrderLine,
        /// A sentence of the payment provider.
        reason: Option<String>,
        /// Until then the places wait for another try.
        pay_until: Millis,
    },
    /// An order ended without tickets.
    Cancellation {
        name: String,
        show: ShowLine,
        order: OrderLine,
        why: Why,
        refund: Option<Money>,
    },
    Offer {
        name: String,
        show: ShowLine,
        hold_id: HoldId,
        seats: Vec<String>,
        expires_at: Millis,
    },
    OfferLapsed {
        name: String,
        show: ShowLine,
        waitlist_id: WaitlistId,
    },
    /// A ticket that was put back has a new owner.
    Resold {
        name: String,
        show: ShowLine,
        seat: String,
        refund: Money,
    },
    /// `show` is what it is now.
    ShowChanged {
        name: String,
        show: ShowLine,
        was: ShowLine,
    },
    ShowCancelled {
        name: String,
        show: ShowLine,
    },
    Transfer {
        from: String,
        show: ShowLine,
        transfer_id: TransferId,
        seat: String,
    },
    /// A ticket that somebody was given died with the order it was bought with.
    TicketLost {
        name: String,
        show: ShowLine,
        seats: Vec<String>,
    },
    /// The link is made of the id when the letter is written: no secret is stored.
    PasswordReset {
        name: String,
        reset_id: ResetId,
        minutes: u64,
    },
    Invitation {
        name: String,
        reset_id: ResetId,
    },
    /// A log-in without a password.
    LogInLink {
        name: String,
        reset_id: ResetId,
        minutes: u64,
    },
    /// Following the link shows that mail to this address arrives.
    ProveAddress {
        name: String,
        reset_id: ResetId,
        minutes: u64,
    },
    /// The waiting room lets somebody in who left an address.
    YourTurn {
        show: ShowLine,
        /// Until then the place in the room is kept.
        enter_by: Millis,
    },
}

impl Letter {
    /// Until when what it says is true. A letter that promises something until a moment is not
    /// sent after it.
    pub fn good_until(&self) -> Option<Millis> {
        match self {
            Self::Decline { pay_until, .. } => Some(*pay_until),
            Self::Offer { expires_at, .. } => Some(*expires_at),
            Self::YourTurn { enter_by, .. } => Some(*enter_by),
            _ => None,
        }
    }
}
