//! How much work a challenge asks for. One solved challenge is one chance in the lottery,
//! so the price of work is what keeps one person from taking many.

use crate::work::Cost;

/// What a quiet room asks of an ordinary visitor: 0.52 s at worst on a slow phone.
const USUAL: u32 = 2;

/// What is known against a visitor or an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Suspicion {
    Nothing,
    /// Many accounts on one device, or many challenges from one network.
    Unusual,
    /// Behaviour that only programs show.
    Automated,
}

/// The cost of a challenge. It grows once more people arrive than the room lets in, for
/// that is when a second ticket is worth something.
pub fn cost(arrivals_per_second: u32, rate_per_second: u32, suspicion: Suspicion) -> Cost {
    let crowd = arrivals_per_second / rate_per_second.max(1);
    match suspicion {
        Suspicion::Nothing => Cost::clamped(USUAL.saturating_mul(crowd.max(1))),
        Suspicion::Unusual => Cost::clamped((4 * USUAL).saturating_mul(crowd.max(1))),
        Suspicion::Automated => Cost::CEILING,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_quiet_room_asks_for_little_and_a_program_for_the_most() {
        let hashes = |arrivals, rate, suspicion| cost(arrivals, rate, suspicion).hashes();
        assert_eq!(hashes(3, 20, Suspicion::Nothing), 2);
        assert_eq!(hashes(3, 0, Suspicion::Nothing), 6);
        assert_eq!(hashes(3, 20, Suspicion::Unusual), 8);
        assert_eq!(cost(0, 20, Suspicion::Automated), Cost::CEILING);
        assert_eq!(cost(u32::MAX, 1, Suspicion::Nothing), Cost::CEILING);
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
            }
        }
    }
}
