//! Verified fans: who may still register for a show, and how many codes it has.

use super::fan_code::{FanKeyId, FanSerial};
use super::opaque::{EmailHash, FanBatchId};
use super::opening::Opening;
use crate::account::Email;
use crate::request_hash::{IdempotencyKey, RequestHash};
use crate::show::{NotOnSale, Show, StoredStatus};
use crate::time::Millis;

/// Codes of one show, given out in bulk or to people who registered. A million codes is
/// more than any hall has seats, and one counter takes a thousand of them a second.
pub const MAX_CODES: u32 = 1_000_000;
/// Whoever registers by themselves takes no code beyond this one: the others are for the
/// organiser to give away, however many robots register.
pub const MAX_REGISTERED: u32 = MAX_CODES / 2;
/// Codes that one request asks for: 300 KB of text.
pub const CODES_AT_ONCE: std::ops::RangeInclusive<u32> = 1..=10_000;

/// Somebody who asked to be drawn first. One address is one code, for ever.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fan {
    pub email: Email,
    /// The key that was signing when they registered; their code stays under it.
    pub key: FanKeyId,
    pub serial: FanSerial,
    pub registered: Millis,
}

/// Codes that were made in one request, so that repeating it gives the same ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FanBatch {
    pub key: FanKeyId,
    pub first: FanSerial,
    pub count: u32,
}

impl FanBatch {
    pub fn serials(&self) -> impl Iterator<Item = FanSerial> + use<> {
        (self.first.0..self.first.0.saturating_add(self.count)).map(FanSerial)
    }
}

impl EmailHash {
    pub fn of(email: &Email) -> Self {
        Self(RequestHash::of(email.as_str().as_bytes()).0)
    }
}

impl FanBatchId {
    /// A show has one organiser, so their key names a batch within it.
    pub fn for_key(key: &IdempotencyKey) -> Self {
        Self(RequestHash::of(key.as_str().as_bytes()).0)
    }
}

/// Why nobody can register any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RegistrationClosed {
    /// The show takes no buyers at all.
    NotOnSale(NotOnSale),
    /// The room is open, or the sale has begun: who comes now is drawn with everybody.
    TooLate,
    /// There is no moment that anybody could be drawn first at.
    NoOpening,
}

/// Fans register until the room opens: a code that came later would overtake people who
/// wait already.
pub fn check_registration(show: &Show, now: Millis) -> Result<(), RegistrationClosed> {
    use RegistrationClosed::*;
    match show.status {
        StoredStatus::Draft => return Err(NotOnSale(self::NotOnSale::Draft)),
        StoredStatus::Cancelled => return Err(NotOnSale(self::NotOnSale::Cancelled)),
        StoredStatus::OnSale => {}
    }
    let opening = Opening::of(show);
    if opening.opens.is_none() {
        return Err(NoOpening);
    }
    let sale_began = show.on_sale_at.is_some_and(|at| at <= now);
    match opening.is_open(now) || sale_began {
        true => Err(TooLate),
        false => Ok(()),
    }
}

#[cfg(test)]
#[path = "fans_tests.rs"]
mod tests;
