//! The checkout saga, on one page.
//!
//! ```text
//! stage           step                              then            undo
//! Locking         entry and cells become `paying`   Authorising     free them
//! Authorising     open the payment, then charge     Selling         void it
//! AwaitingAction  ask what came of 3-D Secure       Selling         void it
//! Selling         cells, then the entry: `sold`     Capturing       free them
//! Capturing       take the money                    Issuing         refund it
//! Issuing         sign and store the tickets        Announcing      revoke them
//! Announcing      tell the bus                      Confirmed       tell it otherwise
//! ```
//!
//! Selling comes before capturing, so money is only taken for places that are already
//! the buyer's. A refused method is no undo: the hold goes back to its buyer
//! (Declining, Declined) for another try until the same expiry. Everything else that
//! goes wrong begins an undo by a write on the order, and only then asks the provider
//! what is true: `Voiding` voids what was reserved, or goes on to `Refunding` if the
//! money was taken after all. From there on it is the refund saga.
//!
//! Each step can be done twice, by two workers at once, or again after a crash: what a
//! step touches moves by conditional writes only, and its result counts once it is
//! stored on the order.

use crate::announcement::{News, OrderNews};
use crate::order::{Order, Stage, Why};
use crate::payment::{Action, PaymentId};
use crate::time::Millis;

/// What has to be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    Lock,
    /// Too late to charge anybody.
    GiveUp,
    OpenPayment,
    Authorise,
    LookUpAction,
    Sell,
    Capture,
    IssueTickets,
    AnnounceConfirmed,
    GiveHoldBack,
    Void,
    RevokeTickets,
    Refund,
    ReturnSeats,
    AnnounceEnd,
    /// A place was resold, and what it cost is owed (`resale`).
    Repay,
}

impl Step {
    /// Whether time itself ends this step: once the hold has lapsed the order is undone,
    /// so until then there is no reason to give it up to an operator.
    pub fn ends_with_the_hold(self) -> bool {
        matches!(
            self,
            Self::Lock | Self::OpenPayment | Self::Authorise | Self::LookUpAction
        )
    }

    /// Whether all is done and only has to be told. No operator can help with that: it is
    /// told as soon as somebody listens.
    pub fn only_tells(self) -> bool {
        matches!(self, Self::AnnounceConfirmed | Self::AnnounceEnd)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::GiveUp => "give_up",
            Self::OpenPayment => "open_payment",
            Self::Authorise => "authorise",
            Self::LookUpAction => "look_up_action",
            Self::Sell => "sell",
            Self::Capture => "capture",
            Self::IssueTickets => "issue_tickets",
            Self::AnnounceConfirmed => "announce_confirmed",
            Self::GiveHoldBack => "give_hold_back",
            Self::Void => "void",
            Self::RevokeTickets => "revoke_tickets",
            Self::Refund => "refund",
            Self::ReturnSeats => "return_seats",
            Self::AnnounceEnd => "announce_end",
            Self::Repay => "repay",
        }
    }
}

/// What came of moving the entry and the cells to `paying`, or the cells to `sold`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    Done,
    /// The hold lapsed, or was given up.
    HoldGone,
    /// Somebody else has at least one of the places.
    SeatsLost,
    /// The show is cancelled.
    Closed,
}

impl Moved {
    fn trouble(self) -> Option<Why> {
        match self {
            Self::Done => None,
            Self::HoldGone => Some(Why::HoldExpired),
            Self::SeatsLost => Some(Why::SeatsLost),
            Self::Closed => Some(Why::ShowCancelled),
        }
    }
}

/// What came of asking the provider to reserve the money.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Charged {
    Authorised,
    ActionRequired(Action),
    Refused(String),
}

impl Order {
    /// The next step; `None` when there is nothing to do, or somebody has to look first.
    pub fn next_step(&self, now: Millis) -> Option<Step> {
        if self.stuck.is_some() {
            return None;
        }
        // Before anything else: how much goes back later is reckoned from it.
        if self.repayment().is_some() {
            return Some(Step::Repay);
        }
        Some(match self.stage {
            Stage::Locking => Step::Lock,
            Stage::Authorising if now >= self.pay_until => Step::GiveUp,
            Stage::Authorising if self.payment.is_none() && !self.is_free() => Step::OpenPayment,
            Stage::Authorising => Step::Authorise,
            Stage::AwaitingAction => Step::LookUpAction,
            Stage::Selling => Step::Sell,
            Stage::Capturing => Step::Capture,
            Stage::Issuing => Step::IssueTickets,
            Stage::Announcing => Step::AnnounceConfirmed,
            Stage::Declining => Step::GiveHoldBack,
            Stage::Voiding => Step::Void,
            Stage::Revoking => Step::RevokeTickets,
            Stage::Refunding => Step::Refund,
            Stage::Returning => Step::ReturnSeats,
            Stage::AnnouncingEnd => Step::AnnounceEnd,
            Stage::Confirmed | Stage::Declined | Stage::Ended => return None,
        })
    }

    /// Whether there is nothing to pay.
    pub fn is_free(&self) -> bool {
        self.total().amount.0 == 0
    }

    pub fn locked(&self, moved: Moved, now: Millis) -> Self {
        match moved.trouble() {
            None => {
                let mut next = self.at(Stage::Authorising, now);
                next.accepted = true;
                next
            }
            Some(why) => self.undone(Stage::Voiding, why, 100, now),
        }
    }

    /// Nobody is charged for a hold that has lapsed. An earlier call may have reserved
    /// money all the same: voiding finds out.
    pub fn given_up(&self, now: Millis) -> Self {
        self.undone(Stage::Voiding, Why::HoldExpired, 100, now)
    }

    /// The payment is known before anything is charged with it.
    pub fn payment_opened(&self, payment: PaymentId, now: Millis) -> Self {
        let mut next = self.at(Stage::Authorising, now);
        next.payment = Some(payment);
        next
    }

    pub fn charged(&self, charged: Charged, now: Millis) -> Self {
        match charged {
            Charged::Authorised => {
                let mut next = self.at(Stage::Selling, now);
                next.action = None;
                next
            }
            Charged::ActionRequired(_) if now >= self.pay_until => self.given_up(now),
            Charged::ActionRequired(action) => {
                let mut next = self.at(Stage::AwaitingAction, now);
                next.action = Some(action);
                next
            }
            Charged::Refused(reason) => {
                let mut next = self.at(Stage::Declining, now);
                next.action = None;
                if let Some(attempt) = next.attempts.last_mut() {
                    attempt.refusal = Some(reason);
                }
                next
            }
        }
    }

    /// The hold is its buyer's again.
    pub fn hold_given_back(&self, now: Millis) -> Self {
        self.at(Stage::Declined, now)
    }

    pub fn sold(&self, moved: Moved, now: Millis) -> Self {
        match moved.trouble() {
            None => Self {
                held_at: None,
                ..self.at(Stage::Capturing, now)
            },
            Some(why) => self.undone(Stage::Voiding, why, 100, now),
        }
    }

    /// `taken`: the money is ours; otherwise the provider refused for good.
    pub fn captured(&self, taken: bool, now: Millis) -> Self {
        if !taken {
            return self.undone(Stage::Voiding, Why::CaptureRefused, 100, now);
        }
        let mut next = self.at(Stage::Issuing, now);
        next.captured = true;
        next.paid_at = Some(now);
        next
    }

    pub fn tickets_issued(&self, now: Millis) -> Self {
        let mut next = self.at(Stage::Announcing, now);
        next.paid_at = None;
        next.sold_at = Some(now);
        next
    }

    pub fn announced(&self, now: Millis) -> Self {
        self.at(Stage::Confirmed, now)
    }

    /// What the announcements of this order say.
    pub fn news(&self, reason: Option<String>) -> OrderNews {
        OrderNews {
            order_id: self.id,
            show_id: self.show_id,
            account_id: self.account,
            seats: self.seat_ids(),
            total: self.total(),
            reason,
        }
    }

    pub fn confirmed_news(&self) -> News {
        News::OrderConfirmed(self.news(None))
    }

    pub fn declined_news(&self) -> News {
        let refusal = self.attempts.last().and_then(|a| a.refusal.clone());
        News::OrderDeclined(self.news(refusal))
    }

    pub fn stuck_news(&self, step: Step, reason: &str) -> News {
        News::SagaStuck {
            order_id: self.id,
            show_id: self.show_id,
            step: step.as_str().to_owned(),
            reason: reason.to_owned(),
        }
    }
}
