//! Money in minor units. There are no fractions of a cent anywhere.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// An amount in the minor unit of its currency.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Cents(pub u64);

/// The highest price of one place. A hundred thousand places at this price still fit
/// a double exactly, which is what most clients read numbers into.
pub const MAX_PRICE: Cents = Cents(1_000_000_000);

impl std::iter::Sum for Cents {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        Self(amounts.map(|c| c.0).sum())
    }
}

/// An ISO 4217 code: three capital letters.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Currency([u8; 3]);

impl Currency {
    pub fn parse(text: &str) -> Option<Self> {
        let bytes: [u8; 3] = text.as_bytes().try_into().ok()?;
        bytes
            .iter()
            .all(u8::is_ascii_uppercase)
            .then_some(Self(bytes))
    }

    pub fn as_str(&self) -> &str {
        // Only ASCII capitals are ever stored.
        std::str::from_utf8(&self.0).unwrap_or("XXX")
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Currency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Currency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| serde::de::Error::custom("a currency is three capital letters"))
    }
}

impl Currency {
    /// How many digits of an amount stand behind the point, by ISO 4217.
    pub fn decimals(&self) -> u32 {
        const NONE: [&str; 16] = [
            "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND",
            "VUV", "XAF", "XOF", "XPF",
        ];
        const THREE: [&str; 7] = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];
        match self.as_str() {
            code if NONE.contains(&code) => 0,
            code if THREE.contains(&code) => 3,
            _ => 2,
        }
    }

    /// Whether a card can be charged every amount of it. Cards know no thousandths, and no
    /// hundredths of an ariary: half of a price could not be given back exactly.
    pub fn is_exact_by_card(&self) -> bool {
        self.decimals() < 3 && self.as_str() != "MGA"
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Money {
    pub amount: Cents,
    pub currency: Currency,
}

/// As people read it: `45.00 EUR`.
impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = self.currency.decimals();
        let unit = 10u64.pow(decimals);
        let (whole, rest) = (self.amount.0 / unit, self.amount.0 % unit);
        match decimals as usize {
            0 => write!(f, "{whole} {}", self.currency),
            width => write!(f, "{whole}.{rest:0width$} {}", self.currency),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_reads_as_people_write_it() {
        let text = |amount, code| {
            let currency = Currency::parse(code).unwrap();
            let amount = Cents(amount);
            Money { amount, currency }.to_string()
        };
        assert_eq!(text(4_500, "EUR"), "45.00 EUR");
        assert_eq!(text(5, "USD"), "0.05 USD");
        assert_eq!(text(4_500, "JPY"), "4500 JPY");
        assert_eq!(text(4_505, "KWD"), "4.505 KWD");
    }

    #[test]
    fn a_card_is_exact_but_for_thousandths_and_ariary() {
        let exact = |code: &str| Currency::parse(code).unwrap().is_exact_by_card();
        for code in ["EUR", "USD", "JPY", "ISK", "HUF", "TWD", "XXX"] {
            assert!(exact(code), "{code}");
        }
        for code in ["KWD", "BHD", "IQD", "JOD", "LYD", "OMR", "TND", "MGA"] {
            assert!(!exact(code), "{code}");
        }
    }
}
