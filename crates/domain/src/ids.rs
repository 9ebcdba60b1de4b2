//! Typed ids: a prefix and a UUID in simple form, such as `shw_0192…`.
//!
//! The domain never makes randomness: an id is built from bytes the caller drew, or
//! derived from a client's Idempotency-Key so that a retry meets its own work.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;
use uuid::Uuid;

use crate::layout::PlaceIndex;
use crate::time::Millis;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not an id of the form {prefix}_ and 32 hexadecimal digits")]
pub struct InvalidId {
    pub prefix: &'static str,
}

/// Random bytes for one id, drawn by the caller.
pub type IdEntropy = [u8; 10];

/// A UUID derived from its parts: the same parts always give the same id. Every part
/// is length-prefixed, so that no two lists of parts run together.
fn derived_uuid(parts: &[&[u8]]) -> Uuid {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digest = hash.finalize();
    let mut bytes = [0u8; 16];
    bytes.copy_from_slice(&digest[..16]);
    uuid::Builder::from_custom_bytes(bytes).into_uuid()
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Uuid);

        impl $name {
            pub const PREFIX: &'static str = $prefix;

            /// A new id, ordered by time.
            pub fn new(now: Millis, entropy: IdEntropy) -> Self {
                Self(uuid::Builder::from_unix_timestamp_millis(now.0, &entropy).into_uuid())
            }

            /// The id that these parts name: a retry with the same parts finds the same id.
            pub fn derived(parts: &[&[u8]]) -> Self {
                let mut all: Vec<&[u8]> = vec![$prefix.as_bytes()];
                all.extend_from_slice(parts);
                Self(derived_uuid(&all))
            }

            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }

            pub fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }

            /// The 32 hexadecimal digits without the prefix.
            pub fn simple(&self) -> uuid::fmt::Simple {
                self.0.simple()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "_{}"), self.0.simple())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                let invalid = InvalidId { prefix: $prefix };
                let digits = text
                    .strip_prefix(concat!($prefix, "_"))
                    .ok_or_else(|| invalid.clone())?;
                // The parser of `uuid` takes hyphens, braces and capitals too. An id has
                // one spelling only, or two URLs would name one thing.
                let simple = digits.len() == 32
                    && digits.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
                if !simple {
                    return Err(invalid);
                }
                Uuid::try_parse(digits).map(Self).map_err(|_| invalid)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.collect_str(self)
                } else {
                    self.0.as_bytes().serialize(serializer)
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    let text = String::deserialize(deserializer)?;
                    text.parse().map_err(serde::de::Error::custom)
                } else {
                    <[u8; 16]>::deserialize(deserializer).map(Self::from_bytes)
                }
            }
        }
    };
}

id!(AccountId, "acc");
id!(VenueId, "ven");
id!(EventId, "evt");
id!(ShowId, "shw");
id!(
    /// A hold. Its order and the owner in its cells share the UUID.
    HoldId,
    "hld"
);
id!(
    /// An order: a hold that is being paid, under the hold's UUID.
    OrderId,
    "ord"
);
id!(TicketId, "tkt");
id!(
    /// A ticket that goes from one owner to another.
    TransferId,
    "trf"
);
id!(
    /// A list that an organiser takes away.
    ExportId,
    "exp"
);
id!(
    /// One log-in; the `jti` of its token.
    SessionId,
    "ses"
);
id!(
    /// A browser or app that came to a waiting room, known by a random id in a cookie.
    VisitorId,
    "vis"
);
id!(
    /// Somebody asked for a link that sets a password. It is no secret.
    ResetId,
    "rst"
);
id!(
    /// An entry of the audit trail; it follows from the change that it is about.
    AuditId,
    "aud"
);

id!(
    /// A place in the line of a show's waitlist.
    WaitlistId,
    "wls"
);

impl HoldId {
    /// The hold of an offer from the waitlist. Whoever carries the offer out, again or
    /// at the same time, means the same hold; the next offer is another one.
    pub fn for_offer(entry: WaitlistId, attempt: u32) -> Self {
        Self::derived(&[b"offer", entry.as_bytes(), &attempt.to_be_bytes()])
    }

    /// The hold that this account's key names in this show. A retry derives the same
    /// id and so meets its own cells.
    pub fn for_key(account: AccountId, show: ShowId, idempotency_key: &str) -> Self {
        Self::derived(&[
            account.as_bytes(),
            show.as_bytes(),
            idempotency_key.as_bytes(),
        ])
    }
}

impl OrderId {
    pub fn of(hold: HoldId) -> Self {
        Self::from_bytes(*hold.as_bytes())
    }

    pub fn hold(self) -> HoldId {
        HoldId::from_bytes(*self.as_bytes())
    }
}

impl TicketId {
    /// The ticket of one place of an order. Whoever issues or revokes it, again or at the
    /// same time, means the same ticket.
    pub fn of(order: OrderId, place: PlaceIndex) -> Self {
        Self::derived(&[order.as_bytes(), &place.0.to_be_bytes()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_has_one_spelling() {
        let id = ShowId::new(Millis(1_800_000_000_000), [7; 10]);
        let text = id.to_string();
        assert_eq!(text.parse::<ShowId>(), Ok(id));
        for wrong in [
            text.to_uppercase(),
            text.replace("shw_", "evt_"),
            text.replace("shw_", ""),
            format!("{text}0"),
            format!("shw_{}", Uuid::nil().hyphenated()),
            String::new(),
        ] {
            assert!(wrong.parse::<ShowId>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_same_key_names_the_same_hold_and_another_key_another() {
        let account = AccountId::from_bytes([1; 16]);
        let show = ShowId::from_bytes([2; 16]);
        assert_eq!(
            HoldId::for_key(account, show, "k"),
            HoldId::for_key(account, show, "k")
        );
        assert_ne!(
            HoldId::for_key(account, show, "k"),
            HoldId::for_key(account, show, "l")
        );
        let other = ShowId::from_bytes([3; 16]);
        assert_ne!(
            HoldId::for_key(account, show, "k"),
            HoldId::for_key(account, other, "k")
        );
    }
}
