//! The secrets under which challenges are signed, and how they change.

use hmac::{Hmac, KeyInit, Mac};
use serde::Deserialize;
use sha2::Sha256;
use std::fmt;
use std::str::FromStr;

use super::wire::Hex;

/// More keys than this are no rotation but a mistake.
pub const MAX_KEYS: usize = 8;

const MIN_SECRET_LEN: usize = 32;
const MAX_SECRET_LEN: usize = 256;

/// What is signed starts with a brace, so this message is never one of those.
const ID_MESSAGE: &[u8] = b"onsale work key id";

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("a work key is {MIN_SECRET_LEN} to {MAX_SECRET_LEN} printable ASCII characters")]
    Text,
    #[error("a ring of work keys has 1 to {MAX_KEYS} keys")]
    Count,
    #[error("a work key appears twice")]
    Twice,
}

/// Says which key to try. ALTCHA has no field for it, so it travels in the signed `data`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(transparent)]
pub struct WorkKeyId(Hex<4>);

impl fmt::Display for WorkKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for WorkKeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A secret that signs challenges.
#[derive(Clone)]
pub struct WorkKey {
    mac: Hmac<Sha256>,
    id: WorkKeyId,
}

impl fmt::Debug for WorkKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WorkKey({})", self.id)
    }
}

impl WorkKey {
    pub fn id(&self) -> WorkKeyId {
        self.id
    }

    pub(super) fn sign(&self, message: &[u8]) -> Hex<32> {
        Hex(self
            .mac
            .clone()
            .chain_update(message)
            .finalize()
            .into_bytes()
            .into())
    }

    fn has_signed(&self, message: &[u8], signature: &Hex<32>) -> bool {
        let mac = self.mac.clone().chain_update(message);
        // Takes the same time wherever the first difference is.
        mac.verify_slice(&signature.0).is_ok()
    }
}

/// ALTCHA's libraries take a secret as text and use its bytes as they are.
impl FromStr for WorkKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let sound = (MIN_SECRET_LEN..=MAX_SECRET_LEN).contains(&text.len())
            && text.bytes().all(|b| b.is_ascii_graphic());
        if !sound {
            return Err(KeyError::Text);
        }
        let mac = Hmac::<Sha256>::new_from_slice(text.as_bytes()).map_err(|_| KeyError::Text)?;
        let digest: [u8; 32] = mac
            .clone()
            .chain_update(ID_MESSAGE)
            .finalize()
            .into_bytes()
            .into();
        let [a, b, c, d, ..] = digest;
        let id = WorkKeyId(Hex([a, b, c, d]));
        Ok(Self { mac, id })
    }
}

/// The key that signs, and others that are accepted too. To change keys, first accept
/// the new one everywhere, then sign with it, and drop the old one when its last
/// challenge has expired.
#[derive(Debug, Clone)]
pub struct WorkKeys {
    current: WorkKey,
    others: Vec<WorkKey>,
}

impl WorkKeys {
    pub fn new(current: WorkKey, others: Vec<WorkKey>) -> Result<Self, KeyError> {
        if others.len() >= MAX_KEYS {
            return Err(KeyError::Count);
        }
        let keys = Self { current, others };
        let mut ids: Vec<_> = keys.all().map(|key| key.id.0).collect();
        ids.sort_unstable();
        if ids.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(KeyError::Twice);
        }
        Ok(keys)
    }

    pub fn current(&self) -> &WorkKey {
        &self.current
    }

    fn all(&self) -> impl Iterator<Item = &WorkKey> {
        std::iter::once(&self.current).chain(&self.others)
    }

    /// The id was not yet believed when it chose the key. It is signed along, so the
    /// choice was right if the signature is; and there is one HMAC, however many keys.
    pub(super) fn have_signed(&self, id: WorkKeyId, message: &[u8], signature: &Hex<32>) -> bool {
        self.all()
            .find(|key| key.id == id)
            .is_some_and(|key| key.has_signed(message, signature))
    }
}

/// Keys with spaces or commas between them, the one that signs first.
impl FromStr for WorkKeys {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let mut secrets = text
            .split(|c: char| c == ',' || c.is_whitespace())
            .filter(|secret| !secret.is_empty());
        let current = secrets.next().ok_or(KeyError::Count)?.parse()?;
        let others = secrets.map(str::parse).collect::<Result<_, _>>()?;
        Self::new(current, others)
    }
}
