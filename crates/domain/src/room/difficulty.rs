//! How much work a challenge asks for. One solved challenge is one chance in the lottery,
//! so the price of work is what keeps one person from taking many.

/// Expected tries until a key starts with one zero byte; a try costs `cost` hashes.
pub const TRIES: u32 = 256;
/// 16,000 hashes: a tenth of a second on a phone of 2019, which hashes 200,000 a second
/// in a Web Worker.
pub const FLOOR_COST: u32 = 64;
/// 262,000 hashes: 1.3 s on average on that phone. Tries are geometric, so 98 of 100
/// visitors are done within five seconds.
pub const CEILING_COST: u32 = 1_024;

/// What the edge knows against a visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suspicion {
    Nothing,
    /// Many challenges from one network, or no sign of a browser.
    Unusual,
    /// Behaviour that only programs show.
    Automated,
}

/// The cost of a challenge. It grows once more people arrive than the room lets in, for
/// that is when a second ticket is worth something.
pub fn cost(arrivals_per_second: u32, rate_per_second: u32, suspicion: Suspicion) -> u32 {
    let crowd = arrivals_per_second / rate_per_second.max(1);
    let factor = match suspicion {
        Suspicion::Nothing => 1,
        Suspicion::Unusual => 4,
        Suspicion::Automated => CEILING_COST / FLOOR_COST,
    };
    FLOOR_COST
        .saturating_mul(crowd.max(1))
        .saturating_mul(factor)
        .min(CEILING_COST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_quiet_room_asks_for_little_and_a_program_for_the_most() {
        assert_eq!(cost(3, 20, Suspicion::Nothing), FLOOR_COST);
        assert_eq!(cost(3, 0, Suspicion::Nothing), 3 * FLOOR_COST);
        assert_eq!(cost(3, 20, Suspicion::Unusual), 4 * FLOOR_COST);
        assert_eq!(cost(0, 20, Suspicion::Automated), CEILING_COST);
        assert_eq!(cost(u32::MAX, 1, Suspicion::Automated), CEILING_COST);
    }

    proptest! {
        #[test]
        fn more_arrivals_or_suspicion_never_make_it_cheaper(
            arrivals in 0u32..1_000_000, more in 0u32..1_000_000, rate in 0u32..10_000,
        ) {
            use Suspicion::*;
            for (low, high) in [(Nothing, Nothing), (Nothing, Unusual), (Unusual, Automated)] {
                let cheap = cost(arrivals, rate, low);
                prop_assert!(cheap <= cost(arrivals + more, rate, high));
                prop_assert!((FLOOR_COST..=CEILING_COST).contains(&cheap));
            }
        }
    }
}
