//! A mail on its way: `due → sending → sent`, each step a write on its version.
//!
//! Only whoever stored `sending` may send. A worker that dies after that leaves the mail
//! in `sending`; once its time is surely over, the mail is sent again. Besides, a
//! mail that was given up without an answer may have arrived, and is sent anew when an
//! operator lets it go. Nobody gets a mail twice in any other way.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::account::Email;
use crate::announcement::News;
use crate::ids::AccountId;
use crate::letter::Composed;
use crate::password_reset::ResetPurpose;
use crate::room::opaque::EmailHash;
use crate::time::{CLOCK_SKEW_MS, Millis};

/// Whoever is sending for longer than this has died: a worker ends after a minute, and
/// clocks disagree by seconds.
pub const SENDING_MS: u64 = 2 * 60_000 + CLOCK_SKEW_MS;
/// A mail that has not moved this long after it was due was forgotten.
const FORGOTTEN_MS: u64 = 2 * 60_000;
/// With pauses up to a quarter of an hour this is about half a day.
pub const MAX_TRIES: u32 = 50;
/// A message is not delivered any more after this: queues keep one for two weeks.
const TOLD_AGAIN_MS: u64 = 30 * 24 * 3_600_000;
const FIRST_PAUSE_S: u32 = 5;
const LONGEST_PAUSE_S: u32 = 900;

/// What happened and who is told: `OrderConfirmed:ord_…:acc_…`. The same news for the same
/// person is the same mail.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MailId(String);

impl MailId {
    pub fn of(announcement_id: &str, to: &Recipient) -> Self {
        Self(match to {
            Recipient::Account(account) => format!("{announcement_id}:{account}"),
            // Ids reach keys and logs, where no address belongs.
            Recipient::Address(email) => {
                format!("{announcement_id}:eml_{}", EmailHash::of(email))
            }
            Recipient::Nobody => announcement_id.to_owned(),
        })
    }

    /// An id that was read from a key of the store.
    pub fn stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for MailId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recipient {
    Account(AccountId),
    /// Somebody who may have no account.
    Address(Email),
    /// Somebody who has left, or to whom nothing was sent: nobody knows who it was.
    Nobody,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailState {
    Due {
        tries: u32,
        not_before: Millis,
    },
    Sending {
        tries: u32,
        since: Millis,
    },
    /// `digest` is the SHA-256 of the whole message, in hexadecimal.
    Sent {
        at: Millis,
        digest: String,
    },
    /// It cannot be sent, and somebody may want to look.
    Parked {
        at: Millis,
        reason: String,
    },
    /// There is nothing to say any more.
    Dropped {
        at: Millis,
        why: Dropped,
    },
}

/// Why a mail was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dropped {
    /// Its recipient has no account any more.
    NobodyThere,
    /// What it would say is over, such as an offer that has lapsed.
    TooLate,
    /// Something else happened meanwhile, or another mail says it.
    Overtaken,
    /// The address bounced or its owner complained, and they can do without this.
    Unwelcome,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mail {
    pub id: MailId,
    pub to: Recipient,
    /// `None`: forgotten, with the person it was for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub news: Option<News>,
    /// When it happened.
    pub at: Millis,
    pub state: MailState,
    /// Every value of the letter, from the first time it is sent on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composed: Option<Composed>,
    pub created: Millis,
    pub forget_at: Millis,
}

/// Whether a worker may send a mail now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    Now,
    /// Somebody is sending it, or it waits for its next try.
    Later,
    Over,
}

impl Mail {
    pub fn due(
        announcement_id: &str,
        at: Millis,
        news: News,
        to: Recipient,
        now: Millis,
        forget_at: Millis,
    ) -> Self {
        Self {
            id: MailId::of(announcement_id, &to),
            to,
            news: Some(news),
            at,
            state: MailState::Due {
                tries: 0,
                not_before: now,
            },
            composed: None,
            created: now,
            forget_at,
        }
    }

    pub fn take(&self, now: Millis) -> Take {
        match self.state {
            MailState::Due { not_before, .. } if now + CLOCK_SKEW_MS < not_before => Take::Later,
            MailState::Due { .. } => Take::Now,
            MailState::Sending { since, .. } if now < since + SENDING_MS => Take::Later,
            MailState::Sending { .. } => Take::Now,
            MailState::Sent { .. } | MailState::Parked { .. } | MailState::Dropped { .. } => {
                Take::Over
            }
        }
    }

    /// When somebody should look at it, if nothing has happened by then; `None`: never.
    pub fn look_at(&self) -> Option<Millis> {
        match self.state {
            MailState::Due { not_before, .. } => Some(not_before + FORGOTTEN_MS),
            MailState::Sending { since, .. } => Some(since + SENDING_MS),
            MailState::Sent { .. } | MailState::Parked { .. } | MailState::Dropped { .. } => None,
        }
    }

    /// How often it was tried before.
    pub fn tries(&self) -> u32 {
        match self.state {
            MailState::Due { tries, .. } | MailState::Sending { tries, .. } => tries,
            _ => 0,
        }
    }

    fn at_state(&self, state: MailState) -> Self {
        Self {
            state,
            ..self.clone()
        }
    }

    /// Whoever stores this may send, and nobody else.
    pub fn sending(&self, composed: Composed, now: Millis) -> Self {
        let tries = self.tries();
        Self {
            composed: Some(composed),
            ..self.at_state(MailState::Sending { tries, since: now })
        }
    }

    pub fn sent(&self, digest: String, now: Millis) -> Self {
        self.at_state(MailState::Sent { at: now, digest })
    }

    /// It could not be sent now: after so many seconds again. `None`: it was tried often
    /// enough.
    pub fn put_off(&self, now: Millis) -> Option<(Self, u32)> {
        let tries = self.tries();
        if tries >= MAX_TRIES {
            return None;
        }
        let doubled = FIRST_PAUSE_S.saturating_mul(1u32.checked_shl(tries).unwrap_or(u32::MAX));
        let pause_s = doubled.min(LONGEST_PAUSE_S);
        let state = MailState::Due {
            tries: tries + 1,
            not_before: now + u64::from(pause_s) * 1_000,
        };
        Some((self.at_state(state), pause_s))
    }

    pub fn parked(&self, reason: String, now: Millis) -> Self {
        self.at_state(MailState::Parked { at: now, reason })
    }

    /// Since when nobody sends it; `None`: it is not parked.
    pub fn parked_since(&self) -> Option<Millis> {
        match self.state {
            MailState::Parked { at, .. } => Some(at),
            _ => None,
        }
    }

    /// Somebody has looked at a parked mail: it is due again, and written anew, since what
    /// it would have said may be over by now. `None`: it is not parked.
    pub fn resend(&self, now: Millis) -> Option<Self> {
        self.parked_since()?;
        Some(Self {
            composed: None,
            ..self.at_state(MailState::Due {
                tries: 0,
                not_before: now,
            })
        })
    }

    /// Nothing is sent; and an address that nothing was sent to is not kept.
    pub fn dropped(&self, why: Dropped, now: Millis) -> Self {
        let dropped = self.at_state(MailState::Dropped { at: now, why });
        match self.to {
            Recipient::Address(_) => dropped.without_person(),
            Recipient::Account(_) | Recipient::Nobody => dropped,
        }
    }

    /// Its recipient, or whoever it names, has left: what it said and to whom is forgotten.
    /// The mail stays for as long as its news may be told again, so that this makes no new
    /// one. `None`: it was forgotten before.
    pub fn forgotten(&self, now: Millis) -> Option<Self> {
        if self.to == Recipient::Nobody && self.composed.is_none() {
            return None;
        }
        let mut next = self.without_person();
        next.forget_at = self.forget_at.min(now + TOLD_AGAIN_MS);
        if !matches!(self.state, MailState::Sent { .. }) {
            // A reason why it was parked may name somebody as well.
            let why = Dropped::NobodyThere;
            next.state = MailState::Dropped { at: now, why };
        }
        Some(next)
    }

    fn without_person(&self) -> Self {
        Self {
            to: Recipient::Nobody,
            news: None,
            composed: None,
            ..self.clone()
        }
    }

    /// Whether it is about money, tickets that somebody has, or a password: then it is sent
    /// whatever came back of other mails.
    pub fn is_essential(&self) -> bool {
        !matches!(
            self.news,
            Some(
                News::OfferMade(_)
                    | News::OfferLapsed(_)
                    | News::TransferOffered { .. }
                    | News::TurnCame { .. }
            )
        )
    }

    /// What it is about, for counting.
    pub fn kind(&self) -> &'static str {
        let Some(news) = &self.news else {
            return "none";
        };
        match news {
            News::OrderConfirmed(_) => "confirmation",
            News::OrderDeclined(_) => "decline",
            News::OrderCancelled(_) => "cancellation",
            News::RefundIssued { .. } => "refund",
            News::OfferMade(_) => "offer",
            News::OfferLapsed(_) => "offer_lapsed",
            News::TicketResold(_) => "resold",
            News::ShowChanged { .. } => "show_changed",
            News::ShowCancelled { .. } => "show_cancelled",
            News::TransferOffered { .. } => "transfer",
            News::PasswordResetAsked { purpose, .. } => match purpose {
                ResetPurpose::Reset => "password_reset",
                ResetPurpose::Invitation => "invitation",
                ResetPurpose::LogIn => "log_in_link",
                ResetPurpose::ProveAddress => "prove_address",
            },
            News::TurnCame { .. } => "your_turn",
            News::SeatsReturned { .. }
            | News::SagaStuck { .. }
            | News::TransferAccepted { .. }
            | News::EventChanged { .. } => "none",
        }
    }
}

/// The SHA-256 of a whole message, in hexadecimal.
pub fn digest(message: &[u8]) -> String {
    hex::encode(Sha256::digest(message))
}

#[cfg(test)]
#[path = "mail_tests.rs"]
mod tests;
