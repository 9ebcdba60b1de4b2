//! The live map of a show: what changed from one reading of it to the next.
//!
//! While anybody watches, the map is read once a second, and everybody gets the same few
//! changes. Whoever was away names the last version they know and gets what they missed.
//!
//! A version is a time by the clock of whoever read the places. A map that somebody else
//! read may be older or newer than its version says, by as much as clocks disagree.

use onsale_domain::time::CLOCK_SKEW_MS;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::VecDeque;

use crate::host::{Told, Trouble};

/// How often the map is read while somebody watches.
pub const READ_MS: u64 = 1_000;
/// Five minutes of changes; whoever was away longer reads the map again.
const KEPT: usize = 300;
/// More than this is no difference but another map, and reading that is cheaper.
const MAX_CHANGES: usize = 20_000;
/// Between two readings of a feed that nobody watches for longer than this, a place may have
/// been taken and given back.
const GAP_MS: u64 = 5_000;
/// With a map of at most 25 KB these stay below the 128 KiB of a stored value.
const MAX_STORED_CHANGES: usize = 10_000;
const FORMAT: u8 = 1;

/// A place and its state: 0 free, 1 held, 2 sold, 3 not for sale.
pub type Change = (u32, u8);

#[derive(Debug, Serialize, Deserialize)]
struct Difference {
    /// The version of the reading before.
    from: u64,
    version: u64,
    changes: Vec<Change>,
}

impl Difference {
    /// Whether somebody who read the map at about this moment may have seen what neither of
    /// our readings shows.
    fn hides(&self, since: u64, skew_ms: u64) -> bool {
        is_gap(self.from, self.version)
            && self.from < since.saturating_add(skew_ms)
            && since < self.version.saturating_add(skew_ms)
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Feed {
    version: u64,
    map: Vec<u8>,
    /// The version before the first difference that is kept.
    oldest: u64,
    differences: VecDeque<Difference>,
}

impl Feed {
    /// Takes a new reading, and returns what to send to everybody, if anything changed.
    pub fn read(&mut self, version: u64, map: Vec<u8>) -> Option<String> {
        if version <= self.version {
            return None;
        }
        let from = self.version;
        let first = from == 0;
        let resized = map.len() != self.map.len();
        let changes = match first || resized {
            true => Vec::new(),
            false => differences(&self.map, &map),
        };
        self.version = version;
        self.map = map;
        if first || resized || changes.len() > MAX_CHANGES {
            self.differences.clear();
            self.oldest = version;
            return (!first).then(|| reset(version));
        }
        let message = (!changes.is_empty()).then(|| changed(version, &changes));
        if message.is_some() || is_gap(from, version) {
            self.differences.push_back(Difference {
                from,
                version,
                changes,
            });
        }
        if self.differences.len() > KEPT {
            self.forget_oldest();
        }
        message
    }

    fn forget_oldest(&mut self) {
        if let Some(gone) = self.differences.pop_front() {
            self.oldest = gone.version;
        }
    }

    /// The first message for a watcher who knows this version of the map.
    pub fn welcome(&self, since: Option<u64>) -> String {
        let Some(since) = since.filter(|_| self.version > 0) else {
            return reset(self.version);
        };
        let mut kept = self.differences.iter();
        let is_ours = since == self.oldest
            || since == self.version
            || kept.any(|d| since == d.from || since == d.version);
        let skew_ms = if is_ours { 0 } else { CLOCK_SKEW_MS };
        let is_hidden = self.differences.iter().any(|d| d.hides(since, skew_ms));
        if is_hidden || since < self.oldest.saturating_add(skew_ms) {
            return reset(self.version);
        }
        // A reading of somebody else's may lie between two of ours. States are absolute, so
        // what changed around it may be told again.
        let is_missed = |d: &&Difference| d.version.saturating_add(skew_ms) > since;
        let missed = self.differences.iter().filter(is_missed);
        let mut latest = std::collections::BTreeMap::new();
        for difference in missed {
            latest.extend(difference.changes.iter().copied());
        }
        let changes: Vec<Change> = latest.into_iter().collect();
        changed(self.version.max(since), &changes)
    }

    pub fn version(&self) -> u64 {
        self.version
    }

    /// The feed as it is stored when nobody watches any more.
    pub fn stored(&mut self) -> Told<Vec<u8>> {
        let changes =
            |feed: &Self| -> usize { feed.differences.iter().map(|d| d.changes.len()).sum() };
        while changes(self) > MAX_STORED_CHANGES {
            self.forget_oldest();
        }
        postcard::to_extend(self, vec![FORMAT]).map_err(Trouble::new)
    }

    /// What was stored, if this code can read it: otherwise everybody begins anew.
    pub fn restored(stored: &[u8]) -> Option<Self> {
        let (format, rest) = stored.split_first()?;
        (*format == FORMAT).then(|| postcard::from_bytes(rest).ok())?
    }
}

fn is_gap(from: u64, to: u64) -> bool {
    to > from.saturating_add(GAP_MS)
}

fn changed(version: u64, changes: &[Change]) -> String {
    json!({"version": version, "changes": changes}).to_string()
}

fn reset(version: u64) -> String {
    json!({"version": version, "reset": true}).to_string()
}

/// The places whose two bits differ.
fn differences(before: &[u8], after: &[u8]) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut first = 0;
    for (old, new) in before.iter().zip(after) {
        if old != new {
            for place in 0..4 {
                let state = |byte: &u8| byte >> (2 * place) & 3;
                if state(old) != state(new) {
                    changes.push((first + place, state(new)));
                }
            }
        }
        first += 4;
    }
    changes
}

/// Version and map of an answer of `availability.bin`.
pub fn reading(answer: &http::Response<Vec<u8>>) -> Told<(u64, Vec<u8>)> {
    if answer.status() != http::StatusCode::OK {
        return Err(Trouble(format!("the map was answered {}", answer.status())));
    }
    let version = answer.headers().get("onsale-version");
    let version = version.and_then(|v| v.to_str().ok()?.parse().ok());
    let version = version.ok_or_else(|| Trouble::new("the map has no version"))?;
    Ok((version, answer.body().clone()))
}

pub fn map_path(show: onsale_domain::ids::ShowId) -> String {
    format!("/api/v1/shows/{show}/availability.bin")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn map(states: &[u8]) -> Vec<u8> {
        states
            .chunks(4)
            .map(|four| four.iter().rev().fold(0, |byte, state| byte << 2 | state))
            .collect()
    }

    fn apply(states: &mut [u8], message: &str) {
        let message: Value = serde_json::from_str(message).unwrap();
        for change in message["changes"].as_array().unwrap() {
            let place = change[0].as_u64().unwrap() as usize;
            states[place] = change[1].as_u64().unwrap() as u8;
        }
    }

    #[test]
    fn a_change_names_its_place_and_state() {
        let mut feed = Feed::default();
        assert_eq!(feed.read(5, map(&[0, 0, 0, 0, 0, 0, 3, 3])), None);
        let message = feed.read(6, map(&[0, 1, 0, 0, 0, 2, 3, 3]));
        assert_eq!(
            message.as_deref(),
            Some(r#"{"changes":[[1,1],[5,2]],"version":6}"#)
        );
        assert_eq!(feed.read(7, map(&[0, 1, 0, 0, 0, 2, 3, 3])), None);
        assert_eq!(feed.read(7, map(&[0; 8])), None, "not a new version");
    }

    #[test]
    fn who_knows_nothing_or_too_little_reads_the_map() {
        let mut feed = Feed::default();
        assert!(feed.welcome(Some(3)).contains("reset"));
        feed.read(5, map(&[0; 8]));
        assert!(feed.welcome(None).contains("reset"));
        assert!(feed.welcome(Some(4)).contains("reset"));
        assert!(!feed.welcome(Some(5)).contains("reset"));
        assert!(feed.read(6, map(&[0; 12])).unwrap().contains("reset"));
        assert!(feed.welcome(Some(5)).contains("reset"));
    }

    #[test]
    fn however_long_nothing_changes_an_old_version_is_still_the_map() {
        let mut feed = Feed::default();
        feed.read(1_000, map(&[0; 8]));
        for version in 2..1_000 {
            assert_eq!(feed.read(version * 1_000, map(&[0; 8])), None);
        }
        let told = r#"{"changes":[],"version":999000}"#;
        assert_eq!(feed.welcome(Some(1_000)), told);
        feed.read(1_000_000, map(&[0, 0, 2, 0, 0, 0, 0, 0]));
        for version in 1_001..2_000 {
            feed.read(version * 1_000, map(&[0, 0, 2, 0, 0, 0, 0, 0]));
        }
        let told = r#"{"changes":[[2,2]],"version":1999000}"#;
        assert_eq!(feed.welcome(Some(1_000)), told);
        let told = r#"{"changes":[],"version":1999000}"#;
        assert_eq!(feed.welcome(Some(1_000_000)), told);
    }

    #[test]
    fn a_feed_that_nobody_watched_tells_what_changed_meanwhile() {
        let mut feed = Feed::default();
        feed.read(1_000, map(&[0; 8]));
        feed.read(2_000, map(&[1, 0, 0, 0, 0, 0, 0, 0]));
        let mut feed = Feed::restored(&feed.stored().unwrap()).unwrap();
        feed.read(600_000, map(&[1, 2, 0, 0, 0, 0, 0, 0]));
        let told = r#"{"changes":[[0,1],[1,2]],"version":600000}"#;
        assert_eq!(feed.welcome(Some(1_000)), told);
        let told = r#"{"changes":[[1,2]],"version":600000}"#;
        assert_eq!(feed.welcome(Some(2_000)), told);
        assert_eq!(Feed::restored(&[FORMAT + 1, 0]).map(|f| f.version), None);
    }

    #[test]
    fn whoever_read_the_map_while_nobody_watched_may_have_seen_what_is_gone() {
        let mut feed = Feed::default();
        feed.read(1_000, map(&[0; 8]));
        feed.read(600_000, map(&[0; 8]));
        assert!(feed.welcome(Some(300_000)).contains("reset"));
        assert!(!feed.welcome(Some(1_000)).contains("reset"));
        assert!(!feed.welcome(Some(600_000)).contains("reset"));
        for second in 601..=606 {
            feed.read(second * 1_000, map(&[0; 8]));
        }
        // Of a clock that may have been ahead.
        assert!(feed.welcome(Some(604_999)).contains("reset"));
        assert!(!feed.welcome(Some(605_500)).contains("reset"));
    }

    /// The map of another instance says that it is of the tenth second, and is of the seventh.
    #[test]
    fn a_map_that_was_read_by_a_clock_ahead_of_ours_misses_nothing() {
        let mut feed = Feed::default();
        for second in 1..=7 {
            feed.read(second * 1_000, map(&[0; 8]));
        }
        feed.read(8_000, map(&[0, 2, 0, 0, 0, 0, 0, 0]));
        feed.read(9_000, map(&[0, 2, 0, 1, 0, 0, 0, 0]));
        let told = r#"{"changes":[[1,2],[3,1]],"version":10010}"#;
        assert_eq!(feed.welcome(Some(10_010)), told);
        // Our own versions say what they are.
        let told = r#"{"changes":[[3,1]],"version":9000}"#;
        assert_eq!(feed.welcome(Some(8_000)), told);
        // A map that may be from before our first reading may lack what that one had.
        assert!(feed.welcome(Some(5_999)).contains("reset"));
        assert!(!feed.welcome(Some(6_001)).contains("reset"));
        assert!(!feed.welcome(Some(1_000)).contains("reset"));
    }

    #[test]
    fn only_five_minutes_of_changes_are_kept() {
        let mut feed = Feed::default();
        feed.read(1, map(&[0; 4]));
        for version in 2..400 {
            feed.read(version, map(&[(version % 3) as u8; 4]));
        }
        assert!(feed.welcome(Some(98)).contains("reset"));
        assert!(!feed.welcome(Some(99)).contains("reset"));
    }

    proptest! {
        #[test]
        fn whoever_comes_back_sees_the_same_map(
            readings in prop::collection::vec(prop::collection::vec(0u8..4, 13), 2..20),
            away in any::<prop::sample::Index>(),
        ) {
            let mut feed = Feed::default();
            for (i, states) in readings.iter().enumerate() {
                feed.read(i as u64 + 1, map(states));
            }
            let away = away.index(readings.len());
            let mut seen = readings[away].clone();
            apply(&mut seen, &feed.welcome(Some(away as u64 + 1)));
            prop_assert_eq!(&seen, readings.last().unwrap());
        }
    }
}
