//! The public keys that tokens of one kind are checked with. A token is a JWT under Ed25519
//! and nothing else; its `kid` names one of the keys, so that a new key can be introduced
//! while old tokens run out.
//!
//! A ring asks no clock: until when a token counts is for its kind to say.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::VerifyingKey;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use onsale_domain::ticket_code::Jwk;
use serde::de::DeserializeOwned;

use crate::ed25519;
use crate::named_keys::public_keys;

/// What tells the tokens of one kind from all others.
pub(crate) struct TokenKind {
    /// No two kinds have the same, so that none is taken for another where they share a key.
    pub(crate) issuer: &'static str,
    /// `None`: it is a show, which is compared where the show is known.
    pub(crate) audience: Option<&'static str>,
    /// The registered claims that none of them lacks.
    pub(crate) required: &'static [&'static str],
    pub(crate) max_len: usize,
}

/// Without keys it believes nobody.
#[derive(Clone)]
pub(crate) struct KeyRing {
    keys: Vec<(String, VerifyingKey)>,
    validation: Validation,
    max_len: usize,
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key_ids = self.keys.iter().map(|(key_id, _)| key_id);
        f.debug_list().entries(key_ids).finish()
    }
}

impl KeyRing {
    pub(crate) fn new(kind: &TokenKind, keys: Vec<(String, VerifyingKey)>) -> Self {
        ed25519::install();
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.set_issuer(&[kind.issuer]);
        validation.set_required_spec_claims(kind.required);
        match kind.audience {
            Some(audience) => validation.set_audience(&[audience]),
            None => validation.validate_aud = false,
        }
        // The library would ask the system's clock.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        Self {
            keys,
            validation,
            max_len: kind.max_len,
        }
    }

    /// Reads comma-separated `kid:base64url(public)`, at least one.
    pub(crate) fn parse(kind: &TokenKind, text: &str) -> Result<Self, String> {
        Ok(Self::new(kind, public_keys(text)?))
    }

    /// The same, where an empty text is no keys.
    pub(crate) fn parse_if_any(kind: &TokenKind, text: &str) -> Result<Self, String> {
        match text.trim() {
            "" => Ok(Self::new(kind, Vec::new())),
            text => Self::parse(kind, text),
        }
    }

    /// What a token of this kind says, and the id of the key that vouches for it.
    pub(crate) fn read<C: DeserializeOwned>(&self, token: &str) -> Option<(String, C)> {
        if token.len() > self.max_len {
            return None;
        }
        let header = jsonwebtoken::decode_header(token).ok()?;
        // A critical extension that we do not know must not be ignored (RFC 7515, 4.1.11).
        if header.crit.is_some() {
            return None;
        }
        let key_id = header.kid?;
        let (_, public) = self.keys.iter().find(|(known, _)| *known == key_id)?;
        let key = DecodingKey::from_ed_der(public.as_bytes());
        let token = jsonwebtoken::decode::<C>(token, &key, &self.validation).ok()?;
        Some((key_id, token.claims))
    }

    /// What `/.well-known/jwks.json` lists of them.
    pub(crate) fn jwks(&self) -> Vec<Jwk> {
        let jwk = |(key_id, public): &(String, VerifyingKey)| Jwk {
            kid: key_id.clone(),
            x: URL_SAFE_NO_PAD.encode(public.as_bytes()),
        };
        self.keys.iter().map(jwk).collect()
    }
}

#[cfg(test)]
#[path = "key_ring_tests.rs"]
mod tests;
