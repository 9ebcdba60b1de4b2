//! From a solved challenge to a queue ticket.
//!
//! The ticket follows from the challenge alone, whenever it is sent and however often: a
//! repeat after a lost answer finds its own place, and a replay gains nothing.

use super::keyed_hash::Key;
use super::opaque::Lot;
use super::opening::{Bucket, Opening};
use super::ticket::{Band, QueueTicket, TICKET_MS};
use crate::ids::{ShowId, VisitorId};
use crate::time::{CLOCK_SKEW_MS, Millis};
use crate::work::{Solved, Terms, Way};

/// How long a challenge can be solved and sent. A visitor arrives when they ask for one,
/// so this is also how long somebody could hoard an early arrival.
pub const CHALLENGE_MS: u64 = 120_000;
/// How long a visitor without a script waits instead of working, and may take to send it.
pub const WAIT_MS: u64 = 20_000;
pub const WAITING_CHALLENGE_MS: u64 = 320_000;

pub fn terms(show: ShowId, visitor: VisitorId, now: Millis) -> Terms {
    Terms {
        show,
        visitor,
        expires: now + CHALLENGE_MS,
    }
}

/// The terms without a script, and from when on they are met.
pub fn waiting_terms(show: ShowId, visitor: VisitorId, now: Millis) -> (Terms, Millis) {
    let terms = Terms {
        expires: now + WAITING_CHALLENGE_MS,
        ..terms(show, visitor, now)
    };
    (terms, now + WAIT_MS)
}

/// When whoever met this challenge asked for it, and when they arrived. Somebody who waited
/// instead of working comes after those who worked.
fn asked_and_arrived(solved: &Solved) -> (Millis, Millis) {
    let (lasts_ms, wait_ms) = match solved.way {
        Way::Worked(_) => (CHALLENGE_MS, 0),
        Way::Waited => (WAITING_CHALLENGE_MS, WAIT_MS),
    };
    let asked = solved.expires.saturating_sub(lasts_ms);
    (asked, asked + wait_ms)
}

/// Whether somebody can have met this challenge of a room by now. One that was given out
/// for a hold lasts longer, and would put its solver in a second that is still to come.
pub fn has_arrived(solved: &Solved, now: Millis) -> bool {
    let (_, arrived) = asked_and_arrived(solved);
    arrived <= now + CLOCK_SKEW_MS
}

/// The ticket for this challenge. With a fan code the code is the lot, so that one code is
/// one ticket, whoever sends it.
pub fn ticket(
    solved: &Solved,
    fan_code: Option<&[u8]>,
    show: ShowId,
    opening: &Opening,
    lot_key: &Key,
) -> QueueTicket {
    let (asked, arrived) = asked_and_arrived(solved);
    // In a lottery nobody comes first, so whoever asked in time takes part, however they
    // meet the challenge.
    let bucket = match opening.bucket_at(asked) {
        Bucket::LOTTERY => Bucket::LOTTERY,
        _ => opening.bucket_at(arrived),
    };
    let (band, lot) = match fan_code {
        Some(code) => (Band::Fan, Lot::of_fan_code(lot_key, code)),
        None => (
            Band::Everybody,
            Lot::of_challenge(lot_key, solved.signed_bytes()),
        ),
    };
    QueueTicket {
        show,
        bucket,
        band,
        lot,
        visitor: solved.visitor,
        expires: opening.opens.unwrap_or(arrived).max(arrived) + TICKET_MS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::show::RoomOrder;
    use crate::work::{Cost, TRIES, WorkKeys, issue, issue_waiting, payload, verify};

    const SHOW: ShowId = ShowId::from_bytes([1; 16]);
    const VISITOR: VisitorId = VisitorId::from_bytes([2; 16]);
    const SINCE: Millis = Millis(1_800_000_000_000);
    const OPENS: Millis = Millis(SINCE.0 + 60_000);
    const KEY: Key = [3; 32];

    fn opening(order: RoomOrder) -> Opening {
        Opening {
            opens: Some(OPENS),
            order,
            since: SINCE,
        }
    }

    fn keys() -> WorkKeys {
        "a-secret-that-is-long-enough-for-work".parse().unwrap()
    }

    fn solved(asked: Millis, sent: Millis) -> Solved {
        let challenge = issue(&terms(SHOW, VISITOR, asked), Cost::FLOOR, &[5; 34], &keys());
        let solution = challenge.solve(0..TRIES).unwrap();
        let text = payload(&challenge, &solution);
        verify(&text, SHOW, VISITOR, sent, &keys()).unwrap()
    }

    fn joined(asked: Millis, sent: Millis, fan_code: Option<&[u8]>) -> QueueTicket {
        let solved = solved(asked, sent);
        let opening = opening(RoomOrder::Lottery);
        ticket(&solved, fan_code, SHOW, &opening, &KEY)
    }

    #[test]
    fn a_challenge_is_the_same_ticket_whenever_it_is_sent() {
        let asked = OPENS + 4_000;
        let first = joined(asked, asked + 100, None);
        for later in [1_000, 5_000, 119_000] {
            assert_eq!(joined(asked, asked + later, None), first);
        }
    }

    #[test]
    fn whoever_asked_before_opening_is_in_the_lottery_though_they_worked_longer() {
        let before = joined(OPENS.saturating_sub(1_000), OPENS + 4_000, None);
        assert_eq!(before.bucket, Bucket::LOTTERY);
        assert_eq!(before.expires, OPENS + TICKET_MS);
        let after = joined(OPENS + 1_000, OPENS + 4_000, None);
        assert_eq!(after.bucket, Bucket(62));
        assert_eq!(after.expires, OPENS + 1_000 + TICKET_MS);
    }

    #[test]
    fn a_challenge_that_lasts_longer_than_those_of_rooms_is_none_of_theirs() {
        let asked = OPENS + 4_000;
        assert!(has_arrived(&solved(asked, asked), asked));
        let longer = Terms {
            expires: asked + 300_000,
            ..terms(SHOW, VISITOR, asked)
        };
        let challenge = issue(&longer, Cost::FLOOR, &[5; 34], &keys());
        let solution = challenge.solve(0..TRIES).unwrap();
        let text = payload(&challenge, &solution);
        let solved = verify(&text, SHOW, VISITOR, asked, &keys()).unwrap();
        assert!(!has_arrived(&solved, asked));
    }

    #[test]
    fn a_fan_code_is_one_lot_whatever_was_solved() {
        let first = joined(SINCE, SINCE + 1_000, Some(b"code"));
        let second = joined(SINCE + 20_000, SINCE + 21_000, Some(b"code"));
        assert_eq!((first.band, first.lot), (Band::Fan, second.lot));
        let other = joined(SINCE, SINCE + 1_000, Some(b"edoc"));
        let none = joined(SINCE, SINCE + 1_000, None);
        assert!(other.lot != first.lot && none.lot != first.lot);
        assert_eq!(none.band, Band::Everybody);
    }

    fn waited(asked: Millis, opening: &Opening) -> QueueTicket {
        let (terms, until) = waiting_terms(SHOW, VISITOR, asked);
        let text = issue_waiting(&terms, until, &[5; 34], &keys());
        let solved = verify(&text, SHOW, VISITOR, until, &keys()).unwrap();
        ticket(&solved, None, SHOW, opening, &KEY)
    }

    #[test]
    fn whoever_waited_instead_of_working_comes_after_those_who_worked() {
        for order in [RoomOrder::Fifo, RoomOrder::Lottery] {
            let opening = opening(order);
            let asked = OPENS + 4_000;
            let bucket = opening.bucket_at(asked + WAIT_MS);
            assert_eq!(waited(asked, &opening).bucket, bucket);
        }
        let asked = OPENS.saturating_sub(1_000);
        let fifo = opening(RoomOrder::Fifo);
        let bucket = fifo.bucket_at(asked + WAIT_MS);
        assert_eq!(waited(asked, &fifo).bucket, bucket);
    }

    #[test]
    fn whoever_asked_before_opening_is_in_the_lottery_though_they_waited_past_it() {
        let lottery = opening(RoomOrder::Lottery);
        // Challenges count whole seconds.
        for before_ms in [1_000, WAIT_MS - 1_000, WAIT_MS, WAIT_MS + 1_000] {
            let ticket = waited(OPENS.saturating_sub(before_ms), &lottery);
            assert_eq!(ticket.bucket, Bucket::LOTTERY, "{before_ms}");
        }
        assert_ne!(waited(OPENS, &lottery).bucket, Bucket::LOTTERY);
    }
}
