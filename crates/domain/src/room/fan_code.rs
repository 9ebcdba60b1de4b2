//! Fan codes: what a verified fan types to be drawn first.
//!
//! A code carries its own proof, so the edge tells a real one from an invented one
//! without asking anybody. It is good for one show, and it is one lot for ever: showing
//! it twice gives the same place twice.

use std::fmt;
use std::str::FromStr;
use subtle::ConstantTimeEq;

use super::keyed_hash::{Key, keyed_hash};
use crate::ids::ShowId;

/// Keeps these codes apart from anything else signed under the same key.
const PURPOSE: &[u8] = b"onsale fan code\0";
/// Crockford's base32: no I, L, O or U, which people misread or mind.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
/// Key id, serial and proof. 15 bytes are exactly 24 characters, so no bits are left
/// over and a code has one spelling.
const CODE_BYTES: usize = 1 + 4 + PROOF_BYTES;
/// 80 bits: guessing one code of a show takes more tries than any edge answers.
const PROOF_BYTES: usize = 10;
const CODE_CHARS: usize = 24;
const GROUP_CHARS: usize = 4;
/// People put spaces where they like. Nobody needs more of them than characters.
const MAX_TEXT_BYTES: usize = 2 * CODE_CHARS;
const MAX_KEYS: usize = 8;

/// Which key signed a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FanKeyId(pub u8);

/// The number of a code within its show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FanSerial(pub u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FanCodeError {
    #[error("a fan code is six groups of four letters and digits")]
    Malformed,
    #[error("the fan code is signed with a key that is not known here")]
    UnknownKey,
    #[error("the fan code is not one of this show")]
    NotOfThisShow,
}

/// The bytes of a code that may or may not be real.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FanCode([u8; CODE_BYTES]);

/// Whoever has a code can use it, so it is not for logs.
impl fmt::Debug for FanCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FanCode(…)")
    }
}

impl FanCode {
    fn of(show: ShowId, key_id: FanKeyId, key: &Key, serial: FanSerial) -> Self {
        let serial = serial.0.to_be_bytes();
        let proof = keyed_hash(key, &[PURPOSE, show.as_bytes(), &[key_id.0], &serial]);
        let mut bytes = [0; CODE_BYTES];
        bytes[0] = key_id.0;
        bytes[1..5].copy_from_slice(&serial);
        bytes[5..].copy_from_slice(&proof[..PROOF_BYTES]);
        Self(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; CODE_BYTES] {
        &self.0
    }

    fn key_id(&self) -> FanKeyId {
        FanKeyId(self.0[0])
    }

    fn serial(&self) -> FanSerial {
        let [_, a, b, c, d, ..] = self.0;
        FanSerial(u32::from_be_bytes([a, b, c, d]))
    }
}

/// The one spelling: capitals, six groups of four.
impl fmt::Display for FanCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (group, five) in self.0.chunks(5).enumerate() {
            let number = five.iter().fold(0u64, |n, b| n << 8 | u64::from(*b));
            for place in 0..8 {
                if place % GROUP_CHARS == 0 && group + place > 0 {
                    f.write_str("-")?;
                }
                let digit = (number >> (35 - 5 * place)) & 31;
                let letter = ALPHABET.get(digit as usize).copied().unwrap_or(b'0');
                write!(f, "{}", char::from(letter))?;
            }
        }
        Ok(())
    }
}

/// Takes a code as people type it: any case, spaces and hyphens anywhere or nowhere, and
/// the letters that look like digits for the digits they look like.
impl FromStr for FanCode {
    type Err = FanCodeError;

    fn from_str(text: &str) -> Result<Self, FanCodeError> {
        if text.len() > MAX_TEXT_BYTES {
            return Err(FanCodeError::Malformed);
        }
        let mut digits = [0u8; CODE_CHARS];
        let mut count = 0;
        for letter in text.bytes().filter(|b| !matches!(b, b'-' | b' ')) {
            let digit = digit(letter).ok_or(FanCodeError::Malformed)?;
            *digits.get_mut(count).ok_or(FanCodeError::Malformed)? = digit;
            count += 1;
        }
        if count != CODE_CHARS {
            return Err(FanCodeError::Malformed);
        }
        let mut bytes = [0; CODE_BYTES];
        for (eight, five) in digits.chunks(8).zip(bytes.chunks_mut(5)) {
            let number = eight.iter().fold(0u64, |n, d| n << 5 | u64::from(*d));
            five.copy_from_slice(&number.to_be_bytes()[3..]);
        }
        Ok(Self(bytes))
    }
}

fn digit(letter: u8) -> Option<u8> {
    let letter = match letter.to_ascii_uppercase() {
        b'O' => b'0',
        b'I' | b'L' => b'1',
        other => other,
    };
    let place = ALPHABET.iter().position(|known| *known == letter)?;
    u8::try_from(place).ok()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FanKeysError {
    #[error("a fan key is a number from 0 to 255, a colon and 64 hexadecimal digits")]
    Text,
    #[error("a ring of fan keys has 1 to {MAX_KEYS} keys")]
    Count,
    #[error("two fan keys share an id")]
    Twice,
}

/// The keys whose codes count. The first one signs. The others stay as long as a code of
/// theirs may be shown: a code is never signed anew, or it would be a second lot.
#[derive(Clone)]
pub struct FanKeys {
    keys: Vec<(FanKeyId, Key)>,
}

impl fmt::Debug for FanKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<u8> = self.keys.iter().map(|(id, _)| id.0).collect();
        write!(f, "FanKeys{ids:?}")
    }
}

impl FanKeys {
    /// Key ids with their secrets, the signing key first.
    pub fn new(keys: Vec<(FanKeyId, [u8; 32])>) -> Result<Self, FanKeysError> {
        if !(1..=MAX_KEYS).contains(&keys.len()) {
            return Err(FanKeysError::Count);
        }
        let twice = |(i, key): (usize, &(FanKeyId, Key))| keys[..i].iter().any(|k| k.0 == key.0);
        if keys.iter().enumerate().any(twice) {
            return Err(FanKeysError::Twice);
        }
        Ok(Self { keys })
    }

    /// The key that new codes are signed with. Keep its id with what was issued.
    pub fn signing(&self) -> FanKeyId {
        self.keys[0].0
    }

    /// The code of a serial under the key that it was issued with; `None`: that key is
    /// no longer known here.
    pub fn code(&self, show: ShowId, key: FanKeyId, serial: FanSerial) -> Option<FanCode> {
        let secret = self.secret(key)?;
        Some(FanCode::of(show, key, secret, serial))
    }

    /// Whether the code is one of this show's, and which.
    pub fn verify(&self, show: ShowId, code: &FanCode) -> Result<FanSerial, FanCodeError> {
        let expected = self
            .code(show, code.key_id(), code.serial())
            .ok_or(FanCodeError::UnknownKey)?;
        // Takes the same time wherever the first difference is.
        match bool::from(expected.0.ct_eq(&code.0)) {
            true => Ok(code.serial()),
            false => Err(FanCodeError::NotOfThisShow),
        }
    }

    fn secret(&self, id: FanKeyId) -> Option<&Key> {
        let known = self.keys.iter().find(|(known, _)| *known == id)?;
        Some(&known.1)
    }
}

/// `1:<64 hexadecimal digits>`, several with commas between them, the one that signs
/// first. What is wrong is told without the text: it is a secret.
impl FromStr for FanKeys {
    type Err = FanKeysError;

    fn from_str(text: &str) -> Result<Self, FanKeysError> {
        let key = |entry: &str| {
            let (id, digits) = entry.trim().split_once(':')?;
            let mut secret = Key::default();
            hex::decode_to_slice(digits, &mut secret).ok()?;
            Some((FanKeyId(id.parse().ok()?), secret))
        };
        let keys: Option<Vec<_>> = text.split(',').map(key).collect();
        Self::new(keys.ok_or(FanKeysError::Text)?)
    }
}

#[cfg(test)]
#[path = "fan_code_tests.rs"]
mod tests;
