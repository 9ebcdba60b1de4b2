//! Posters of events: how large they may be, and where they are.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};
use sha2::{Digest, Sha256};

use crate::ids::EventId;

/// What is taken. Encoded as text, it fits the 6 MB that a function is sent.
pub const MAX_UPLOAD_BYTES: usize = 4 << 20;
/// A picture of 8,000 × 5,000. It takes 160 MB while it is decoded.
pub const MAX_PIXELS: u64 = 40_000_000;
/// What messengers show large, and sharp in a column of 720 CSS pixels on most screens.
pub const MAX_SIDE: u32 = 1_200;

const SUFFIX: &str = ".jpg";
const DIGITS: usize = 32;

/// Names a poster after its content: a new poster has a new address, and an address never
/// changes its picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PosterName([u8; 16]);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a poster: {DIGITS} hexadecimal digits and {SUFFIX}")]
pub struct InvalidPosterName;

impl PosterName {
    /// The name of these bytes.
    pub fn of(jpeg: &[u8]) -> Self {
        let digest = Sha256::digest(jpeg);
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        Self(bytes)
    }
}

impl fmt::Display for PosterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}{SUFFIX}", u128::from_be_bytes(self.0))
    }
}

impl FromStr for PosterName {
    type Err = InvalidPosterName;

    fn from_str(text: &str) -> Result<Self, InvalidPosterName> {
        let digits = text.strip_suffix(SUFFIX).ok_or(InvalidPosterName)?;
        // One picture has one address, so capitals are another one.
        let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        if digits.len() != DIGITS || !digits.bytes().all(is_digit) {
            return Err(InvalidPosterName);
        }
        let number = u128::from_str_radix(digits, 16).map_err(|_| InvalidPosterName)?;
        Ok(Self(number.to_be_bytes()))
    }
}

impl<'de> Deserialize<'de> for PosterName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Where a poster of this event is, on whatever origin serves the API.
pub fn address(event: EventId, name: PosterName) -> String {
    format!("{}{name}", address_prefix(event))
}

/// Whether a poster of this event that was uploaded has this address.
pub fn is_uploaded(event: EventId, url: &str) -> bool {
    let name = url.strip_prefix(&address_prefix(event));
    name.is_some_and(|name| name.parse::<PosterName>().is_ok())
}

fn address_prefix(event: EventId) -> String {
    format!("/api/v1/events/{event}/poster/")
}

/// The size in which a picture is kept: the longest side is cut to [`MAX_SIDE`], and both
/// keep their proportion. A picture is never made larger.
pub fn kept_size(width: u32, height: u32) -> (u32, u32) {
    let longest = width.max(height);
    if longest <= MAX_SIDE {
        return (width, height);
    }
    let scaled = |side: u32| {
        let rounded =
            (u64::from(side) * u64::from(MAX_SIDE) + u64::from(longest) / 2) / u64::from(longest);
        // At most `MAX_SIDE`, and a stripe keeps its one pixel.
        u32::try_from(rounded).unwrap_or(MAX_SIDE).max(1)
    };
    (scaled(width), scaled(height))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_written_and_in_no_other_way() {
        let name = PosterName::of(b"a picture");
        let text = name.to_string();
        assert_eq!(text.len(), DIGITS + SUFFIX.len());
        assert_eq!(text.parse(), Ok(name));
        assert_ne!(PosterName::of(b"another"), name);
        let digits = "0123456789abcdef0123456789abcdef";
        assert!(format!("{digits}.jpg").parse::<PosterName>().is_ok());
        for wrong in [
            String::new(),
            digits.to_owned(),
            format!("{digits}.png"),
            format!("{digits}0.jpg"),
            format!("{}.jpg", digits.to_uppercase()),
            format!("+{}.jpg", &digits[1..]),
            format!("../{}.jpg", &digits[3..]),
        ] {
            assert_eq!(
                wrong.parse::<PosterName>(),
                Err(InvalidPosterName),
                "{wrong}"
            );
        }
    }

    #[test]
    fn only_an_address_below_its_own_event_is_an_uploaded_poster() {
        let (event, other) = (EventId::from_bytes([1; 16]), EventId::from_bytes([2; 16]));
        let url = address(event, PosterName::of(b"x"));
        assert!(is_uploaded(event, &url));
        assert!(!is_uploaded(other, &url));
        assert!(!is_uploaded(event, &format!("{url}?x")));
        assert!(!is_uploaded(event, &format!("https://b.example{url}")));
    }

    #[test]
    fn the_longest_side_is_cut_and_the_proportion_stays() {
        assert_eq!(kept_size(600, 400), (600, 400));
        assert_eq!(kept_size(1_200, 1_200), (1_200, 1_200));
        assert_eq!(kept_size(3_600, 2_400), (1_200, 800));
        assert_eq!(kept_size(2_000, 4_001), (600, 1_200));
        assert_eq!(kept_size(40_000_000, 1), (1_200, 1));
        assert_eq!(kept_size(u32::MAX, u32::MAX), (1_200, 1_200));
    }
}
