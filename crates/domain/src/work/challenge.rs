//! A challenge, its solution, and their wire format: ALTCHA v2 with SHA-256.
//!
//! ALTCHA signs the parameters as JSON without spaces, the members of every object in
//! alphabetical order. We write that text from typed values, whatever we read, so there
//! is nothing to normalise and nothing that is signed but not understood.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer};
use sha2::{Digest, Sha256};
use std::fmt;
use std::ops::Range;

use super::keys::{WorkKey, WorkKeyId, WorkKeys};
use super::wire::{Hex, Seconds, object, present, read_hex, read_object};
use super::{Cost, MAX_PAYLOAD_LEN};
use crate::ids::{ShowId, VisitorId};

/// What the derived key has to begin with. Ours is half a key long, so that nothing but
/// the planted counter solves the challenge. Shorter ones come from ALTCHA servers that
/// plant nothing; two bytes are as much work as ours at worst.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KeyPrefix(Vec<u8>);

impl KeyPrefix {
    const MIN_LEN: usize = 2;
    const MAX_LEN: usize = 16;

    pub fn of(key: &Hex<32>) -> Self {
        Self(key.0[..Self::MAX_LEN].to_vec())
    }

    pub fn read(digits: &str) -> Option<Self> {
        let len = digits.len() / 2;
        if !(Self::MIN_LEN..=Self::MAX_LEN).contains(&len) {
            return None;
        }
        let mut bytes = vec![0; len];
        read_hex(digits, &mut bytes)?;
        Some(Self(bytes))
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Display for KeyPrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for KeyPrefix {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = String::deserialize(deserializer)?;
        Self::read(&digits).ok_or_else(|| serde::de::Error::custom("not a prefix of a key"))
    }
}

/// What is signed, except for what is always the same.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "WireParameters")]
pub(super) struct Parameters {
    pub show: ShowId,
    pub visitor: VisitorId,
    /// Set for visitors without a script, who wait instead of working.
    pub wait_until: Option<Seconds>,
    pub key: WorkKeyId,
    pub cost: Cost,
    pub expires_at: Seconds,
    pub key_prefix: KeyPrefix,
    pub nonce: Hex<16>,
    pub salt: Hex<16>,
}

impl Parameters {
    /// The text that is signed: the same for the same values, and other for others.
    pub fn signed_text(&self) -> String {
        let Self {
            show,
            visitor,
            wait_until,
            key,
            cost,
            expires_at,
            key_prefix,
            nonce,
            salt,
        } = self;
        let cost = cost.hashes();
        let wait_until = match wait_until {
            Some(until) => format!(r#","waitUntil":{until}"#),
            None => String::new(),
        };
        let data =
            format!(r#"{{"key":"{key}","show":"{show}","visitor":"{visitor}"{wait_until}}}"#);
        format!(
            r#"{{"algorithm":"SHA-256","cost":{cost},"data":{data},"expiresAt":{expires_at},"keyLength":32,"keyPrefix":"{key_prefix}","nonce":"{nonce}","salt":"{salt}"}}"#
        )
    }

    pub fn sign(self, key: &WorkKey) -> Challenge {
        let signature = key.sign(self.signed_text().as_bytes());
        Challenge {
            parameters: self,
            signature,
        }
    }

    fn derive_key(&self, counter: u32) -> Hex<32> {
        derive_key(&self.nonce, &self.salt, self.cost, counter)
    }

    pub fn is_solved_by(&self, solution: &Solution) -> bool {
        let key = self.derive_key(solution.counter);
        key == solution.derived_key && key.0.starts_with(self.key_prefix.as_bytes())
    }
}

/// ALTCHA's `SHA-256`: hashes of hashes, beginning with salt, nonce and counter.
pub(super) fn derive_key(nonce: &Hex<16>, salt: &Hex<16>, cost: Cost, counter: u32) -> Hex<32> {
    let mut first = [0; 36];
    first[..16].copy_from_slice(&salt.0);
    first[16..32].copy_from_slice(&nonce.0);
    first[32..].copy_from_slice(&counter.to_be_bytes());
    let mut key: [u8; 32] = Sha256::digest(first).into();
    for _ in 1..cost.hashes() {
        key = Sha256::digest(key).into();
    }
    Hex(key)
}

/// A signed challenge, as a visitor gets it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Challenge {
    #[serde(deserialize_with = "object")]
    pub(super) parameters: Parameters,
    pub(super) signature: Hex<32>,
}

impl Challenge {
    pub fn to_json(&self) -> String {
        let parameters = self.parameters.signed_text();
        format!(
            r#"{{"parameters":{parameters},"signature":"{}"}}"#,
            self.signature
        )
    }

    /// Reads a challenge without asking who signed it: that is no matter to a solver.
    pub fn from_json(json: &str) -> Option<Self> {
        if json.len() > MAX_PAYLOAD_LEN {
            return None;
        }
        read_object(json.as_bytes())
    }

    pub fn cost(&self) -> Cost {
        self.parameters.cost
    }

    /// The first of these counters that solves the challenge. Ours are solved by one
    /// below [`super::TRIES`].
    pub fn solve(&self, mut counters: Range<u32>) -> Option<Solution> {
        counters.find_map(|counter| {
            let derived_key = self.parameters.derive_key(counter);
            derived_key
                .0
                .starts_with(self.parameters.key_prefix.as_bytes())
                .then_some(Solution::new(counter, derived_key))
        })
    }

    /// The text that was signed, if one of these keys did.
    pub(super) fn signed_text(&self, keys: &WorkKeys) -> Option<String> {
        let text = self.parameters.signed_text();
        keys.have_signed(self.parameters.key, text.as_bytes(), &self.signature)
            .then_some(text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Solution {
    counter: u32,
    derived_key: Hex<32>,
    /// How long a client says it took, in milliseconds. Nobody believes it.
    #[serde(default, rename = "time", deserialize_with = "present")]
    _time: Option<f64>,
}

impl Solution {
    pub(super) fn new(counter: u32, derived_key: Hex<32>) -> Self {
        Self {
            counter,
            derived_key,
            _time: None,
        }
    }

    pub fn counter(&self) -> u32 {
        self.counter
    }
}

/// What a visitor sends: both parts as JSON, in base64.
pub fn payload(challenge: &Challenge, solution: &Solution) -> String {
    let challenge = challenge.to_json();
    let Solution {
        counter,
        derived_key,
        ..
    } = solution;
    STANDARD.encode(format!(
        r#"{{"challenge":{challenge},"solution":{{"counter":{counter},"derivedKey":"{derived_key}"}}}}"#
    ))
}

pub(super) fn read_payload(text: &str) -> Option<(Challenge, Solution)> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Payload {
        #[serde(deserialize_with = "object")]
        challenge: Challenge,
        #[serde(deserialize_with = "object")]
        solution: Solution,
    }

    if text.len() > MAX_PAYLOAD_LEN {
        return None;
    }
    let json = STANDARD.decode(text).ok()?;
    // Padding that was changed into a space would be read over otherwise.
    if json.last() != Some(&b'}') {
        return None;
    }
    let payload: Payload = read_object(&json)?;
    Some((payload.challenge, payload.solution))
}

/// The parameters with the names and the nesting of the wire. Members that we never
/// write, such as `memoryCost` and `keySignature`, are refused.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WireParameters {
    #[serde(rename = "algorithm")]
    _algorithm: Algorithm,
    cost: Cost,
    #[serde(deserialize_with = "object")]
    data: WireData,
    expires_at: Seconds,
    #[serde(rename = "keyLength")]
    _key_length: KeyLength,
    key_prefix: KeyPrefix,
    nonce: Hex<16>,
    salt: Hex<16>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct WireData {
    key: WorkKeyId,
    show: ShowId,
    visitor: VisitorId,
    #[serde(default, deserialize_with = "present")]
    wait_until: Option<Seconds>,
}

/// The only algorithm there is here, so no challenge can choose a weaker one.
struct Algorithm;

impl<'de> Deserialize<'de> for Algorithm {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "SHA-256" => Ok(Self),
            _ => Err(serde::de::Error::custom("not SHA-256")),
        }
    }
}

struct KeyLength;

impl<'de> Deserialize<'de> for KeyLength {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            32 => Ok(Self),
            _ => Err(serde::de::Error::custom("not the length of a SHA-256 hash")),
        }
    }
}

impl From<WireParameters> for Parameters {
    fn from(wire: WireParameters) -> Self {
        Self {
            show: wire.data.show,
            visitor: wire.data.visitor,
            wait_until: wire.data.wait_until,
            key: wire.data.key,
            cost: wire.cost,
            expires_at: wire.expires_at,
            key_prefix: wire.key_prefix,
            nonce: wire.nonce,
            salt: wire.salt,
        }
    }
}
