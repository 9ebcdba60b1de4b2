//! The secret that signs passes, and the token it makes: a JWT that any library reads.
//! The edge alone has it; whoever checks passes has the public key.

use std::fmt;
use std::str::FromStr;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signer, SigningKey};
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use super::opaque::PassId;
use super::pass::PassClaims;
use crate::ids::ShowId;
use crate::time::Millis;

/// Who signs passes: the `iss` of their tokens.
pub const PASS_ISSUER: &str = "onsale-edge";
const MAX_KEY_ID_LEN: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a pass key has the form kid:base64url, of 32 bytes")]
pub struct NotAPassKey;

/// Its memory is wiped when it is dropped.
pub struct PassKey {
    id: String,
    secret: SigningKey,
}

impl fmt::Debug for PassKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PassKey({})", self.id)
    }
}

/// Reads `kid:base64url(seed)`, the form of a session key as well.
impl FromStr for PassKey {
    type Err = NotAPassKey;

    fn from_str(text: &str) -> Result<Self, NotAPassKey> {
        let (id, encoded) = text.split_once(':').ok_or(NotAPassKey)?;
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
        if id.is_empty() || id.len() > MAX_KEY_ID_LEN || !id.bytes().all(plain) {
            return Err(NotAPassKey);
        }
        let bytes = URL_SAFE_NO_PAD.decode(encoded).map_err(|_| NotAPassKey)?;
        let seed: [u8; 32] = bytes.try_into().map_err(|_| NotAPassKey)?;
        Ok(Self::new(id, &seed))
    }
}

#[derive(Serialize)]
struct Header<'a> {
    alg: &'static str,
    kid: &'a str,
    typ: &'static str,
}

#[derive(Serialize)]
struct Claims {
    iss: &'static str,
    aud: ShowId,
    jti: PassId,
    iat: u64,
    exp: u64,
}

#[derive(Deserialize)]
struct Said {
    aud: ShowId,
    jti: PassId,
    iat: u64,
    exp: u64,
}

impl PassKey {
    pub fn new(id: impl Into<String>, seed: &[u8; 32]) -> Self {
        Self {
            id: id.into(),
            secret: SigningKey::from_bytes(seed),
        }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// `kid:base64url(public)`, one entry of `PASS_PUBLIC_KEYS`.
    pub fn public_key(&self) -> String {
        let public = self.secret.verifying_key();
        format!("{}:{}", self.id, URL_SAFE_NO_PAD.encode(public.as_bytes()))
    }

    /// The token of a pass, under the id of this key whatever the claims name.
    pub fn sign(&self, claims: &PassClaims) -> String {
        let header = Header {
            alg: "EdDSA",
            kid: &self.id,
            typ: "JWT",
        };
        let claims = Claims {
            iss: PASS_ISSUER,
            aud: claims.show,
            jti: claims.pass,
            iat: claims.issued.0 / 1_000,
            exp: claims.expires.0 / 1_000,
        };
        let message = format!("{}.{}", part(&header), part(&claims));
        let signature = self.secret.sign(message.as_bytes());
        format!("{message}.{}", URL_SAFE_NO_PAD.encode(signature.to_bytes()))
    }

    /// What a token of this very key says. The same claims give the same token, so they are
    /// signed again and compared: the edge needs no code that verifies.
    pub fn read(&self, token: &str) -> Option<PassClaims> {
        let said = token.split('.').nth(1)?;
        let said: Said = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(said).ok()?).ok()?;
        let claims = PassClaims {
            pass: said.jti,
            show: said.aud,
            issued: Millis(said.iat.saturating_mul(1_000)),
            expires: Millis(said.exp.saturating_mul(1_000)),
            key_id: self.id.clone(),
        };
        // In the same time wherever they differ, or somebody could feel their way to one.
        let is_ours = self.sign(&claims).as_bytes().ct_eq(token.as_bytes());
        bool::from(is_ours).then_some(claims)
    }
}

fn part(value: &impl Serialize) -> String {
    // Writing plain values to a growing vector cannot fail.
    URL_SAFE_NO_PAD.encode(serde_json::to_vec(value).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_token_says_what_the_claims_say() {
        let key = PassKey::new("k1", &[7; 32]);
        let show = ShowId::from_bytes([1; 16]);
        let token = key.sign(&PassClaims {
            pass: PassId([2; 16]),
            show,
            issued: Millis(1_800_000_000_999),
            expires: Millis(1_800_000_300_999),
            key_id: "another".to_owned(),
        });
        let parts: Vec<_> = token.split('.').collect();
        let read = |text: &str| -> Value {
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap()
        };
        assert_eq!(
            read(parts[0]),
            json!({"alg": "EdDSA", "kid": "k1", "typ": "JWT"})
        );
        let expected = json!({
            "iss": "onsale-edge", "aud": show.to_string(), "jti": "02".repeat(16),
            "iat": 1_800_000_000, "exp": 1_800_000_300,
        });
        assert_eq!(read(parts[1]), expected);
    }

    #[test]
    fn a_key_reads_what_it_signed_and_nothing_else() {
        let key = PassKey::new("k1", &[7; 32]);
        let claims = PassClaims {
            pass: PassId([2; 16]),
            show: ShowId::from_bytes([1; 16]),
            issued: Millis(1_800_000_000_000),
            expires: Millis(1_800_000_300_000),
            key_id: "k1".to_owned(),
        };
        let token = key.sign(&claims);
        assert_eq!(key.read(&token), Some(claims.clone()));
        let longer = PassClaims {
            expires: claims.expires + 1_000,
            ..claims.clone()
        };
        let (_, signature) = token.rsplit_once('.').unwrap();
        let unsigned = key.sign(&longer);
        let (forged, _) = unsigned.rsplit_once('.').unwrap();
        let others = PassKey::new("k1", &[8; 32]).sign(&claims);
        let renamed = PassKey::new("k2", &[7; 32]).sign(&claims);
        let forged = format!("{forged}.{signature}");
        for wrong in ["", ".", "a.b.c", &token[1..], &forged, &others, &renamed] {
            assert_eq!(key.read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_key_is_read_from_its_text_and_never_printed() {
        let seed = URL_SAFE_NO_PAD.encode([7; 32]);
        let key: PassKey = format!("k1:{seed}").parse().unwrap();
        assert_eq!(key.public_key(), PassKey::new("k1", &[7; 32]).public_key());
        assert_eq!(format!("{key:?}"), "PassKey(k1)");
        for wrong in ["", "k1", ":", &seed, "k1:c2hvcnQ", &format!("k 1:{seed}")] {
            assert!(wrong.parse::<PassKey>().is_err(), "{wrong}");
        }
    }
}
