//! Quotes: what a buyer was asked for a hold, and why, under a signature (a JWT, Ed25519
//! and nothing else). A quote is made of what is stored, so the same hold always has the
//! same quote.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{SigningKey, VerifyingKey};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use onsale_domain::ids::{HoldId, ShowId};
use onsale_domain::money::{Cents, Money};
use onsale_domain::ticket_code::Jwk;
use serde::{Deserialize, Serialize};

use crate::ed25519;
use crate::named_keys::{named_key, public_keys};
use crate::prices::PointView;

const ISSUER: &str = "onsale-quotes";
/// Fifty seats in as many sections have about 16,000 characters.
const MAX_TOKEN_LEN: usize = 64 * 1_024;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quote {
    iss: String,
    /// The show.
    pub aud: ShowId,
    /// The hold.
    pub sub: HoldId,
    pub seats: Vec<QuotedSeat>,
    pub total: Money,
    /// The prices, and what they follow from.
    pub point: PointView,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuotedSeat {
    pub seat: String,
    pub section: String,
    pub price: Money,
}

impl Quote {
    pub fn new(
        show: ShowId,
        hold: HoldId,
        seats: Vec<QuotedSeat>,
        total: Money,
        point: PointView,
    ) -> Self {
        Self {
            iss: ISSUER.to_owned(),
            aud: show,
            sub: hold,
            seats,
            total,
            point,
        }
    }

    /// Whether every price follows from the figures, and they add up.
    pub fn check(&self) -> Result<(), String> {
        self.point.check()?;
        for seat in &self.seats {
            let (amount, currency) = self
                .point
                .price_in(&seat.section)
                .ok_or_else(|| format!("{}: its section has no price", seat.seat))?;
            if seat.price != (Money { amount, currency }) {
                return Err(format!("{}: not the price of its section", seat.seat));
            }
        }
        let sum: Cents = self.seats.iter().map(|seat| seat.price.amount).sum();
        match sum == self.total.amount {
            true => Ok(()),
            false => Err("the total is not the sum of the prices".to_owned()),
        }
    }
}

/// Makes quotes. Only the function that holds places has one.
pub struct QuoteSigner {
    key_id: String,
    public: VerifyingKey,
    encoding: EncodingKey,
}

impl fmt::Debug for QuoteSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QuoteSigner({})", self.key_id)
    }
}

impl QuoteSigner {
    /// Reads `kid:base64url(seed)`, the form of `QUOTE_SIGNING_KEY`. What is wrong is told
    /// without the text: it is a secret.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (key_id, secret) = named_key(text)?;
        ed25519::install();
        Ok(Self {
            key_id,
            public: SigningKey::from_bytes(&secret).verifying_key(),
            encoding: EncodingKey::from_ed_der(&secret),
        })
    }

    pub fn from_env() -> Result<Self, String> {
        let text =
            std::env::var("QUOTE_SIGNING_KEY").map_err(|_| "QUOTE_SIGNING_KEY is not set")?;
        Self::parse(&text).map_err(|why| format!("QUOTE_SIGNING_KEY: {why}"))
    }

    /// The keys that check what this one signs.
    pub fn verifier(&self) -> QuoteVerifier {
        QuoteVerifier {
            keys: vec![(self.key_id.clone(), self.public)],
        }
    }

    pub fn sign(&self, quote: &Quote) -> Result<String, onsale_app::Error> {
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some(self.key_id.clone());
        jsonwebtoken::encode(&header, quote, &self.encoding).map_err(|error| {
            tracing::error!(%error, "a quote could not be signed");
            onsale_app::Error::Corrupt
        })
    }
}

/// Tells whose quotes are believed. By default nobody's are.
#[derive(Clone, Default)]
pub struct QuoteVerifier {
    keys: Vec<(String, VerifyingKey)>,
}

impl fmt::Debug for QuoteVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key_ids: Vec<_> = self.keys.iter().map(|(key_id, _)| key_id).collect();
        write!(f, "QuoteVerifier({key_ids:?})")
    }
}

impl QuoteVerifier {
    /// Reads comma-separated `kid:base64url(public)`, the form of `QUOTE_PUBLIC_KEYS`. An
    /// empty text is no keys.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.trim() {
            "" => Ok(Self::default()),
            text => Ok(Self {
                keys: public_keys(text)?,
            }),
        }
    }

    /// What the quote says, if we signed it. Ask [`Quote::check`] whether it is right.
    pub fn verify(&self, token: &str) -> Option<Quote> {
        ed25519::install();
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
        let mut validation = Validation::new(Algorithm::EdDSA);
        validation.set_issuer(&[ISSUER]);
        validation.set_required_spec_claims(&["iss", "aud", "sub"]);
        // A quote is for good: it explains a price that was paid.
        validation.validate_aud = false;
        validation.validate_exp = false;
        validation.validate_nbf = false;
        let key = DecodingKey::from_ed_der(public.as_bytes());
        let quote = jsonwebtoken::decode::<Quote>(token, &key, &validation);
        quote.ok().map(|quote| quote.claims)
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

#[cfg(test)]
#[path = "quote_tests.rs"]
mod tests;
