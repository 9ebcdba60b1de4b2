//! Staff: people at the gates of some shows of one organiser, and nothing else.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ids::{AccountId, ShowId};
use crate::time::Millis;

/// Shows that one request names.
pub const SHOWS_AT_ONCE: std::ops::RangeInclusive<usize> = 1..=50;
/// A season of one person, and some 20 KB.
pub const MAX_SHOWS: usize = 500;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Staff {
    pub account: AccountId,
    /// Whose staff they are. It never changes: another organiser's staff has another
    /// account.
    pub organiser: AccountId,
    pub shows: BTreeSet<ShowId>,
    pub added: Millis,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooManyShows;

impl Staff {
    pub fn may_scan(&self, show: ShowId) -> bool {
        self.shows.contains(&show)
    }

    /// The same person at more shows; `None`: they are at all of them already.
    pub fn with_shows(&self, more: &[ShowId]) -> Result<Option<Self>, TooManyShows> {
        let mut next = self.clone();
        next.shows.extend(more);
        if next.shows.len() > MAX_SHOWS {
            return Err(TooManyShows);
        }
        Ok((next.shows.len() > self.shows.len()).then_some(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(n: u16) -> ShowId {
        let mut bytes = [0; 16];
        bytes[..2].copy_from_slice(&n.to_be_bytes());
        ShowId::from_bytes(bytes)
    }

    #[test]
    fn staff_scan_where_they_are_listed_and_shows_only_add_up() {
        let staff = Staff {
            account: AccountId::from_bytes([1; 16]),
            organiser: AccountId::from_bytes([2; 16]),
            shows: BTreeSet::from([show(1), show(2)]),
            added: Millis(5),
        };
        assert!(staff.may_scan(show(1)) && !staff.may_scan(show(3)));
        assert_eq!(staff.with_shows(&[show(2), show(1)]), Ok(None));
        let more = staff.with_shows(&[show(2), show(3)]).unwrap().unwrap();
        assert!(more.may_scan(show(3)) && more.may_scan(show(1)));
        let all: Vec<_> = (0..=MAX_SHOWS as u16).map(show).collect();
        assert_eq!(staff.with_shows(&all), Err(TooManyShows));
    }
}
