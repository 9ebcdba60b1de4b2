//! Pass tokens: JWTs that the edge signs with Ed25519, and nothing else. `kid` names one
//! of the public keys, so that a new key can be introduced while old passes run out.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::VerifyingKey;
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use onsale_domain::ids::ShowId;
use onsale_domain::room::opaque::PassId;
use onsale_domain::room::pass::PassClaims;
use onsale_domain::room::pass_key::PASS_ISSUER;
use onsale_domain::ticket_code::Jwk;
use onsale_domain::time::Millis;
use serde::Deserialize;

use crate::ed25519;
use crate::named_keys::public_keys;

/// Ours have about 350 characters.
const MAX_TOKEN_LEN: usize = 1_024;

#[derive(Deserialize)]
struct Claims {
    aud: ShowId,
    jti: PassId,
    iat: u64,
    exp: u64,
}

/// Tells whose passes are believed. By default nobody's are.
pub struct PassVerifier {
    keys: Vec<(String, VerifyingKey)>,
    validation: Validation,
}

impl fmt::Debug for PassVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key_ids: Vec<_> = self.keys.iter().map(|(key_id, _)| key_id).collect();
        write!(f, "PassVerifier({key_ids:?})")
    }
}

impl Default for PassVerifier {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl PassVerifier {
    fn new(keys: Vec<(String, VerifyingKey)>) -> Self {
        ed25519::install();
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.set_issuer(&[PASS_ISSUER]);
        validation.set_required_spec_claims(&["exp", "aud", "iss"]);
        // The audience is the show, which is compared where the show is known; so is the
        // time, by our clock and not by the library's.
        validation.validate_aud = false;
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation.leeway = 0;
        Self { keys, validation }
    }

    /// Reads comma-separated `kid:base64url(public)`, the form of `PASS_PUBLIC_KEYS`. An
    /// empty text is no keys.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.trim() {
            "" => Ok(Self::default()),
            text => Ok(Self::new(public_keys(text)?)),
        }
    }

    /// What the pass says, if the edge signed it. Ask `PassClaims::check` whether that
    /// counts for a show, now.
    pub fn verify(&self, token: &str) -> Option<PassClaims> {
        if token.len() > MAX_TOKEN_LEN {
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
        let claims = jsonwebtoken::decode::<Claims>(token, &key, &self.validation)
            .ok()?
            .claims;
        Some(PassClaims {
            pass: claims.jti,
            show: claims.aud,
            issued: Millis(claims.iat.saturating_mul(1_000)),
            expires: Millis(claims.exp.saturating_mul(1_000)),
            key_id,
        })
    }

    /// What `/.well-known/jwks.json` lists of them.
    pub fn jwks(&self) -> Vec<Jwk> {
        let jwk = |(key_id, public): &(String, VerifyingKey)| Jwk {
            kid: key_id.clone(),
            x: URL_SAFE_NO_PAD.encode(public.as_bytes()),
        };
        self.keys.iter().map(jwk).collect()
    }
}
