//! The secret that signs tokens of one kind; a [`KeyRing`] checks them.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{SigningKey, VerifyingKey};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde::Serialize;

use crate::ed25519;
use crate::key_ring::{KeyRing, TokenKind};
use crate::named_keys::named_key;

pub(crate) struct TokenKey {
    kind: &'static TokenKind,
    key_id: String,
    public: VerifyingKey,
    encoding: EncodingKey,
}

/// The id, and no word of the secret.
impl fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key_id)
    }
}

impl TokenKey {
    pub(crate) fn from_secret(kind: &'static TokenKind, key_id: String, secret: [u8; 32]) -> Self {
        ed25519::install();
        Self {
            kind,
            key_id,
            public: SigningKey::from_bytes(&secret).verifying_key(),
            encoding: EncodingKey::from_ed_der(&secret),
        }
    }

    /// Reads `kid:base64url(seed)`. What is wrong is told without the text: it is a secret.
    pub(crate) fn parse(kind: &'static TokenKind, text: &str) -> Result<Self, String> {
        let (key_id, secret) = named_key(text)?;
        Ok(Self::from_secret(kind, key_id, secret))
    }

    pub(crate) fn from_env(kind: &'static TokenKind, variable: &str) -> Result<Self, String> {
        let text = std::env::var(variable).map_err(|_| format!("{variable} is not set"))?;
        Self::parse(kind, &text).map_err(|why| format!("{variable}: {why}"))
    }

    /// `kid:base64url(public)`, one key of a ring.
    pub(crate) fn public_key(&self) -> String {
        let public = URL_SAFE_NO_PAD.encode(self.public.as_bytes());
        format!("{}:{public}", self.key_id)
    }

    /// A ring with this key alone.
    pub(crate) fn ring(&self) -> KeyRing {
        KeyRing::new(self.kind, vec![(self.key_id.clone(), self.public)])
    }

    /// The same claims always give the same token.
    pub(crate) fn sign(&self, claims: &impl Serialize) -> Result<String, onsale_app::Error> {
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some(self.key_id.clone());
        jsonwebtoken::encode(&header, claims, &self.encoding).map_err(|error| {
            let issuer = self.kind.issuer;
            tracing::error!(%error, issuer, "a token could not be signed");
            onsale_app::Error::Corrupt
        })
    }
}
