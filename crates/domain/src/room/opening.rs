//! When a room opens, and the buckets of arrival.
//!
//! A bucket is one second of arrivals, numbered from the creation of the show. Before
//! opening a lottery gathers everybody in bucket 0 instead. The numbers do not depend on
//! the opening time, and no second lottery is held once there is a line, so moving the
//! opening never lets a newcomer overtake somebody who waits.

use serde::{Deserialize, Serialize};

use crate::show::{RoomOrder, Show};
use crate::time::Millis;

/// How long after its end a bucket may still receive joins: an isolate can be a second
/// behind with its settings, and its counts take a second or two to arrive.
pub const CLOSING_MS: u64 = 3_000;
const BUCKET_MS: u64 = 1_000;

/// A second of arrivals, or, as number 0, everybody who came before a lottery opened.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Bucket(pub u32);

impl Bucket {
    pub const LOTTERY: Self = Self(0);

    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    pub opens: Option<Millis>,
    pub order: RoomOrder,
    /// When the show was created.
    pub since: Millis,
}

impl Opening {
    pub fn of(show: &Show) -> Self {
        Self {
            opens: show.room.opens_at.or(show.on_sale_at),
            order: show.room.order,
            since: show.created,
        }
    }

    pub fn is_open(&self, now: Millis) -> bool {
        self.opens.is_none_or(|opens| opens <= now)
    }

    /// When the lottery ends its bucket; `None` when there is no lottery.
    pub fn lottery_ends(&self) -> Option<Millis> {
        match self.order {
            RoomOrder::Lottery => self.opens.filter(|opens| *opens > self.since),
            RoomOrder::Fifo => None,
        }
    }

    pub fn bucket_at(&self, now: Millis) -> Bucket {
        match self.lottery_ends() {
            Some(ends) if now < ends => Bucket::LOTTERY,
            _ => self.second_of(now),
        }
    }

    /// From when on nobody can join this bucket any more.
    pub fn closes(&self, bucket: Bucket) -> Millis {
        let end = if bucket == Bucket::LOTTERY {
            // Without a lottery the bucket is empty, or left over from one that was called off.
            self.lottery_ends().unwrap_or(self.since)
        } else {
            self.since + u64::from(bucket.0) * BUCKET_MS
        };
        end + CLOSING_MS
    }

    pub fn is_closed(&self, bucket: Bucket, now: Millis) -> bool {
        self.closes(bucket) <= now
    }

    /// The last bucket that is closed together with all before it.
    pub fn last_closed(&self, now: Millis) -> Option<Bucket> {
        if !self.is_closed(Bucket::LOTTERY, now) {
            return None;
        }
        let seconds = (now - (self.since + CLOSING_MS)) / BUCKET_MS;
        Some(Bucket(u32::try_from(seconds).unwrap_or(u32::MAX)))
    }

    /// What becomes of the opening when the organiser asks for another one. Once anybody
    /// was let in it stays. Once people wait in order of arrival a lottery would let
    /// newcomers overtake them: the hour moves, whoever was in the lottery stays first, and
    /// the others come in the order of their seconds.
    pub fn changed_to(
        &self,
        wanted: Self,
        started: bool,
        anyone_joined: bool,
        now: Millis,
    ) -> Self {
        let wanted = Self {
            since: self.since,
            ..wanted
        };
        if started || wanted == *self {
            return *self;
        }
        // An isolate hears of the change as late as a bucket closes, and until then puts
        // people where this opening says.
        let has_line = self
            .lottery_ends()
            .is_none_or(|ends| ends <= now + CLOSING_MS);
        match anyone_joined && has_line {
            true => Self {
                order: RoomOrder::Fifo,
                ..wanted
            },
            false => wanted,
        }
    }

    fn second_of(&self, now: Millis) -> Bucket {
        let seconds = (now - self.since) / BUCKET_MS;
        Bucket(u32::try_from(seconds).unwrap_or(u32::MAX).saturating_add(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SINCE: Millis = Millis(1_800_000_000_000);
    const OPENS: Millis = Millis(SINCE.0 + 60_500);

    fn opening(order: RoomOrder, opens: Option<Millis>) -> Opening {
        Opening {
            opens,
            order,
            since: SINCE,
        }
    }

    #[test]
    fn before_a_lottery_opens_everybody_shares_a_bucket_and_later_a_second() {
        let lottery = opening(RoomOrder::Lottery, Some(OPENS));
        assert_eq!(lottery.bucket_at(SINCE), Bucket(0));
        assert_eq!(lottery.bucket_at(Millis(OPENS.0 - 1)), Bucket(0));
        assert_eq!(lottery.bucket_at(OPENS), Bucket(61));
        assert_eq!(lottery.bucket_at(SINCE + 61_000), Bucket(62));
    }

    #[test]
    fn without_a_lottery_buckets_are_seconds_from_the_start() {
        for opening in [
            opening(RoomOrder::Fifo, Some(OPENS)),
            opening(RoomOrder::Lottery, None),
            opening(RoomOrder::Lottery, Some(SINCE)),
        ] {
            assert_eq!(opening.bucket_at(SINCE), Bucket(1));
            assert_eq!(opening.bucket_at(SINCE + 999), Bucket(1));
            assert_eq!(opening.bucket_at(SINCE + 1_000), Bucket(2));
            assert_eq!(opening.bucket_at(SINCE.saturating_sub(9_000)), Bucket(1));
        }
    }

    #[test]
    fn a_bucket_closes_three_seconds_after_its_end() {
        let lottery = opening(RoomOrder::Lottery, Some(OPENS));
        assert!(!lottery.is_closed(Bucket(0), OPENS + 2_999));
        assert!(lottery.is_closed(Bucket(0), OPENS + 3_000));
        assert!(!lottery.is_closed(Bucket(61), SINCE + 63_999));
        assert!(lottery.is_closed(Bucket(61), SINCE + 64_000));
    }

    #[test]
    fn a_lottery_cannot_be_called_over_the_heads_of_a_line() {
        let lottery = opening(RoomOrder::Lottery, Some(OPENS));
        let fifo = opening(RoomOrder::Fifo, Some(OPENS));
        assert_eq!(fifo.changed_to(lottery, false, true, SINCE), fifo);
        assert_eq!(fifo.changed_to(lottery, false, false, SINCE), lottery);
        assert_eq!(lottery.changed_to(fifo, false, true, SINCE), fifo);
        let later = opening(RoomOrder::Lottery, Some(OPENS + 9_000));
        assert_eq!(lottery.changed_to(later, false, true, SINCE), later);
        assert_eq!(lottery.changed_to(later, true, true, SINCE), lottery);
    }

    #[test]
    fn an_opening_that_has_come_is_put_off_without_a_second_lottery() {
        let lottery = opening(RoomOrder::Lottery, Some(OPENS));
        let later = opening(RoomOrder::Lottery, Some(OPENS + 9_000));
        let line = opening(RoomOrder::Fifo, later.opens);
        for now in [OPENS.saturating_sub(CLOSING_MS), OPENS, OPENS + 60_000] {
            assert_eq!(lottery.changed_to(later, false, true, now), line);
            assert_eq!(line.changed_to(later, false, true, now), line);
            // What the organiser did not move stays as it is.
            assert_eq!(lottery.changed_to(lottery, false, true, now), lottery);
            assert_eq!(lottery.changed_to(later, false, false, now), later);
        }
    }

    proptest! {
        #[test]
        fn a_later_arrival_is_never_in_an_earlier_bucket_whatever_the_opening_becomes(
            first in 0u64..200_000, wait in 0u64..200_000, opens in 0u64..200_000, moved in 0u64..200_000,
            unheard in 0..CLOSING_MS,
        ) {
            let before = opening(RoomOrder::Lottery, Some(SINCE + opens));
            let wanted = opening(RoomOrder::Lottery, Some(SINCE + moved));
            let (early, late) = (SINCE + first, SINCE + first + wait);
            prop_assert!(before.bucket_at(early) <= before.bucket_at(late));
            // Whoever came early may have met an isolate that had not heard of the move.
            let after = before.changed_to(wanted, false, true, early.saturating_sub(unheard));
            prop_assert!(before.bucket_at(early) <= after.bucket_at(late));
        }

        #[test]
        fn the_last_closed_bucket_is_closed_and_the_next_is_not(
            at in 0u64..300_000, opens in prop::option::of(0u64..200_000),
        ) {
            let opening = opening(RoomOrder::Lottery, opens.map(|o| SINCE + o));
            let now = SINCE + at;
            match opening.last_closed(now) {
                Some(last) => {
                    prop_assert!(opening.is_closed(last, now));
                    prop_assert!(!opening.is_closed(last.next(), now));
                }
                None => prop_assert!(!opening.is_closed(Bucket(0), now)),
            }
        }

        #[test]
        fn nobody_arrives_in_a_closed_bucket(at in 0u64..300_000, opens in 0u64..200_000) {
            let opening = opening(RoomOrder::Lottery, Some(SINCE + opens));
            let now = SINCE + at;
            prop_assert!(!opening.is_closed(opening.bucket_at(now), now));
        }
    }
}
