//! Session tokens, which `accounts` signs.

use onsale_app::Caller;
use onsale_app::ports::Session;
use onsale_domain::account::Role;
use onsale_domain::ids::{AccountId, SessionId};
use onsale_domain::room::difficulty::Suspicion;
use onsale_domain::time::Millis;
use serde::{Deserialize, Serialize};

use crate::key_ring::{KeyRing, TokenKind};
use crate::token_key::TokenKey;

const AUDIENCE: &str = "onsale";
const ISSUER: &str = "onsale";
const UNUSUAL: u8 = 1;
const AUTOMATED: u8 = 2;

static SESSION: TokenKind = TokenKind {
    issuer: ISSUER,
    audience: Some(AUDIENCE),
    required: &["exp", "aud", "iss", "sub"],
    // Ours have about 400 characters.
    max_len: 2_048,
};

#[derive(Serialize, Deserialize)]
struct Claims {
    sub: AccountId,
    jti: SessionId,
    role: Role,
    iat: u64,
    exp: u64,
    aud: String,
    iss: String,
    /// What was held against the device at the log-in: 1 unusual, 2 automated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sus: Option<u8>,
}

/// Makes tokens. Only the function that logs people in has one.
#[derive(Debug)]
pub struct SessionSigner(TokenKey);

impl SessionSigner {
    pub fn from_secret(key_id: impl Into<String>, secret: [u8; 32]) -> Self {
        Self(TokenKey::from_secret(&SESSION, key_id.into(), secret))
    }

    /// Reads `kid:base64url(seed)`, the form of `SESSION_SIGNING_KEY`. What is wrong is
    /// told without the text: it is a secret.
    pub fn parse(text: &str) -> Result<Self, String> {
        TokenKey::parse(&SESSION, text).map(Self)
    }

    pub fn from_env() -> Result<Self, String> {
        TokenKey::from_env(&SESSION, "SESSION_SIGNING_KEY").map(Self)
    }

    /// `kid:base64url(public)`, one entry of `SESSION_PUBLIC_KEYS`.
    pub fn public_key(&self) -> String {
        self.0.public_key()
    }

    /// A verifier that trusts this key alone.
    pub fn verifier(&self) -> SessionVerifier {
        SessionVerifier(self.0.ring())
    }

    /// The token of a session. One session always gives the same token.
    pub fn sign(&self, session: &Session, role: Role) -> Result<String, onsale_app::Error> {
        self.sign_suspected(session, role, Suspicion::Nothing)
    }

    /// The same for a session that was opened on a device under suspicion. The token
    /// carries it, so that nobody has to look it up.
    pub fn sign_suspected(
        &self,
        session: &Session,
        role: Role,
        suspicion: Suspicion,
    ) -> Result<String, onsale_app::Error> {
        let claims = Claims {
            sub: session.account,
            jti: session.id,
            role,
            iat: session.opened.0 / 1_000,
            exp: session.expires.0 / 1_000,
            aud: AUDIENCE.to_owned(),
            iss: ISSUER.to_owned(),
            sus: match suspicion {
                Suspicion::Nothing => None,
                Suspicion::Unusual => Some(UNUSUAL),
                Suspicion::Automated => Some(AUTOMATED),
            },
        };
        self.0.sign(&claims)
    }
}

/// Checks tokens; every function has one.
#[derive(Debug)]
pub struct SessionVerifier(KeyRing);

impl SessionVerifier {
    /// Reads comma-separated `kid:base64url(public)`, the form of `SESSION_PUBLIC_KEYS`.
    pub fn parse(text: &str) -> Result<Self, String> {
        KeyRing::parse(&SESSION, text).map(Self)
    }

    /// Who the token speaks for, if we signed it and it has not run out.
    pub fn verify(&self, token: &str, now: Millis) -> Option<Caller> {
        self.verify_suspected(token, now).map(|(caller, _)| caller)
    }

    /// The same, with what was held against them when they logged in.
    pub fn verify_suspected(&self, token: &str, now: Millis) -> Option<(Caller, Suspicion)> {
        let (_, claims) = self.0.read::<Claims>(token)?;
        let in_time = now.0 < claims.exp.saturating_mul(1_000);
        let caller = Caller {
            account: claims.sub,
            session: claims.jti,
            role: claims.role,
        };
        let suspicion = match claims.sus {
            None | Some(0) => Suspicion::Nothing,
            Some(UNUSUAL) => Suspicion::Unusual,
            Some(_) => Suspicion::Automated,
        };
        in_time.then_some((caller, suspicion))
    }
}
