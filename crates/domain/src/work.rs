//! Proof of work: what a visitor pays for a ticket in the queue.
//!
//! A challenge and its solution travel in the wire format of ALTCHA v2, so that its
//! widget and libraries can take part. Nothing is stored: the challenge carries what it
//! is bound to and a signature. It yields the same bytes however it is solved, so who
//! derives the ticket from them gives one ticket a challenge.

mod challenge;
mod cost;
mod keys;
mod wire;

pub use challenge::{Challenge, Solution, payload};
pub use cost::{Cost, LONGEST_WORK_S, PHONE_HASHES_PER_SECOND, TRIES};
pub use keys::{KeyError, MAX_KEYS, WorkKey, WorkKeyId, WorkKeys};

use challenge::{KeyPrefix, Parameters, derive_key};
use wire::{Hex, Seconds};

use crate::ids::{ShowId, VisitorId};
use crate::time::Millis;

/// Ours have about 750 characters. The rest is for clients that indent.
pub const MAX_PAYLOAD_LEN: usize = 2_048;

/// Random bytes for one challenge, drawn by the caller: nonce, salt, and the counter that
/// solves it. They must be unpredictable, or the work can be skipped.
pub type WorkEntropy = [u8; 34];

/// Whom a challenge is for, and until when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    pub show: ShowId,
    pub visitor: VisitorId,
    /// The wire has whole seconds: a challenge never outlives this, and may end up to a
    /// second before.
    pub expires: Millis,
}

/// How a challenge was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The visitor's machine searched.
    Worked(Cost),
    /// The visitor has no script and waited instead. This costs a robot nothing, so
    /// whoever admits visitors has to ration it.
    Waited,
}

/// A challenge that was met, and everything a ticket may be derived from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Solved {
    signed: String,
    pub visitor: VisitorId,
    pub way: Way,
    pub expires: Millis,
}

impl Solved {
    /// What was signed, in its one spelling. The solution is not in it: a visitor could
    /// grind that for a better place.
    pub fn signed_bytes(&self) -> &[u8] {
        self.signed.as_bytes()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WorkError {
    #[error("this is not a solved challenge")]
    Malformed,
    /// Also when the key is not known here.
    #[error("the signature of the challenge is wrong")]
    BadSignature,
    #[error("the challenge has expired")]
    Expired,
    #[error("the challenge is for another show")]
    WrongShow,
    #[error("the challenge is for another visitor")]
    WrongVisitor,
    #[error("the wait ends at {until}")]
    TooEarly { until: Millis },
    #[error("the solution is wrong")]
    NotSolved,
}

/// A challenge that takes at most [`TRIES`] times the cost in hashes, and half of that on
/// average.
pub fn issue(terms: &Terms, cost: Cost, entropy: &WorkEntropy, keys: &WorkKeys) -> Challenge {
    plant(terms, cost, None, entropy, keys).0
}

/// The way without a script: a payload that is solved already, for a hidden field of a
/// form, and good only from `wait_until` on.
pub fn issue_waiting(
    terms: &Terms,
    wait_until: Millis,
    entropy: &WorkEntropy,
    keys: &WorkKeys,
) -> String {
    let wait_until = Some(Seconds::at_or_after(wait_until));
    let (challenge, solution) = plant(terms, Cost::FLOOR, wait_until, entropy, keys);
    payload(&challenge, &solution)
}

/// Derives the key of a secret counter and asks for a counter that leads there. Unlike a
/// search for leading zeros this ends: the last counter of the range is the worst luck.
fn plant(
    terms: &Terms,
    cost: Cost,
    wait_until: Option<Seconds>,
    entropy: &WorkEntropy,
    keys: &WorkKeys,
) -> (Challenge, Solution) {
    let (mut nonce, mut salt, mut counter) = ([0; 16], [0; 16], [0; 2]);
    nonce.copy_from_slice(&entropy[..16]);
    salt.copy_from_slice(&entropy[16..32]);
    counter.copy_from_slice(&entropy[32..]);
    let counter = u32::from(u16::from_be_bytes(counter));

    let (nonce, salt) = (Hex(nonce), Hex(salt));
    let derived = derive_key(&nonce, &salt, cost, counter);
    let parameters = Parameters {
        show: terms.show,
        visitor: terms.visitor,
        wait_until,
        key: keys.current().id(),
        cost,
        expires_at: Seconds::at_or_before(terms.expires),
        key_prefix: KeyPrefix::of(&derived),
        nonce,
        salt,
    };
    let challenge = parameters.sign(keys.current());
    (challenge, Solution::new(counter, derived))
}

/// Reads what a visitor sent and says whether it earns a ticket for this show. It costs
/// one HMAC, and only then [`Cost`] hashes.
///
/// A visitor who is known has to be the one it is for. A program without cookies is
/// known only by its challenge.
pub fn verify(
    text: &str,
    show: ShowId,
    visitor: impl Into<Option<VisitorId>>,
    now: Millis,
    keys: &WorkKeys,
) -> Result<Solved, WorkError> {
    let (challenge, solution) = challenge::read_payload(text).ok_or(WorkError::Malformed)?;
    let signed = challenge.signed_text(keys).ok_or(WorkError::BadSignature)?;
    let parameters = &challenge.parameters;
    let expires = parameters.expires_at.millis();
    // The last moment counts, as it does in ALTCHA's own libraries.
    if now > expires {
        return Err(WorkError::Expired);
    }
    if parameters.show != show {
        return Err(WorkError::WrongShow);
    }
    if visitor
        .into()
        .is_some_and(|known| known != parameters.visitor)
    {
        return Err(WorkError::WrongVisitor);
    }
    let way = match parameters.wait_until.map(Seconds::millis) {
        Some(until) if now < until => return Err(WorkError::TooEarly { until }),
        Some(_) => Way::Waited,
        None => Way::Worked(parameters.cost),
    };
    if !parameters.is_solved_by(&solution) {
        return Err(WorkError::NotSolved);
    }
    Ok(Solved {
        signed,
        visitor: parameters.visitor,
        way,
        expires,
    })
}

#[cfg(test)]
mod tests;
