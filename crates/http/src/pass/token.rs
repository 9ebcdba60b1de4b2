//! Pass tokens, which the edge signs.

use onsale_domain::ids::ShowId;
use onsale_domain::room::opaque::PassId;
use onsale_domain::room::pass::PassClaims;
use onsale_domain::room::pass_key::PASS_ISSUER;
use onsale_domain::ticket_code::Jwk;
use onsale_domain::time::Millis;
use serde::Deserialize;

use crate::key_ring::{KeyRing, TokenKind};

static PASS: TokenKind = TokenKind {
    issuer: PASS_ISSUER,
    audience: None,
    required: &["exp", "aud", "iss"],
    // Ours have about 350 characters.
    max_len: 1_024,
};

#[derive(Deserialize)]
struct Claims {
    aud: ShowId,
    jti: PassId,
    iat: u64,
    exp: u64,
}

/// Tells whose passes are believed. By default nobody's are.
#[derive(Debug)]
pub struct PassVerifier(KeyRing);

impl Default for PassVerifier {
    fn default() -> Self {
        Self(KeyRing::new(&PASS, Vec::new()))
    }
}

impl PassVerifier {
    /// Reads comma-separated `kid:base64url(public)`, the form of `PASS_PUBLIC_KEYS`. An
    /// empty text is no keys.
    pub fn parse(text: &str) -> Result<Self, String> {
        KeyRing::parse_if_any(&PASS, text).map(Self)
    }

    /// What the pass says, if the edge signed it. Ask `PassClaims::check` whether that
    /// counts for a show, now.
    pub fn verify(&self, token: &str) -> Option<PassClaims> {
        let (key_id, claims) = self.0.read::<Claims>(token)?;
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
        self.0.jwks()
    }
}
