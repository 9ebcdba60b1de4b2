//! The fingerprint by which a repeated request is told from another one that
//! carries the same Idempotency-Key.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// Sixteen bytes of SHA-256 over the canonical body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestHash(pub [u8; 16]);

impl RequestHash {
    pub fn of(canonical_body: &[u8]) -> Self {
        let digest = Sha256::digest(canonical_body);
        let mut bytes = [0u8; 16];
        bytes.copy_from_slice(&digest[..16]);
        Self(bytes)
    }
}

/// Sixteen bytes where bytes count, 32 hexadecimal digits where people may read.
impl Serialize for RequestHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match serializer.is_human_readable() {
            true => serializer.collect_str(&format_args!("{:032x}", u128::from_be_bytes(self.0))),
            false => self.0.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for RequestHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !deserializer.is_human_readable() {
            return <[u8; 16]>::deserialize(deserializer).map(Self);
        }
        let text = String::deserialize(deserializer)?;
        u128::from_str_radix(&text, 16)
            .map(|hash| Self(hash.to_be_bytes()))
            .map_err(serde::de::Error::custom)
    }
}

/// A client's name for one write: 1–64 printable ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    pub const MAX_LEN: usize = 64;

    pub fn parse(text: &str) -> Option<Self> {
        let printable = text.bytes().all(|b| (0x20..=0x7e).contains(&b));
        let fits = (1..=Self::MAX_LEN).contains(&text.len());
        (printable && fits).then(|| Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}
