//! Quotes: what a buyer was asked for a hold, and why, as a signed token. A quote is made of
//! what is stored, so the same hold always has the same quote.

use onsale_domain::ids::{HoldId, ShowId};
use onsale_domain::money::{Cents, Money};
use onsale_domain::ticket_code::Jwk;
use serde::{Deserialize, Serialize};

use crate::key_ring::{KeyRing, TokenKind};
use crate::prices::PointView;
use crate::token_key::TokenKey;

const ISSUER: &str = "onsale-quotes";

/// A quote is for good: it explains a price that was paid.
static QUOTE: TokenKind = TokenKind {
    issuer: ISSUER,
    audience: None,
    required: &["iss", "aud", "sub"],
    // Fifty seats at face value in as many sections have about 19,000 characters.
    max_len: 64 * 1_024,
};

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
    /// What was paid for it before, if somebody put it back: it costs that, whatever the
    /// price of its section is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub face_value: Option<Money>,
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

    /// Whether every price follows from the figures or is a face value, and they add up.
    pub fn check(&self) -> Result<(), String> {
        self.point.check()?;
        for seat in &self.seats {
            let (amount, currency) = self
                .point
                .price_in(&seat.section)
                .ok_or_else(|| format!("{}: its section has no price", seat.seat))?;
            let (asked, what) = match seat.face_value {
                Some(paid) => (paid, "its face value"),
                None => (Money { amount, currency }, "the price of its section"),
            };
            if seat.price != asked || asked.currency != currency {
                return Err(format!("{}: not {what}", seat.seat));
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
#[derive(Debug)]
pub struct QuoteSigner(TokenKey);

impl QuoteSigner {
    /// Reads `kid:base64url(seed)`, the form of `QUOTE_SIGNING_KEY`. What is wrong is told
    /// without the text: it is a secret.
    pub fn parse(text: &str) -> Result<Self, String> {
        TokenKey::parse(&QUOTE, text).map(Self)
    }

    pub fn from_env() -> Result<Self, String> {
        TokenKey::from_env(&QUOTE, "QUOTE_SIGNING_KEY").map(Self)
    }

    /// The keys that check what this one signs.
    pub fn verifier(&self) -> QuoteVerifier {
        QuoteVerifier(self.0.ring())
    }

    pub fn sign(&self, quote: &Quote) -> Result<String, onsale_app::Error> {
        self.0.sign(quote)
    }
}

/// Tells whose quotes are believed. By default nobody's are.
#[derive(Debug, Clone)]
pub struct QuoteVerifier(KeyRing);

impl Default for QuoteVerifier {
    fn default() -> Self {
        Self(KeyRing::new(&QUOTE, Vec::new()))
    }
}

impl QuoteVerifier {
    /// Reads comma-separated `kid:base64url(public)`, the form of `QUOTE_PUBLIC_KEYS`. An
    /// empty text is no keys.
    pub fn parse(text: &str) -> Result<Self, String> {
        KeyRing::parse_if_any(&QUOTE, text).map(Self)
    }

    /// What the quote says, if we signed it. Ask [`Quote::check`] whether it is right.
    pub fn verify(&self, token: &str) -> Option<Quote> {
        self.0.read(token).map(|(_, quote)| quote)
    }

    /// What `/.well-known/jwks.json` lists of them.
    pub fn jwks(&self) -> Vec<Jwk> {
        self.0.jwks()
    }
}

#[cfg(test)]
#[path = "quote_tests.rs"]
mod tests;
