//! Queue tickets: signed texts that carry their own place, so that waiting needs no state.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use std::fmt;
use subtle::ConstantTimeEq;

use super::keyed_hash::{Key, keyed_hash};
use super::opaque::Lot;
use super::opening::Bucket;
use crate::ids::{ShowId, VisitorId};
use crate::time::Millis;

/// Keeps these signatures apart from anything else signed under the same key.
const PURPOSE: &[u8] = b"onsale queue ticket\0";
const CHALLENGE_LOT: &[u8] = b"onsale lot of a challenge\0";
const FAN_LOT: &[u8] = b"onsale lot of a fan code\0";
const FORMAT: u8 = 1;
const CLAIMS_LEN: usize = 63;
const BYTES_LEN: usize = CLAIMS_LEN + 32;
/// 95 bytes in base64url without padding.
pub const TICKET_LEN: usize = 127;
const MAX_KEYS: usize = 8;
/// A ticket serves for a day of waiting, counted from the opening for those who came before.
pub(super) const TICKET_MS: u64 = 24 * 3_600_000;

/// Verified fans come first within their bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Band {
    Fan,
    Everybody,
}

impl Lot {
    /// One signed challenge is one lot, however it was solved: a lot that depended on the
    /// solution could be ground until it pleased. The key is secret, or somebody could
    /// hoard challenges, wait for the seed, and solve only those that draw well.
    pub fn of_challenge(key: &Key, signed: &[u8]) -> Self {
        Self::hashed(key, CHALLENGE_LOT, signed)
    }

    pub fn of_fan_code(key: &Key, code: &[u8]) -> Self {
        Self::hashed(key, FAN_LOT, code)
    }

    fn hashed(key: &Key, purpose: &[u8], bytes: &[u8]) -> Self {
        let mut lot = [0; 16];
        lot.copy_from_slice(&keyed_hash(key, &[purpose, bytes])[..16]);
        Self(lot)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueTicket {
    pub show: ShowId,
    pub bucket: Bucket,
    pub band: Band,
    pub lot: Lot,
    pub visitor: VisitorId,
    pub expires: Millis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TicketError {
    #[error("this is not a queue ticket")]
    Malformed,
    #[error("the queue ticket is signed with a key that is not known here")]
    UnknownKey,
    #[error("the signature of the queue ticket is wrong")]
    BadSignature,
    #[error("the queue ticket has expired")]
    Expired,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RingError {
    #[error("a ring has 1 to {MAX_KEYS} keys")]
    Count,
    #[error("two keys of a ring share an id")]
    Twice,
}

/// The keys whose tickets count. The first one signs; the others outlive their tickets.
#[derive(Clone)]
pub struct TicketRing {
    keys: Vec<(u8, Key)>,
}

impl fmt::Debug for TicketRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<u8> = self.keys.iter().map(|(id, _)| *id).collect();
        write!(f, "TicketRing{ids:?}")
    }
}

impl TicketRing {
    /// Key ids with their secrets, the signing key first.
    pub fn new(keys: Vec<(u8, Key)>) -> Result<Self, RingError> {
        if !(1..=MAX_KEYS).contains(&keys.len()) {
            return Err(RingError::Count);
        }
        let twice = |(i, key): (usize, &(u8, Key))| keys[..i].iter().any(|k| k.0 == key.0);
        if keys.iter().enumerate().any(twice) {
            return Err(RingError::Twice);
        }
        Ok(Self { keys })
    }

    /// The same ticket always has the same text under the same key.
    pub fn sign(&self, ticket: &QueueTicket) -> String {
        let (id, key) = &self.keys[0];
        let claims = write_claims(*id, ticket);
        let mut bytes = [0; BYTES_LEN];
        bytes[..CLAIMS_LEN].copy_from_slice(&claims);
        bytes[CLAIMS_LEN..].copy_from_slice(&keyed_hash(key, &[PURPOSE, &claims]));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// The ticket, if it is one of ours and still serves in a room that opens then.
    pub fn verify(
        &self,
        text: &str,
        opens: Option<Millis>,
        now: Millis,
    ) -> Result<QueueTicket, TicketError> {
        let bytes = read_text(text).ok_or(TicketError::Malformed)?;
        let (claims, signature) = bytes.split_at(CLAIMS_LEN);
        let (id, ticket) = read_claims(claims).ok_or(TicketError::Malformed)?;
        let (_, key) = self
            .keys
            .iter()
            .find(|(known, _)| *known == id)
            .ok_or(TicketError::UnknownKey)?;
        let expected = keyed_hash(key, &[PURPOSE, claims]);
        if !bool::from(expected.ct_eq(signature)) {
            return Err(TicketError::BadSignature);
        }
        if ticket.serves_until(opens) <= now {
            return Err(TicketError::Expired);
        }
        Ok(ticket)
    }
}

impl QueueTicket {
    /// Until when it lets its owner in. It was signed for the opening as it was known then;
    /// one that is put off by days takes nobody's place away.
    pub fn serves_until(&self, opens: Option<Millis>) -> Millis {
        opens.map_or(self.expires, |opens| self.expires.max(opens + TICKET_MS))
    }

    /// A copy for its owner to look at: it gives the same draw, and lets nobody in.
    pub fn unsigned(&self) -> String {
        let shown = Self {
            visitor: VisitorId::from_bytes([0; 16]),
            ..*self
        };
        let mut bytes = [0; BYTES_LEN];
        bytes[..CLAIMS_LEN].copy_from_slice(&write_claims(0, &shown));
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// What a ticket says, whoever signed it: enough for its owner to recompute their draw.
    pub fn read_unverified(text: &str) -> Result<Self, TicketError> {
        let bytes = read_text(text).ok_or(TicketError::Malformed)?;
        let (_, ticket) = read_claims(&bytes[..CLAIMS_LEN]).ok_or(TicketError::Malformed)?;
        Ok(ticket)
    }
}

/// The decoder refuses padding and stray bits at the end, so a ticket has one spelling.
fn read_text(text: &str) -> Option<[u8; BYTES_LEN]> {
    if text.len() != TICKET_LEN {
        return None;
    }
    let mut bytes = [0; BYTES_LEN];
    let written = URL_SAFE_NO_PAD.decode_slice(text, &mut bytes).ok()?;
    (written == BYTES_LEN).then_some(bytes)
}

fn write_claims(key: u8, ticket: &QueueTicket) -> [u8; CLAIMS_LEN] {
    let mut bytes = [0; CLAIMS_LEN];
    bytes[0] = FORMAT;
    bytes[1] = key;
    bytes[2..18].copy_from_slice(ticket.show.as_bytes());
    bytes[18..22].copy_from_slice(&ticket.bucket.0.to_be_bytes());
    bytes[22] = match ticket.band {
        Band::Fan => 0,
        Band::Everybody => 1,
    };
    bytes[23..39].copy_from_slice(&ticket.lot.0);
    bytes[39..55].copy_from_slice(ticket.visitor.as_bytes());
    bytes[55..].copy_from_slice(&ticket.expires.0.to_be_bytes());
    bytes
}

fn read_claims(bytes: &[u8]) -> Option<(u8, QueueTicket)> {
    let (&[format, key], bytes) = bytes.split_first_chunk()?;
    let (show, bytes) = bytes.split_first_chunk()?;
    let (bucket, bytes) = bytes.split_first_chunk()?;
    let (&[band], bytes) = bytes.split_first_chunk()?;
    let (lot, bytes) = bytes.split_first_chunk()?;
    let (visitor, bytes) = bytes.split_first_chunk()?;
    let ticket = QueueTicket {
        show: ShowId::from_bytes(*show),
        bucket: Bucket(u32::from_be_bytes(*bucket)),
        band: match band {
            0 => Band::Fan,
            1 => Band::Everybody,
            _ => return None,
        },
        lot: Lot(*lot),
        visitor: VisitorId::from_bytes(*visitor),
        expires: Millis(u64::from_be_bytes(bytes.try_into().ok()?)),
    };
    (format == FORMAT).then_some((key, ticket))
}

#[cfg(test)]
#[path = "ticket_tests.rs"]
mod tests;
