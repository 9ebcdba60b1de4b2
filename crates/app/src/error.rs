//! The one error of all use cases. Each variant says whose turn it is: the caller's
//! (and what to change), or ours (and when to try again).

use onsale_domain::room::pass::PassError;
use onsale_domain::time::Millis;

use crate::ports::StoreError;

pub type Result<T> = std::result::Result<T, Error>;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The request itself is wrong; the text tells what to change.
    #[error("{0}")]
    Invalid(String),
    #[error("log in first")]
    Unauthenticated,
    #[error("the email or the password is wrong")]
    WrongCredentials,
    #[error("{0}")]
    Forbidden(&'static str),
    /// The show has a waiting room, and no pass came along, or one that does not count.
    #[error("this show needs a pass from its waiting room")]
    PassRequired(Option<PassError>),
    /// What somebody would wait for can be held with a pass.
    #[error("these places are sold through the waiting room")]
    FreeInTheRoom,
    #[error("there is no such {0}")]
    NotFound(&'static str),
    #[error("an account with this email exists")]
    EmailTaken,
    /// These places belong to others now. Empty: nothing that fits is left.
    #[error("places are taken")]
    SeatsTaken(Vec<String>),
    /// Places that fit were free each time, and others had them first each time. Nothing
    /// was held.
    #[error("others were faster each time")]
    OthersWereFaster,
    #[error("{reason}")]
    NotOnSale {
        reason: &'static str,
        on_sale_at: Option<Millis>,
    },
    #[error("{0}")]
    Conflict(&'static str),
    #[error("an attempt to pay is under way")]
    RequestInFlight,
    #[error("the hold has expired")]
    HoldExpired,
    #[error("at most {limit} {of}")]
    LimitExceeded { limit: u64, of: &'static str },
    #[error("this Idempotency-Key came with another request before")]
    IdempotencyMismatch,
    /// Whoever asks looks like a program, and has to show some work first.
    #[error("work is required first")]
    WorkRequired,
    #[error("too many requests")]
    RateLimited { retry_after_s: u64 },
    /// Something we depend on did not answer. The write may or may not have happened;
    /// repeating it with the same key is safe.
    #[error("a part of the service does not answer")]
    Unavailable,
    /// A stored value cannot be read. Nothing a caller could do about it.
    #[error("stored data cannot be read")]
    Corrupt,
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::Unavailable(_) => Self::Unavailable,
            StoreError::Corrupt(what) => {
                tracing::error!(what, "stored data cannot be read");
                Self::Corrupt
            }
        }
    }
}
