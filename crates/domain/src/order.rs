//! An order: a hold that is being paid.
//!
//! Its stage says which step of a saga comes next. The steps themselves are in
//! `checkout_saga` and `refund_saga`; here is what an order is, how one begins, and
//! what its owner may ask of it. An order moves only by a conditional write on its
//! version, so every function here takes an order and gives the next one.

mod number;
mod status;
mod terms;
mod undo;

use serde::{Deserialize, Serialize};

use crate::buyer::Entry;
use crate::ids::{AccountId, OrderId, ShowId, TicketId};
use crate::layout::PlaceIndex;
use crate::money::{Cents, Currency, Money};
use crate::payment::{Action, PaymentId, PaymentMethod};
use crate::request_hash::{IdempotencyKey, RequestHash};
use crate::resale::Resold;
use crate::ticket_return::Resale;
use crate::time::Millis;

pub use number::OrderNumber;
pub use status::OrderStatus;
pub use terms::RefundTerms;
pub use undo::{Undo, Why, refund_percent, share};

/// More payment attempts than this on one order is no person.
pub const MAX_ATTEMPTS: usize = 20;

/// Which step comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    // Forward: the checkout saga.
    Locking,
    Authorising,
    AwaitingAction,
    Selling,
    Capturing,
    Issuing,
    Announcing,
    Confirmed,
    // A method was refused; the hold goes back to its buyer.
    Declining,
    Declined,
    // Undo before the money is known to be taken.
    Voiding,
    // Undo after: the refund saga.
    Revoking,
    Refunding,
    // How both end.
    Returning,
    AnnouncingEnd,
    Ended,
}

/// One try to pay. The number of an attempt is its place in the list, from 1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    pub key: String,
    pub request: RequestHash,
    pub method: PaymentMethod,
    /// Why the provider refused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderedSeat {
    pub place: PlaceIndex,
    pub seat: String,
    pub price: Cents,
}

/// Neither finished nor undone: somebody has to look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stuck {
    pub since: Millis,
    pub reason: String,
}

/// A request that let a parked order go on, and what it was told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    pub by: RequestHash,
    pub status: OrderStatus,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    pub id: OrderId,
    pub show_id: ShowId,
    pub account: AccountId,
    pub seats: Vec<OrderedSeat>,
    pub currency: Currency,
    /// What its buyer was promised, until it is undone; orders of old do not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<RefundTerms>,
    /// When the hold began, until it ends; orders of old do not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_at: Option<Millis>,
    /// The expiry in the hold's cells before the lock.
    pub held_until: Millis,
    /// Their expiry after it, extended once and for all attempts.
    pub pay_until: Millis,
    pub attempts: Vec<Attempt>,
    pub stage: Stage,
    /// Whether the hold was locked for it: from then on its requests are answered.
    #[serde(default)]
    pub accepted: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment: Option<PaymentId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    #[serde(default)]
    pub captured: bool,
    /// When the money was known to be taken, until its tickets are there; orders of old do
    /// not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<Undo>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stuck: Option<Stuck>,
    /// The last request that let it go on and named itself by a key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumed: Option<Resumed>,
    /// How often a ticket of it changed hands. It lets a cancellation and a transfer meet
    /// in the version of the order: only one of them can be first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub transfers: u32,
    /// Places that it buys from those who put their tickets back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resales: Vec<Resale>,
    /// Places of it that somebody else has bought, in that order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resold: Vec<Resold>,
    /// When its tickets were there, and when its places were given back: the times under
    /// which it is in the books. Unlike `changed` they stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sold_at: Option<Millis>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Millis>,
    pub created: Millis,
    pub changed: Millis,
}

/// Why a checkout request begins no new attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckoutRefusal {
    /// This key came before, with the same request: its answer stands.
    SameRequest,
    OtherRequest,
    /// An attempt is under way and not yet decided.
    InFlight,
    Paid,
    /// The hold is gone.
    Gone(Why),
    TooManyAttempts,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// It is being undone already, or was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AlreadyUndone;

impl Order {
    /// The order of a held entry, with its first attempt.
    pub fn begin(
        entry: &Entry,
        seat_ids: impl Fn(PlaceIndex) -> String,
        show_id: ShowId,
        account: AccountId,
        currency: Currency,
        attempt: Attempt,
        now: Millis,
    ) -> Self {
        let seat = |(place, price)| OrderedSeat {
            place,
            seat: seat_ids(place),
            price,
        };
        Self {
            id: OrderId::of(entry.hold),
            show_id,
            account,
            seats: entry.priced().map(seat).collect(),
            currency,
            terms: None,
            held_at: Some(entry.changed),
            held_until: entry.expiry,
            pay_until: entry.pay_until(),
            attempts: vec![attempt],
            stage: Stage::Locking,
            accepted: false,
            payment: None,
            action: None,
            captured: false,
            paid_at: None,
            undo: None,
            stuck: None,
            resumed: None,
            transfers: 0,
            resales: Vec::new(),
            resold: Vec::new(),
            sold_at: None,
            ended_at: None,
            created: now,
            changed: now,
        }
    }

    /// A ticket of it belongs to somebody else from now on.
    #[must_use]
    pub fn with_transfer(&self) -> Self {
        let mut next = self.clone();
        next.transfers = next.transfers.saturating_add(1);
        next
    }

    /// What people call it.
    pub fn number(&self) -> OrderNumber {
        OrderNumber::of(self.id)
    }

    pub fn total(&self) -> Money {
        Money {
            amount: self.seats.iter().map(|s| s.price).sum(),
            currency: self.currency,
        }
    }

    /// What is paid back, once it was decided.
    pub fn refund(&self) -> Option<Money> {
        let undo = self.undo.as_ref()?;
        self.captured.then_some(Money {
            amount: undo.refund,
            currency: self.currency,
        })
    }

    pub fn places(&self) -> Vec<PlaceIndex> {
        self.seats.iter().map(|s| s.place).collect()
    }

    pub fn seat_ids(&self) -> Vec<String> {
        self.seats.iter().map(|s| s.seat.clone()).collect()
    }

    pub fn ticket_ids(&self) -> Vec<TicketId> {
        self.seats
            .iter()
            .map(|s| TicketId::of(self.id, s.place))
            .collect()
    }

    /// Whether its tickets exist and are good.
    pub fn has_tickets(&self) -> bool {
        matches!(self.stage, Stage::Announcing | Stage::Confirmed)
    }

    /// The number of the current attempt.
    pub fn attempt(&self) -> u32 {
        u32::try_from(self.attempts.len()).unwrap_or(u32::MAX)
    }

    pub fn method(&self) -> Option<&PaymentMethod> {
        self.attempts.last().map(|a| &a.method)
    }

    /// Whether this very request came before.
    pub fn knows(&self, attempt: &Attempt) -> bool {
        self.attempts.iter().any(|a| a.key == attempt.key)
    }

    /// Whether a saga still has something to do. A declined order waits for its buyer
    /// and needs nobody.
    pub fn is_open(&self) -> bool {
        let has_ended = matches!(
            self.stage,
            Stage::Confirmed | Stage::Declined | Stage::Ended
        );
        !has_ended || self.repayment().is_some()
    }

    /// The next attempt, after the last one was stored as declined.
    pub fn try_again(&self, attempt: Attempt, now: Millis) -> Result<Self, CheckoutRefusal> {
        if let Some(before) = self.attempts.iter().find(|a| a.key == attempt.key) {
            return Err(match before.request == attempt.request {
                true => CheckoutRefusal::SameRequest,
                false => CheckoutRefusal::OtherRequest,
            });
        }
        match (self.stage, &self.undo) {
            (_, Some(undo)) => Err(CheckoutRefusal::Gone(undo.why)),
            (Stage::Declined, _) if now >= self.pay_until => {
                Err(CheckoutRefusal::Gone(Why::HoldExpired))
            }
            (Stage::Declined, _) if self.attempts.len() >= MAX_ATTEMPTS => {
                Err(CheckoutRefusal::TooManyAttempts)
            }
            (Stage::Declined, _) => {
                let mut next = self.at(Stage::Locking, now);
                next.attempts.push(attempt);
                Ok(next)
            }
            (Stage::Announcing | Stage::Confirmed, _) => Err(CheckoutRefusal::Paid),
            _ => Err(CheckoutRefusal::InFlight),
        }
    }

    /// Calls the order off: what was taken goes back at this percentage, what was only
    /// reserved is voided.
    pub fn call_off(&self, why: Why, percent: u8, now: Millis) -> Result<Self, AlreadyUndone> {
        if self.undo.is_some() {
            return Err(AlreadyUndone);
        }
        let stage = match self.stage {
            Stage::Confirmed | Stage::Announcing | Stage::Issuing => Stage::Revoking,
            _ => Stage::Voiding,
        };
        Ok(self.undone(stage, why, percent, now))
    }

    pub(crate) fn undone(&self, stage: Stage, why: Why, percent: u8, now: Millis) -> Self {
        let mut next = self.at(stage, now);
        next.action = None;
        next.held_at = None;
        next.paid_at = None;
        // How much goes back is decided here.
        next.terms = None;
        // It goes another way now, and is parked again if that is shut as well.
        next.stuck = None;
        next.undo = Some(Undo {
            why,
            percent,
            refund: share(self.kept_amount(), percent),
            was_paid: self.captured,
            began: now,
        });
        next
    }

    pub(crate) fn at(&self, stage: Stage, now: Millis) -> Self {
        let mut next = self.clone();
        next.stage = stage;
        next.changed = now;
        next
    }

    /// It was tried just now and will be tried again: nobody has to wake it.
    pub fn put_off(&self, now: Millis) -> Self {
        self.at(self.stage, now)
    }

    /// The order without what only its buyer needed: the keys that their requests chose and
    /// the names of their cards. Its account names nobody once that is deleted. `None`: it
    /// says nothing more already. Not for an open order, whose saga may still charge.
    pub fn anonymised(&self, now: Millis) -> Option<Self> {
        let mut next = self.at(self.stage, now);
        for attempt in &mut next.attempts {
            attempt.key.clear();
            attempt.method = PaymentMethod::forgotten();
        }
        next.action = None;
        (next.attempts != self.attempts || self.action.is_some()).then_some(next)
    }

    /// Parks an order that can neither go on nor be undone.
    pub fn park(&self, reason: String, now: Millis) -> Self {
        let mut next = self.at(self.stage, now);
        next.stuck = Some(Stuck { since: now, reason });
        next
    }

    /// Lets a parked order go on where it stood; `None` if it is not parked.
    pub fn resume(&self, by: Option<RequestHash>, now: Millis) -> Option<Self> {
        self.stuck.as_ref()?;
        let mut next = self.at(self.stage, now);
        next.stuck = None;
        if let Some(by) = by {
            let status = next.status();
            next.resumed = Some(Resumed { by, status });
        }
        Some(next)
    }

    /// What this request was told when it let the order go on.
    pub fn resumed_by(&self, by: &RequestHash) -> Option<OrderStatus> {
        let resumed = self.resumed.as_ref().filter(|resumed| resumed.by == *by);
        resumed.map(|resumed| resumed.status)
    }
}

impl Attempt {
    pub fn new(key: &IdempotencyKey, request: RequestHash, method: PaymentMethod) -> Self {
        Self {
            key: key.as_str().to_owned(),
            request,
            method,
            refusal: None,
        }
    }
}
