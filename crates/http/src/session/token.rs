//! Session tokens: JWTs signed with Ed25519 and nothing else. `kid` names one of the
//! public keys, so that a new key can be introduced while old tokens run out.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{SigningKey, VerifyingKey};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use onsale_app::Caller;
use onsale_app::ports::Session;
use onsale_domain::account::Role;
use onsale_domain::ids::{AccountId, SessionId};
use onsale_domain::room::difficulty::Suspicion;
use onsale_domain::time::Millis;
use serde::{Deserialize, Serialize};

use crate::ed25519;
use crate::named_keys::{named_key, public_keys};

const AUDIENCE: &str = "onsale";
const ISSUER: &str = "onsale";
/// Ours have about 400 characters.
const MAX_TOKEN_LEN: usize = 2_048;
const UNUSUAL: u8 = 1;
const AUTOMATED: u8 = 2;

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
pub struct SessionSigner {
    key_id: String,
    secret: SigningKey,
    encoding: EncodingKey,
}

impl fmt::Debug for SessionSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionSigner({})", self.key_id)
    }
}

impl SessionSigner {
    pub fn from_secret(key_id: impl Into<String>, secret: [u8; 32]) -> Self {
        ed25519::install();
        Self {
            key_id: key_id.into(),
            secret: SigningKey::from_bytes(&secret),
            encoding: EncodingKey::from_ed_der(&secret),
        }
    }

    /// Reads `kid:base64url(seed)`, the form of `SESSION_SIGNING_KEY`. What is wrong is
    /// told without the text: it is a secret.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (key_id, secret) = named_key(text)?;
        Ok(Self::from_secret(key_id, secret))
    }

    pub fn from_env() -> Result<Self, String> {
        let text = std::env::var("SESSION_SIGNING_KEY")
            .map_err(|_| "SESSION_SIGNING_KEY is not set".to_owned())?;
        Self::parse(&text).map_err(|why| format!("SESSION_SIGNING_KEY: {why}"))
    }

    /// `kid:base64url(public)`, one entry of `SESSION_PUBLIC_KEYS`.
    pub fn public_key(&self) -> String {
        let public = self.secret.verifying_key();
        format!(
            "{}:{}",
            self.key_id,
            URL_SAFE_NO_PAD.encode(public.as_bytes())
        )
    }

    /// A verifier that trusts this key alone.
    pub fn verifier(&self) -> SessionVerifier {
        let public = self.secret.verifying_key();
        SessionVerifier::new(vec![(self.key_id.clone(), public)])
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
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some(self.key_id.clone());
        jsonwebtoken::encode(&header, &claims, &self.encoding).map_err(|error| {
            tracing::error!(%error, "a session token could not be signed");
            onsale_app::Error::Corrupt
        })
    }
}

/// Checks tokens; every function has one.
pub struct SessionVerifier {
    keys: Vec<(String, DecodingKey)>,
    validation: Validation,
}

impl fmt::Debug for SessionVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key_ids: Vec<_> = self.keys.iter().map(|(key_id, _)| key_id).collect();
        write!(f, "SessionVerifier({key_ids:?})")
    }
}

impl SessionVerifier {
    fn new(keys: Vec<(String, VerifyingKey)>) -> Self {
        ed25519::install();
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.set_audience(&[AUDIENCE]);
        validation.set_issuer(&[ISSUER]);
        validation.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
        // The library would ask the system's clock; `verify` compares with ours.
        validation.validate_exp = false;
        validation.validate_nbf = false;
        validation.leeway = 0;
        let decoding = |(key_id, public): (String, VerifyingKey)| {
            (key_id, DecodingKey::from_ed_der(public.as_bytes()))
        };
        Self {
            keys: keys.into_iter().map(decoding).collect(),
            validation,
        }
    }

    /// Reads comma-separated `kid:base64url(public)`, the form of `SESSION_PUBLIC_KEYS`.
    pub fn parse(text: &str) -> Result<Self, String> {
        Ok(Self::new(public_keys(text)?))
    }

    /// Who the token speaks for, if we signed it and it has not run out.
    pub fn verify(&self, token: &str, now: Millis) -> Option<Caller> {
        self.verify_suspected(token, now).map(|(caller, _)| caller)
    }

    /// The same, with what was held against them when they logged in.
    pub fn verify_suspected(&self, token: &str, now: Millis) -> Option<(Caller, Suspicion)> {
        if token.len() > MAX_TOKEN_LEN {
            return None;
        }
        let header = jsonwebtoken::decode_header(token).ok()?;
        // A critical extension that we do not know must not be ignored (RFC 7515, 4.1.11).
        if header.crit.is_some() {
            return None;
        }
        let key_id = header.kid?;
        let (_, key) = self.keys.iter().find(|(known, _)| *known == key_id)?;
        let claims = jsonwebtoken::decode::<Claims>(token, key, &self.validation)
            .ok()?
            .claims;
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
