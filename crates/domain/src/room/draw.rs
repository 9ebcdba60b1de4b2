//! The lottery: where in its bucket a ticket lies, decided by a seed that was committed to
//! before the first challenge, and checked by anybody once the seed is revealed.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

use super::keyed_hash::keyed_hash;
use super::opaque::Lot;
use super::opening::Bucket;
use super::ticket::Band;

const COMMITMENT: &[u8] = b"onsale draw seed\0";
const DRAW: &[u8] = b"onsale draw\0";
pub const MAX_BEACON_LEN: usize = 64;

/// A secret until it is revealed after the sale.
#[derive(Clone, PartialEq, Eq)]
pub struct Seed(pub [u8; 32]);

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(…)")
    }
}

/// What is published before the sale: nobody can find another seed that fits.
pub fn commitment(seed: &Seed) -> [u8; 32] {
    let hash = Sha256::new().chain_update(COMMITMENT);
    hash.chain_update(seed.0).finalize().into()
}

/// The second seed serves the buckets after opening, so the first can be revealed as soon
/// as the lottery is drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seeds {
    pub opening: Seed,
    pub later: Seed,
}

impl Seeds {
    pub fn of(&self, bucket: Bucket) -> &Seed {
        match bucket {
            Bucket::LOTTERY => &self.opening,
            _ => &self.later,
        }
    }
}

/// A public value that nobody knew when the seeds were committed to. Without one the
/// operator could have picked a seed to their liking, and no fairness is claimed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Beacon {
    #[default]
    Unused,
    /// Named in advance but not known yet: nothing is drawn.
    Awaited {
        name: String,
    },
    Known {
        name: String,
        value: Vec<u8>,
    },
}

impl Beacon {
    /// What is mixed in; `None` while it is awaited.
    pub fn value(&self) -> Option<&[u8]> {
        match self {
            Self::Unused => Some(&[]),
            Self::Awaited { .. } => None,
            Self::Known { value, .. } => Some(value),
        }
    }

    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Unused => None,
            Self::Awaited { name } | Self::Known { name, .. } => Some(name),
        }
    }

    pub fn is_awaited(&self) -> bool {
        matches!(self, Self::Awaited { .. })
    }
}

/// A place inside a bucket; small is early. The top bit is the band, the others are
/// uniform, so fans come first and everybody else is equal.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Draw(pub u64);

const EVERYBODY: u64 = 1 << 63;

impl Draw {
    pub const LAST: Self = Self(u64::MAX);
    pub(super) const LAST_FAN: Self = Self(EVERYBODY - 1);

    pub fn band(self) -> Band {
        if self.0 < EVERYBODY {
            Band::Fan
        } else {
            Band::Everybody
        }
    }

    /// Which share of its band lies at or before this draw.
    pub fn share_of_band(self) -> f64 {
        let within = (self.0 & !EVERYBODY) as f64 + 1.0;
        within / EVERYBODY as f64
    }

    /// The draw at or before which this share of a band lies.
    pub(super) fn at_share(band: Band, share: f64) -> Self {
        // A float saturates when it becomes an integer, so a share of one stays in its band.
        let within = ((share.clamp(0.0, 1.0) * EVERYBODY as f64) as u64).min(EVERYBODY - 1);
        match band {
            Band::Fan => Self(within),
            Band::Everybody => Self(EVERYBODY | within),
        }
    }
}

/// The draw of a ticket. It is only told once the bucket is closed, or a visitor could go
/// on asking for challenges until one of them draws well. Challenges that were asked for
/// before may still be sent for their two minutes; each look
/// at a draw costs a challenge of those.
pub fn draw(seed: &Seed, beacon: &[u8], bucket: Bucket, band: Band, lot: Lot) -> Draw {
    let beacon_len = (beacon.len() as u64).to_be_bytes();
    let bucket = bucket.0.to_be_bytes();
    let hash = keyed_hash(&seed.0, &[DRAW, &beacon_len, beacon, &bucket, &lot.0]);
    let (first, _) = hash.split_at(8);
    let within = first.iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
    match band {
        Band::Fan => Draw(within & !EVERYBODY),
        Band::Everybody => Draw(within | EVERYBODY),
    }
}

/// What anybody can check at home: the seed is the one that was committed to, and this
/// draw follows from it.
pub fn verify_draw(
    committed: &[u8; 32],
    revealed: &Seed,
    beacon: &[u8],
    (bucket, band, lot): (Bucket, Band, Lot),
    claimed: Draw,
) -> bool {
    commitment(revealed) == *committed && draw(revealed, beacon, bucket, band, lot) == claimed
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SEED: Seed = Seed([5; 32]);

    #[test]
    fn a_draw_can_be_checked_by_anybody_and_by_nobody_with_another_seed() {
        let ticket = (Bucket(0), Band::Everybody, Lot([1; 16]));
        let drawn = draw(&SEED, b"round 7", ticket.0, ticket.1, ticket.2);
        let committed = commitment(&SEED);
        assert!(verify_draw(&committed, &SEED, b"round 7", ticket, drawn));
        assert!(!verify_draw(&committed, &SEED, b"round 8", ticket, drawn));
        assert!(!verify_draw(
            &committed,
            &Seed([6; 32]),
            b"round 7",
            ticket,
            drawn
        ));
        assert!(!verify_draw(
            &committed,
            &SEED,
            b"round 7",
            ticket,
            Draw(drawn.0 ^ 1)
        ));
        let other = draw(&Seed([6; 32]), b"", ticket.0, ticket.1, ticket.2);
        assert!(!verify_draw(&committed, &Seed([6; 32]), b"", ticket, other));
    }

    #[test]
    fn every_part_changes_the_draw() {
        let base = draw(&SEED, b"ab", Bucket(1), Band::Everybody, Lot([1; 16]));
        for other in [
            draw(
                &Seed([4; 32]),
                b"ab",
                Bucket(1),
                Band::Everybody,
                Lot([1; 16]),
            ),
            draw(&SEED, b"a", Bucket(1), Band::Everybody, Lot([1; 16])),
            draw(&SEED, b"ab", Bucket(2), Band::Everybody, Lot([1; 16])),
            draw(&SEED, b"ab", Bucket(1), Band::Everybody, Lot([2; 16])),
            draw(&SEED, b"ab", Bucket(1), Band::Fan, Lot([1; 16])),
        ] {
            assert_ne!(base, other);
        }
    }

    #[test]
    fn the_draw_of_a_known_seed_never_changes() {
        // Tickets drawn under an older version must still verify.
        let drawn = draw(&SEED, b"beacon", Bucket(0), Band::Everybody, Lot([1; 16]));
        assert_eq!(drawn.0, PINNED, "{:#x}", drawn.0);
    }

    #[test]
    fn a_seed_is_never_printed_and_serves_its_buckets() {
        assert_eq!(format!("{SEED:?}"), "Seed(…)");
        let seeds = Seeds {
            opening: Seed([1; 32]),
            later: Seed([2; 32]),
        };
        assert_eq!(seeds.of(Bucket(0)), &Seed([1; 32]));
        assert_eq!(seeds.of(Bucket(1)), &Seed([2; 32]));
        let awaited = Beacon::Awaited {
            name: "drand 7".to_owned(),
        };
        assert_eq!((awaited.value(), awaited.name()), (None, Some("drand 7")));
    }

    proptest! {
        #[test]
        fn fans_come_before_everybody_else(fan in any::<[u8; 16]>(), other in any::<[u8; 16]>()) {
            let fan = draw(&SEED, b"", Bucket(0), Band::Fan, Lot(fan));
            let other = draw(&SEED, b"", Bucket(0), Band::Everybody, Lot(other));
            prop_assert!(fan < other);
            prop_assert_eq!((fan.band(), other.band()), (Band::Fan, Band::Everybody));
        }

        #[test]
        fn a_share_and_its_draw_agree(share in 0.0f64..=1.0, fan in any::<bool>()) {
            let band = if fan { Band::Fan } else { Band::Everybody };
            let drawn = Draw::at_share(band, share);
            prop_assert_eq!(drawn.band(), band);
            prop_assert!((drawn.share_of_band() - share).abs() < 1e-9);
        }
    }

    /// Computed with Python's `hmac`.
    const PINNED: u64 = 0xb888_d5ac_38c0_ddc1;
}
