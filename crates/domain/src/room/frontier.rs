//! How far the line has been let in.

use serde::{Deserialize, Serialize};

use super::draw::Draw;
use super::opening::Bucket;

/// Where a ticket stands in the line. Who comes first is the lesser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    pub bucket: Bucket,
    pub draw: Draw,
}

impl Place {
    /// Behind everybody: whoever walks in before their draw is known stands here.
    pub const LAST: Self = Self {
        bucket: Bucket(u32::MAX),
        draw: Draw::LAST,
    };
}

/// Everybody at or before it has been reached, and may come to the door. It only ever moves
/// forward.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct Frontier {
    pub bucket: Bucket,
    pub through: Draw,
}

impl Frontier {
    pub fn admits(self, bucket: Bucket, draw: Draw) -> bool {
        (bucket, draw) <= (self.bucket, self.through)
    }

    /// The last place that it has reached.
    pub fn place(self) -> Place {
        Place {
            bucket: self.bucket,
            draw: self.through,
        }
    }

    #[must_use]
    pub fn forward_to(self, other: Self) -> Self {
        self.max(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn frontier((bucket, through): (u32, u64)) -> Frontier {
        Frontier {
            bucket: Bucket(bucket),
            through: Draw(through),
        }
    }

    #[test]
    fn a_ticket_is_admitted_at_or_before_the_frontier() {
        let at = frontier((4, 100));
        assert!(at.admits(Bucket(3), Draw::LAST));
        assert!(at.admits(Bucket(4), Draw(100)));
        assert!(!at.admits(Bucket(4), Draw(101)));
        assert!(!at.admits(Bucket(5), Draw(0)));
    }

    proptest! {
        #[test]
        fn whoever_is_admitted_stays_admitted(
            from in any::<(u32, u64)>(), to in any::<(u32, u64)>(), ticket in any::<(u32, u64)>(),
        ) {
            let (bucket, draw) = (Bucket(ticket.0), Draw(ticket.1));
            let moved = frontier(from).forward_to(frontier(to));
            prop_assert!(!frontier(from).admits(bucket, draw) || moved.admits(bucket, draw));
        }
    }
}
