//! Whom a challenge is for: a browser, known by a random id in a cookie.

use serde::{Deserialize, Deserializer};
use std::fmt;
use std::str::FromStr;

use super::wire::Hex;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an id of the form vis_ and 32 hexadecimal digits")]
pub struct InvalidVisitor;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VisitorId(Hex<16>);

impl VisitorId {
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Hex(bytes))
    }

    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0.0
    }
}

impl fmt::Display for VisitorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "vis_{}", self.0)
    }
}

impl fmt::Debug for VisitorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for VisitorId {
    type Err = InvalidVisitor;

    fn from_str(text: &str) -> Result<Self, InvalidVisitor> {
        let digits = text.strip_prefix("vis_").ok_or(InvalidVisitor)?;
        Hex::read(digits).map(Self).ok_or(InvalidVisitor)
    }
}

impl<'de> Deserialize<'de> for VisitorId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
