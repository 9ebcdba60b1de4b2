//! One payment of the sandbox, and what each call makes of it. Nothing here waits,
//! stores or asks the time.

use std::collections::BTreeMap;

use onsale_app::ports::{Authorisation, Capture, Paid, PaymentFailure, Refund, Void};
use onsale_domain::ids::OrderId;
use onsale_domain::money::{Cents, Money};
use onsale_domain::payment::{Action, Payment, PaymentId, PaymentState};
use onsale_domain::time::Millis;
use serde::{Deserialize, Serialize};

/// The methods that the sandbox knows, named after what they do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Card {
    Good,
    Declined,
    RequiresAction,
    CaptureFails,
    LostReply,
    Slow,
}

impl Card {
    pub(super) fn named(method: &str) -> Option<Self> {
        match method {
            "pm_card_visa" => Some(Self::Good),
            "pm_card_chargeDeclined" => Some(Self::Declined),
            "pm_sandbox_requires_action" => Some(Self::RequiresAction),
            "pm_sandbox_capture_fails" => Some(Self::CaptureFails),
            "pm_sandbox_lost_reply" => Some(Self::LostReply),
            "pm_sandbox_slow" => Some(Self::Slow),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum State {
    Open,
    ActionRequired,
    Authorised { capture_fails: bool },
    Captured { refunded: Cents },
    Voided,
}

/// What an attempt was told the first time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer {
    Authorised,
    ActionRequired,
    Refused(String),
}

impl From<&Answer> for Authorisation {
    fn from(answer: &Answer) -> Self {
        match answer {
            Answer::Authorised => Self::Authorised,
            Answer::ActionRequired => Self::ActionRequired(Action::ConfirmInSandbox),
            Answer::Refused(reason) => Self::Refused(reason.clone()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    id: PaymentId,
    order: OrderId,
    pub(super) total: Money,
    pub(super) created: Millis,
    state: State,
    /// The buyer did what an attempt asked for.
    confirmed: bool,
    answers: BTreeMap<u32, Answer>,
}

impl Entry {
    pub(super) fn open(id: PaymentId, order: OrderId, total: Money, now: Millis) -> Self {
        Self {
            id,
            order,
            total,
            created: now,
            state: State::Open,
            confirmed: false,
            answers: BTreeMap::new(),
        }
    }

    pub(super) fn read(document: &str) -> Paid<Self> {
        serde_json::from_str(document).map_err(|error| {
            PaymentFailure::Ours(format!("a payment of the sandbox is unreadable: {error}"))
        })
    }

    pub(super) fn write(&self) -> Paid<String> {
        serde_json::to_string(self).map_err(|error| {
            PaymentFailure::Ours(format!("a payment of the sandbox is unwritable: {error}"))
        })
    }

    pub(super) fn check_order(&self, order: OrderId) -> Paid<()> {
        if self.order == order {
            return Ok(());
        }
        Err(PaymentFailure::Ours(
            "the payment belongs to another order".into(),
        ))
    }

    pub(super) fn first_answer(&self, attempt: u32) -> Option<Authorisation> {
        self.answers.get(&attempt).map(Authorisation::from)
    }

    /// The answer, and whether it was given for the first time.
    pub(super) fn authorise(&mut self, attempt: u32, card: Option<Card>) -> (Authorisation, bool) {
        if let Some(answer) = self.first_answer(attempt) {
            return (answer, false);
        }
        let answer = self.charge(attempt, card);
        let told = Authorisation::from(&answer);
        self.answers.insert(attempt, answer);
        (told, true)
    }

    fn charge(&mut self, attempt: u32, card: Option<Card>) -> Answer {
        let refused = |reason: &str| Answer::Refused(reason.to_owned());
        match self.state {
            State::Voided => return refused("The payment was cancelled."),
            State::Authorised { .. } | State::Captured { .. } => return Answer::Authorised,
            State::Open | State::ActionRequired => {}
        }
        // A call that was overtaken must not charge a method the buyer has replaced.
        if self
            .answers
            .last_key_value()
            .is_some_and(|(last, _)| *last > attempt)
        {
            return refused("Another attempt to pay has begun since.");
        }
        let (state, answer) = match card {
            Some(Card::Good | Card::LostReply | Card::Slow) => (
                State::Authorised {
                    capture_fails: false,
                },
                Answer::Authorised,
            ),
            Some(Card::CaptureFails) => (
                State::Authorised {
                    capture_fails: true,
                },
                Answer::Authorised,
            ),
            Some(Card::RequiresAction) => (State::ActionRequired, Answer::ActionRequired),
            Some(Card::Declined) => (State::Open, refused("The card was declined.")),
            None => (
                State::Open,
                refused("unknown payment method: the sandbox takes its own test methods only"),
            ),
        };
        self.state = state;
        answer
    }

    pub(super) fn confirm_action(&mut self) -> bool {
        if self.state == State::ActionRequired {
            self.state = State::Authorised {
                capture_fails: false,
            };
            self.confirmed = true;
        }
        self.confirmed
    }

    pub(super) fn capture(&mut self) -> Capture {
        match self.state {
            State::Captured { .. } => Capture::Captured,
            State::Authorised {
                capture_fails: false,
            } => {
                self.state = State::Captured { refunded: Cents(0) };
                Capture::Captured
            }
            State::Authorised {
                capture_fails: true,
            } => Capture::Refused("The bank did not release the money.".into()),
            State::Voided => Capture::Refused("The payment was cancelled.".into()),
            State::Open | State::ActionRequired => Capture::Refused("No money is reserved.".into()),
        }
    }

    pub(super) fn void(&mut self) -> Void {
        if matches!(self.state, State::Captured { .. }) {
            return Void::Captured;
        }
        self.state = State::Voided;
        Void::Voided
    }

    /// A refund says what was refunded before it: asking again for no more than was given
    /// is a repetition, and asking for more, or for a gap, is refused.
    pub(super) fn refund(&mut self, already: Cents, amount: Cents) -> Refund {
        let State::Captured { refunded } = &mut self.state else {
            return Refund::Refused("No money was taken.".into());
        };
        let in_all = Cents(already.0.saturating_add(amount.0));
        if *refunded >= in_all {
            return Refund::Refunded;
        }
        if *refunded != already {
            return Refund::Refused("The payment was refunded before.".into());
        }
        if in_all > self.total.amount {
            return Refund::Refused("The refund is larger than the payment.".into());
        }
        *refunded = in_all;
        Refund::Refunded
    }

    pub(super) fn payment(&self) -> Payment {
        Payment {
            id: self.id.clone(),
            order: Some(self.order),
            total: self.total,
            created: self.created,
            state: match self.state {
                State::Open => PaymentState::Open,
                State::ActionRequired => PaymentState::ActionRequired(Action::ConfirmInSandbox),
                State::Authorised { .. } => PaymentState::Authorised,
                State::Captured { refunded } => PaymentState::Captured { refunded },
                State::Voided => PaymentState::Voided,
            },
        }
    }
}
