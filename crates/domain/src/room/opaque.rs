//! Sixteen bytes that only name something, written as 32 hexadecimal digits.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not 32 hexadecimal digits")]
pub struct NotHex;

fn read(text: &str) -> Result<[u8; 16], NotHex> {
    // The parser of integers takes a sign and capitals too; a name has one spelling only.
    let digits = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if text.len() != 32 || !digits {
        return Err(NotHex);
    }
    u128::from_str_radix(text, 16)
        .map(u128::to_be_bytes)
        .map_err(|_| NotHex)
}

macro_rules! opaque {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub [u8; 16]);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:032x}", u128::from_be_bytes(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = NotHex;

            fn from_str(text: &str) -> Result<Self, NotHex> {
                read(text).map(Self)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.collect_str(self)
                } else {
                    self.0.serialize(serializer)
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    let text = String::deserialize(deserializer)?;
                    text.parse().map_err(serde::de::Error::custom)
                } else {
                    <[u8; 16]>::deserialize(deserializer).map(Self)
                }
            }
        }
    };
}

opaque!(
    /// What a ticket draws with: one challenge or one fan code is one lot, for ever.
    Lot
);
opaque!(
    /// An admission pass; the `jti` of its token.
    PassId
);
opaque!(
    /// The address of a fan, hashed: keys of the store name nobody.
    EmailHash
);
opaque!(
    /// Fan codes that were made in one request.
    FanBatchId
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_spelling() {
        let lot = Lot([0x0a; 16]);
        let text = lot.to_string();
        assert_eq!(text, "0a".repeat(16));
        assert_eq!(text.parse(), Ok(lot));
        let plus = format!("+{}", &text[1..]);
        for wrong in [text.to_uppercase(), text[1..].to_owned(), plus] {
            assert_eq!(wrong.parse::<Lot>(), Err(NotHex), "{wrong}");
        }
        assert_eq!(serde_json::to_string(&lot).unwrap(), format!("\"{text}\""));
        assert_eq!(
            serde_json::from_str::<Lot>(&format!("\"{text}\"")).unwrap(),
            lot
        );
    }
}
