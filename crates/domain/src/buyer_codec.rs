//! The bytes of a buyer item: a version, then postcard. A few holds stay under 1 KB, so
//! that every write of a buyer costs one unit.

use crate::buyer::Buyer;

/// Entries and what was given back.
const PLAIN: u8 = 1;
/// The same, and the last pass: 16 bytes more.
const WITH_PASS: u8 = 2;

impl Buyer {
    pub fn encode(&self) -> Vec<u8> {
        let parts = (&self.entries, &self.given_back);
        let (version, body) = match self.last_pass {
            None => (PLAIN, postcard::to_allocvec(&parts)),
            Some(pass) => (WITH_PASS, postcard::to_allocvec(&(parts.0, parts.1, pass))),
        };
        let mut bytes = vec![version];
        // Writing plain values to a growing vector cannot fail.
        bytes.extend(body.unwrap_or_default());
        bytes
    }

    pub fn decode(version: u64, bytes: &[u8]) -> Option<Self> {
        let (entries, given_back, last_pass) = match bytes.split_first()? {
            (&PLAIN, body) => {
                let (entries, given_back) = postcard::from_bytes(body).ok()?;
                (entries, given_back, None)
            }
            (&WITH_PASS, body) => {
                let (entries, given_back, pass) = postcard::from_bytes(body).ok()?;
                (entries, given_back, Some(pass))
            }
            _ => return None,
        };
        Some(Self {
            version,
            entries,
            given_back,
            last_pass,
        })
    }
}
