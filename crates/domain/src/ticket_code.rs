//! The code of a ticket: what its QR symbol says, and who may have written it.
//!
//! A code is 42 bytes of claims and an Ed25519 signature over them, in base32. A gate
//! with the public keys tells a real code from a forged one without asking anybody;
//! whether the ticket is still good is the business of `ticket.rs`.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use sha2::{Digest, Sha256};
use std::fmt;
use std::str::FromStr;

use crate::ids::{ShowId, TicketId};
use crate::layout::PlaceIndex;

const FORMAT: u8 = 1;
const CLAIMS_LEN: usize = 42; // format 1 + key id 4 + ticket 16 + show 16 + place 4 + serial 1
const SIGNATURE_LEN: usize = 64;
const BYTES_LEN: usize = CLAIMS_LEN + SIGNATURE_LEN;

/// The characters of a code: 106 bytes at five bits each. A version 7-M QR symbol holds
/// 178 characters of its alphanumeric mode, and base32 is a part of that alphabet.
pub const CODE_LEN: usize = (BYTES_LEN * 8).div_ceil(5);

/// More keys than this are no rotation but a mistake.
pub const MAX_KEYS: usize = 8;

/// The same key signs nothing else under this prefix, so a code can never be passed off
/// as another document, nor another document as a code.
const PURPOSE: &[u8] = b"onsale ticket code\0";

/// What a code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TicketClaims {
    pub ticket: TicketId,
    pub show: ShowId,
    pub place: PlaceIndex,
    pub serial: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CodeError {
    #[error("this is not a ticket code")]
    Malformed,
    #[error("the code is signed with a key that is not known here")]
    UnknownKey,
    #[error("the signature of the code is wrong")]
    BadSignature,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("a ticket key is 32 bytes in base64url without padding")]
    Text,
    #[error("these bytes are not a sound Ed25519 public key")]
    Point,
    #[error("a set of ticket keys has 1 to {MAX_KEYS} keys")]
    Count,
    #[error("a ticket key appears twice")]
    Twice,
}

/// The first bytes of the SHA-256 of a public key. It only says which key to try.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct KeyId([u8; 4]);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", u32::from_be_bytes(self.0))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The secret that makes codes. Its memory is wiped when it is dropped.
pub struct TicketKey {
    secret: SigningKey,
    id: KeyId,
}

impl fmt::Debug for TicketKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TicketKey({})", self.id)
    }
}

impl TicketKey {
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        let secret = SigningKey::from_bytes(bytes);
        let id = TicketPublicKey(secret.verifying_key()).id();
        Self { secret, id }
    }

    pub fn public(&self) -> TicketPublicKey {
        TicketPublicKey(self.secret.verifying_key())
    }

    /// The code of these claims. Ed25519 draws no randomness: the same claims always have
    /// the same code.
    pub fn sign(&self, claims: &TicketClaims) -> String {
        let mut bytes = [0; BYTES_LEN];
        bytes[..CLAIMS_LEN].copy_from_slice(&write_claims(self.id, claims));
        let signature = self.secret.sign(&signed_message(&bytes[..CLAIMS_LEN]));
        bytes[CLAIMS_LEN..].copy_from_slice(&signature.to_bytes());
        base32(&bytes)
    }
}

/// A secret key as text: 32 bytes in base64url without padding.
impl FromStr for TicketKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        Ok(Self::from_bytes(&key_bytes(text)?))
    }
}

/// The members of a JSON Web Key that depend on the key; the others are always
/// `"kty":"OKP"`, `"crv":"Ed25519"`, `"alg":"EdDSA"` and `"use":"sig"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jwk {
    /// The key id that codes carry, as eight hexadecimal digits.
    pub kid: String,
    /// The public key in base64url.
    pub x: String,
}

/// What a gate needs to check codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TicketPublicKey(VerifyingKey);

impl TicketPublicKey {
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, KeyError> {
        let key = VerifyingKey::from_bytes(bytes).map_err(|_| KeyError::Point)?;
        // Under a key of small order anybody can sign anything.
        if key.is_weak() {
            return Err(KeyError::Point);
        }
        Ok(Self(key))
    }

    pub fn id(&self) -> KeyId {
        let digest = Sha256::digest(self.0.as_bytes());
        KeyId([digest[0], digest[1], digest[2], digest[3]])
    }

    pub fn jwk(&self) -> Jwk {
        Jwk {
            kid: self.id().to_string(),
            x: self.to_string(),
        }
    }
}

impl fmt::Display for TicketPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0.as_bytes()))
    }
}

impl FromStr for TicketPublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        Self::from_bytes(&key_bytes(text)?)
    }
}

/// The public keys whose codes count, newest first. An old key stays until the last
/// show sold under it is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TicketKeys(Vec<TicketPublicKey>);

impl TicketKeys {
    pub fn new(newest_first: Vec<TicketPublicKey>) -> Result<Self, KeyError> {
        if !(1..=MAX_KEYS).contains(&newest_first.len()) {
            return Err(KeyError::Count);
        }
        let twice = |(i, key)| newest_first[..i].contains(key);
        if newest_first.iter().enumerate().any(twice) {
            return Err(KeyError::Twice);
        }
        Ok(Self(newest_first))
    }

    pub fn iter(&self) -> impl Iterator<Item = &TicketPublicKey> {
        self.0.iter()
    }

    /// What `/.well-known/jwks.json` lists.
    pub fn jwks(&self) -> Vec<Jwk> {
        self.iter().map(TicketPublicKey::jwk).collect()
    }

    /// What a code says, once one of these keys vouches for it.
    pub fn verify(&self, code: &str) -> Result<TicketClaims, CodeError> {
        let bytes = from_base32(code.as_bytes()).ok_or(CodeError::Malformed)?;
        let (claims, signature) = bytes.split_at(CLAIMS_LEN);
        let (key_id, says) = read_claims(claims).ok_or(CodeError::Malformed)?;
        let signature = Signature::from_slice(signature).map_err(|_| CodeError::BadSignature)?;
        let message = signed_message(claims);
        // Two keys may share an id of four bytes; then each of them may vouch.
        let mut verdict = Err(CodeError::UnknownKey);
        for key in self.0.iter().filter(|key| key.id() == key_id) {
            if key.0.verify_strict(&message, &signature).is_ok() {
                return Ok(says);
            }
            verdict = Err(CodeError::BadSignature);
        }
        verdict
    }
}

/// Public keys as text: base64url without padding, newest first, separated by commas.
impl FromStr for TicketKeys {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let keys: Result<_, _> = text
            .split(',')
            .take(MAX_KEYS + 1)
            .map(|key| key.trim().parse())
            .collect();
        Self::new(keys?)
    }
}

impl fmt::Display for TicketKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, key) in self.iter().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            fmt::Display::fmt(key, f)?;
        }
        Ok(())
    }
}

fn key_bytes(text: &str) -> Result<[u8; 32], KeyError> {
    if text.len() != 43 {
        return Err(KeyError::Text);
    }
    let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| KeyError::Text)?;
    bytes.try_into().map_err(|_| KeyError::Text)
}

fn signed_message(claims: &[u8]) -> Vec<u8> {
    [PURPOSE, claims].concat()
}

fn write_claims(key: KeyId, claims: &TicketClaims) -> [u8; CLAIMS_LEN] {
    let mut bytes = [0; CLAIMS_LEN];
    bytes[0] = FORMAT;
    bytes[1..5].copy_from_slice(&key.0);
    bytes[5..21].copy_from_slice(claims.ticket.as_bytes());
    bytes[21..37].copy_from_slice(claims.show.as_bytes());
    bytes[37..41].copy_from_slice(&claims.place.0.to_be_bytes());
    bytes[41] = claims.serial;
    bytes
}

fn read_claims(bytes: &[u8]) -> Option<(KeyId, TicketClaims)> {
    let (format, bytes) = bytes.split_first()?;
    let (key, bytes) = bytes.split_first_chunk()?;
    let (ticket, bytes) = bytes.split_first_chunk()?;
    let (show, bytes) = bytes.split_first_chunk()?;
    let (place, serial) = bytes.split_first_chunk()?;
    let claims = TicketClaims {
        ticket: TicketId::from_bytes(*ticket),
        show: ShowId::from_bytes(*show),
        place: PlaceIndex(u32::from_be_bytes(*place)),
        serial: *serial.first()?,
    };
    (*format == FORMAT).then_some((KeyId(*key), claims))
}

/// RFC 4648 base32, upper case, without padding.
const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

fn base32(bytes: &[u8; BYTES_LEN]) -> String {
    let mut text = String::with_capacity(CODE_LEN);
    let mut waiting = 0u32;
    let mut bits = 0;
    for byte in bytes {
        waiting = waiting << 8 | u32::from(*byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            text.push(char::from(ALPHABET[(waiting >> bits & 31) as usize]));
        }
    }
    if bits > 0 {
        text.push(char::from(ALPHABET[(waiting << (5 - bits) & 31) as usize]));
    }
    text
}

/// Exactly what [`base32`] writes: every code has one spelling, so a list of used codes
/// cannot be walked around by writing one differently.
fn from_base32(text: &[u8]) -> Option<[u8; BYTES_LEN]> {
    if text.len() != CODE_LEN {
        return None;
    }
    let mut bytes = [0; BYTES_LEN];
    let mut written = 0;
    let mut waiting = 0u32;
    let mut bits = 0;
    for character in text {
        let value = match character {
            b'A'..=b'Z' => character - b'A',
            b'2'..=b'7' => character - b'2' + 26,
            _ => return None,
        };
        waiting = (waiting << 5 | u32::from(value)) & 0xfff;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            *bytes.get_mut(written)? = (waiting >> bits & 0xff) as u8;
            written += 1;
        }
    }
    let unused = waiting & ((1 << bits) - 1);
    (written == BYTES_LEN && unused == 0).then_some(bytes)
}

#[cfg(test)]
#[path = "ticket_code_tests.rs"]
mod tests;
