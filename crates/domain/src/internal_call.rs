//! Calls between the edge and the cloud, signed with a secret that both know.
//!
//! A signature covers the time, the method, the address and the body. It counts for a
//! minute, so a call that was overheard is soon worthless; and every such call can be
//! repeated, so one that is replayed in time does no harm.

use std::fmt;
use std::str::FromStr;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

use crate::time::Millis;

/// Headers of a signed call.
pub const TIME_HEADER: &str = "onsale-time";
pub const KEY_HEADER: &str = "onsale-key";
pub const SIGNATURE_HEADER: &str = "onsale-signature";

/// How far the clock of the caller may be from ours, in either direction.
pub const TOLERANCE_MS: u64 = 60_000;

const PURPOSE: &str = "onsale internal";
const MAX_KEYS: usize = 8;
const ID_LEN: std::ops::RangeInclusive<usize> = 1..=16;
const SECRET_LEN: std::ops::RangeInclusive<usize> = 32..=256;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InternalKeyError {
    #[error("an internal key has the form id:secret")]
    Form,
    #[error("the id of an internal key is {} to {} of a-z, 0-9 and -", ID_LEN.start(), ID_LEN.end())]
    Id,
    #[error("an internal secret is {} to {} printable ASCII characters without spaces", SECRET_LEN.start(), SECRET_LEN.end())]
    Secret,
    #[error("there are 1 to {MAX_KEYS} internal keys")]
    Count,
    #[error("two internal keys share an id")]
    Twice,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    #[error("the call is not signed as calls are")]
    Malformed,
    #[error("the call is signed with a key that is not known here")]
    UnknownKey,
    #[error("the signature of the call is wrong")]
    BadSignature,
    #[error("the call was signed too long ago, or in the future")]
    OutOfTime,
}

/// What to send along with a call, one value for each header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedCall {
    pub time: String,
    pub key: String,
    pub signature: String,
}

#[derive(Clone)]
struct InternalKey {
    id: String,
    mac: Hmac<Sha256>,
}

/// The secrets of internal calls. The first signs, all of them verify: to change secrets,
/// first add the new one everywhere, then put it first, then drop the old one.
#[derive(Clone)]
pub struct InternalKeys(Vec<InternalKey>);

impl fmt::Debug for InternalKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<_> = self.0.iter().map(|key| &key.id).collect();
        write!(f, "InternalKeys({ids:?})")
    }
}

/// Keys as `id:secret`, separated by commas, the one that signs first.
impl FromStr for InternalKeys {
    type Err = InternalKeyError;

    fn from_str(text: &str) -> Result<Self, InternalKeyError> {
        let mut keys: Vec<InternalKey> = Vec::new();
        for entry in text.split(',') {
            let key = read_key(entry.trim())?;
            if keys.iter().any(|known| known.id == key.id) {
                return Err(InternalKeyError::Twice);
            }
            keys.push(key);
            if keys.len() > MAX_KEYS {
                return Err(InternalKeyError::Count);
            }
        }
        Ok(Self(keys))
    }
}

fn read_key(entry: &str) -> Result<InternalKey, InternalKeyError> {
    let (id, secret) = entry.split_once(':').ok_or(InternalKeyError::Form)?;
    let plain = |b: u8| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-');
    if !ID_LEN.contains(&id.len()) || !id.bytes().all(plain) {
        return Err(InternalKeyError::Id);
    }
    if !SECRET_LEN.contains(&secret.len()) || !secret.bytes().all(|b| b.is_ascii_graphic()) {
        return Err(InternalKeyError::Secret);
    }
    let mac = Hmac::new_from_slice(secret.as_bytes()).map_err(|_| InternalKeyError::Secret)?;
    Ok(InternalKey {
        id: id.to_owned(),
        mac,
    })
}

impl InternalKeys {
    /// Signs a call. `target` is the path with its query, as it is sent.
    pub fn sign(&self, method: &str, target: &str, body: &[u8], now: Millis) -> SignedCall {
        // Reading keys from their text never gives an empty list.
        let key = &self.0[0];
        let message = message(now.0, method, target, body);
        let signature = key.mac.clone().chain_update(message).finalize();
        SignedCall {
            time: now.0.to_string(),
            key: key.id.clone(),
            signature: hex::encode(signature.into_bytes()),
        }
    }

    /// Whether one of the keys vouches for this very call, about now.
    #[expect(
        clippy::too_many_arguments,
        reason = "they are what is signed, and the three headers"
    )]
    pub fn verify(
        &self,
        method: &str,
        target: &str,
        body: &[u8],
        time: &str,
        key: &str,
        signature: &str,
        now: Millis,
    ) -> Result<(), CallError> {
        let signed_at = read_time(time).ok_or(CallError::Malformed)?;
        let signature = read_signature(signature).ok_or(CallError::Malformed)?;
        let known = self.0.iter().find(|known| known.id == key);
        let known = known.ok_or(CallError::UnknownKey)?;
        let message = message(signed_at.0, method, target, body);
        // Takes the same time wherever the first difference is.
        let mac = known.mac.clone().chain_update(message);
        mac.verify_slice(&signature)
            .map_err(|_| CallError::BadSignature)?;
        match signed_at <= now + TOLERANCE_MS && now <= signed_at + TOLERANCE_MS {
            true => Ok(()),
            false => Err(CallError::OutOfTime),
        }
    }
}

fn message(time_ms: u64, method: &str, target: &str, body: &[u8]) -> String {
    let method = method.to_ascii_uppercase();
    let body = hex::encode(Sha256::digest(body));
    format!("{PURPOSE}\n{time_ms}\n{method}\n{target}\n{body}")
}

/// A time has one spelling: the parser of integers would take a sign and zeros too.
fn read_time(text: &str) -> Option<Millis> {
    let ms: u64 = text.parse().ok()?;
    (ms.to_string() == text).then_some(Millis(ms))
}

fn read_signature(text: &str) -> Option<[u8; 32]> {
    if text.bytes().any(|b| b.is_ascii_uppercase()) {
        return None;
    }
    let mut bytes = [0; 32];
    hex::decode_to_slice(text, &mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(1_800_000_000_000);
    const TARGET: &str = "/internal/shows/shw_1/room?since=7";
    const OLD: &str = "2026:abcdefghijklmnopqrstuvwxyz012345";
    const NEW: &str = "2027:ABCDEFGHIJKLMNOPQRSTUVWXYZ012345";

    fn keys(text: &str) -> InternalKeys {
        text.parse().unwrap()
    }

    fn verify(keys: &InternalKeys, call: &SignedCall, now: Millis) -> Result<(), CallError> {
        let SignedCall {
            time,
            key,
            signature,
        } = call;
        keys.verify("GET", TARGET, b"", time, key, signature, now)
    }

    #[test]
    fn a_signature_is_what_anybody_else_computes() {
        // Python: hmac.new(secret, message, "sha256").hexdigest(), with
        // message = "onsale internal\n1800000000000\nPOST\n/a?b=c\n" + sha256(b"{}").hexdigest()
        let signed = keys(OLD).sign("post", "/a?b=c", b"{}", NOW);
        assert_eq!(signed.time, "1800000000000");
        assert_eq!(signed.key, "2026");
        assert_eq!(signed.signature, PINNED);
    }

    #[test]
    fn a_call_counts_for_a_minute_either_way() {
        let keys = keys(OLD);
        let call = keys.sign("GET", TARGET, b"", NOW);
        for (now, counts) in [
            (NOW, true),
            (NOW + 60_000, true),
            (NOW + 60_001, false),
            (NOW.saturating_sub(60_000), true),
            (NOW.saturating_sub(60_001), false),
        ] {
            let expected = if counts {
                Ok(())
            } else {
                Err(CallError::OutOfTime)
            };
            assert_eq!(verify(&keys, &call, now), expected, "{now:?}");
        }
    }

    #[test]
    fn every_other_call_is_refused() {
        use CallError::*;
        let keys = keys(OLD);
        let call = keys.sign("GET", TARGET, b"", NOW);
        let SignedCall {
            time,
            key,
            signature,
        } = &call;
        let flipped = format!("{}0", &signature[..63]);
        let other = if flipped == *signature {
            format!("{}1", &signature[..63])
        } else {
            flipped
        };
        let later = (NOW.0 + 1).to_string();
        let signs = format!("+{time}");
        let zeros = format!("0{time}");
        let upper = signature.to_uppercase();
        let same_id_other_secret = "2026:another-secret-another-secret-12345";
        let stranger = self::keys(same_id_other_secret).sign("GET", TARGET, b"", NOW);
        #[rustfmt::skip]
        #[expect(clippy::type_complexity, reason = "a table reads best as a table")]
        let cases: [(&str, &str, &str, &[u8], &str, &str, &str, CallError); 15] = [
            ("another method", "POST", TARGET, b"", time, key, signature, BadSignature),
            ("another path", "GET", "/internal/shows/shw_2/room?since=7", b"", time, key, signature, BadSignature),
            ("another query", "GET", "/internal/shows/shw_1/room?since=8", b"", time, key, signature, BadSignature),
            ("another body", "GET", TARGET, b"{}", time, key, signature, BadSignature),
            ("another time", "GET", TARGET, b"", &later, key, signature, BadSignature),
            ("another signature", "GET", TARGET, b"", time, key, &other, BadSignature),
            ("another secret", "GET", TARGET, b"", time, key, &stranger.signature, BadSignature),
            ("an unknown key", "GET", TARGET, b"", time, "2027", signature, UnknownKey),
            ("no key", "GET", TARGET, b"", time, "", signature, UnknownKey),
            ("a time with a sign", "GET", TARGET, b"", &signs, key, signature, Malformed),
            ("a time with zeros", "GET", TARGET, b"", &zeros, key, signature, Malformed),
            ("no time", "GET", TARGET, b"", "", key, signature, Malformed),
            ("capitals", "GET", TARGET, b"", time, key, &upper, Malformed),
            ("half a signature", "GET", TARGET, b"", time, key, &signature[..32], Malformed),
            ("no signature", "GET", TARGET, b"", time, key, "", Malformed),
        ];
        for (name, method, target, body, time, key, signature, expected) in cases {
            let verdict = keys.verify(method, target, body, time, key, signature, NOW);
            assert_eq!(verdict, Err(expected), "{name}");
        }
        assert_eq!(verify(&keys, &call, NOW), Ok(()));
    }

    #[test]
    fn a_new_key_is_introduced_while_the_old_one_still_signs() {
        let (old, both, new) = (keys(OLD), keys(&format!("{NEW}, {OLD}")), keys(NEW));
        let by_old = old.sign("GET", TARGET, b"", NOW);
        let by_both = both.sign("GET", TARGET, b"", NOW);
        assert_eq!(by_both.key, "2027");
        assert_eq!(verify(&both, &by_old, NOW), Ok(()));
        assert_eq!(verify(&new, &by_both, NOW), Ok(()));
        assert_eq!(verify(&new, &by_old, NOW), Err(CallError::UnknownKey));
    }

    #[test]
    fn keys_are_read_strictly_and_never_printed() {
        use InternalKeyError::*;
        let secret = "s".repeat(32);
        let nine: Vec<_> = (0..9).map(|n| format!("k{n}:{secret}")).collect();
        for (text, expected) in [
            (String::new(), Form),
            (secret.clone(), Form),
            (format!(":{secret}"), Id),
            (format!("K1:{secret}"), Id),
            (format!("{}:{secret}", "k".repeat(17)), Id),
            ("k1:".to_owned(), Secret),
            (format!("k1:{}", "s".repeat(31)), Secret),
            (format!("k1:{}", "s".repeat(257)), Secret),
            (format!("k1:{} {secret}", &secret), Secret),
            (format!("k1:ü{secret}"), Secret),
            (format!("k1:{secret},"), Form),
            (format!("k1:{secret},k1:{secret}x"), Twice),
            (nine.join(","), Count),
        ] {
            assert_eq!(text.parse::<InternalKeys>().err(), Some(expected), "{text}");
        }
        let read = keys(&format!("k1:{secret}, k-2:{}", "s".repeat(256)));
        assert_eq!(format!("{read:?}"), r#"InternalKeys(["k1", "k-2"])"#);
    }

    const PINNED: &str = "16936805677f7b3291a268e3ecb27f401144c66e9003f1672f429984a1d8b7f0";
}
