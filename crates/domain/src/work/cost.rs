//! How hard a challenge may be.

use serde::Deserialize;

/// How many counters a challenge may hide its solution among. Every one is equally
/// likely, so a search takes half of them on average and never more than all.
pub const TRIES: u32 = 1 << 16;

/// SHA-256 hashes a try, on the visitor's side and, once, on ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "u32")]
pub struct Cost(u32);

impl Cost {
    /// 65,536 hashes at worst: 0.13 s on the phone below.
    pub const FLOOR: Self = Self(1);

    /// 32 × 65,536 = 2.1 million hashes at worst, half of that on average. We reckon with
    /// 500,000 hashes/s in one Web Worker of a middling phone of 2019: 4.2 s at worst and
    /// 2.1 s on average. A phone of half that speed still needs 4.2 s on average.
    pub const CEILING: Self = Self(32);

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
