//! How hard a challenge may be.

use serde::Deserialize;

/// How many counters a challenge may hide its solution among. Every one is equally
/// likely, so a search takes half of them on average and never more than all.
pub const TRIES: u32 = 1 << 16;

/// What we reckon with: a slow phone of 2019, in the one Web Worker of the page. The test of
/// the page in a browser reads this number and demands it.
pub const PHONE_HASHES_PER_SECOND: u32 = 250_000;
/// Nobody works longer than this on such a phone, however unlucky they are.
pub const LONGEST_WORK_S: u32 = 5;

/// SHA-256 hashes a try, on the visitor's side and, once, on ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "u32")]
pub struct Cost(u32);

impl Cost {
    /// 65,536 hashes at worst: 0.26 s on that phone.
    pub const FLOOR: Self = Self(1);

    /// 19 × 65,536 = 1.25 million hashes at worst, half of that on average: 5 s and 2.5 s on
    /// that phone. A middling one is twice as fast.
    pub const CEILING: Self = Self(LONGEST_WORK_S * PHONE_HASHES_PER_SECOND / TRIES);

    /// The nearest cost that a visitor can be asked for.
    pub const fn clamped(hashes: u32) -> Self {
        if hashes < Self::FLOOR.0 {
            Self::FLOOR
        } else if hashes > Self::CEILING.0 {
            Self::CEILING
        } else {
            Self(hashes)
        }
    }

    pub const fn hashes(self) -> u32 {
        self.0
    }
}

/// Out of range is refused, not clamped: a cost that was signed must be read as it is.
impl TryFrom<u32> for Cost {
    type Error = &'static str;

    fn try_from(hashes: u32) -> Result<Self, Self::Error> {
        let cost = Self::clamped(hashes);
        if cost.0 == hashes {
            Ok(cost)
        } else {
            Err("this cost is never asked for")
        }
    }
}
