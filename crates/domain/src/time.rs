//! Points in time as milliseconds since 1970, and their RFC 3339 form.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::{Add, Sub};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// How far the clocks of two functions may disagree. A lapsed cell stays closed to
/// others for this long, so that no clock ahead of its time can take a live hold.
pub const CLOCK_SKEW_MS: u64 = 5_000;

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Millis(pub u64);

/// The last moment an RFC 3339 text can name: 9999-12-31T23:59:59.999Z.
pub const LAST_MOMENT: Millis = Millis(253_402_300_799_999);

impl Millis {
    pub const fn saturating_sub(self, ms: u64) -> Self {
        Self(self.0.saturating_sub(ms))
    }

    /// How long from `self` until `later`; zero when it has passed.
    pub const fn until(self, later: Self) -> u64 {
        later.0.saturating_sub(self.0)
    }

    /// Reads an RFC 3339 time with any offset, to the millisecond.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let moment = OffsetDateTime::parse(text, &Rfc3339).ok()?;
        let ms = moment.unix_timestamp_nanos().div_euclid(1_000_000);
        u64::try_from(ms)
            .ok()
            .map(Self)
            .filter(|t| *t <= LAST_MOMENT)
    }
}

impl Add<u64> for Millis {
    type Output = Self;
    fn add(self, ms: u64) -> Self {
        Self(self.0.saturating_add(ms))
    }
}

impl Sub<Millis> for Millis {
    type Output = u64;
    fn sub(self, earlier: Millis) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clamped = self.0.min(LAST_MOMENT.0);
        let nanos = i128::from(clamped) * 1_000_000;
        let text = OffsetDateTime::from_unix_timestamp_nanos(nanos)
            .ok()
            .and_then(|moment| moment.format(&Rfc3339).ok())
            .ok_or(fmt::Error)?;
        f.write_str(&text)
    }
}

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            serializer.collect_str(self)
        } else {
            serializer.serialize_u64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = String::deserialize(deserializer)?;
            Self::parse_rfc3339(&text).ok_or_else(|| {
                serde::de::Error::custom("not an RFC 3339 time between 1970 and 9999")
            })
        } else {
            u64::deserialize(deserializer).map(Self)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_any_offset_and_written_in_utc() {
        let noon = Millis::parse_rfc3339("2027-03-01T12:00:00+02:00").unwrap();
        assert_eq!(noon.to_string(), "2027-03-01T10:00:00Z");
        assert_eq!(Millis::parse_rfc3339("1969-12-31T23:59:59Z"), None);
        assert_eq!(Millis::parse_rfc3339("tomorrow"), None);
        assert_eq!(Millis(u64::MAX).to_string(), "9999-12-31T23:59:59.999Z");
    }
}
