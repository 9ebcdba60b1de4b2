//! Accounts that go on after they were refused. A person waits as told; a program tries
//! again and again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use onsale_domain::time::Millis;

use super::LimitKey;

/// So many refusals in a row may be impatience.
const PATIENCE: u32 = 3;
/// How long an account stays under suspicion, and how long refusals are remembered.
const REMEMBERED_MS: u64 = 10 * 60_000;
/// 10,000 keys with a few numbers each: less than 1 MB.
const MAX_KEYS: usize = 10_000;

#[derive(Debug, Clone, Copy, Default)]
struct Streak {
    refused: u32,
    last: Millis,
    suspect_until: Millis,
}

impl Streak {
    fn is_over(&self, now: Millis) -> bool {
        self.suspect_until <= now && self.last + REMEMBERED_MS <= now
    }
}

/// Refusals in a row, per account, in this process.
#[derive(Debug)]
pub struct Refusals {
    max_keys: usize,
    streaks: Mutex<HashMap<LimitKey, Streak>>,
}

impl Default for Refusals {
    fn default() -> Self {
        Self {
            max_keys: MAX_KEYS,
            streaks: Mutex::default(),
        }
    }
}

impl Refusals {
    fn streaks(&self) -> MutexGuard<'_, HashMap<LimitKey, Streak>> {
        self.streaks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn refused(&self, key: LimitKey, now: Millis) {
        let mut streaks = self.streaks();
        if streaks.len() >= self.max_keys && !streaks.contains_key(&key) {
            evict(&mut streaks, self.max_keys, now);
        }
        let streak = streaks.entry(key).or_default();
        if streak.is_over(now) {
            *streak = Streak::default();
        }
        streak.refused = streak.refused.saturating_add(1);
        streak.last = now;
        if streak.refused > PATIENCE {
            streak.suspect_until = now + REMEMBERED_MS;
        }
    }

    /// Who waited as told ends the row; a suspicion stays for its time.
    pub(super) fn admitted(&self, key: LimitKey, now: Millis) {
        let mut streaks = self.streaks();
        if let Some(streak) = streaks.get_mut(&key) {
            streak.refused = 0;
            if streak.suspect_until <= now {
                streaks.remove(&key);
            }
        }
    }

    pub(super) fn suspects(&self, key: LimitKey, now: Millis) -> bool {
        let streaks = self.streaks();
        streaks.get(&key).is_some_and(|s| now < s.suspect_until)
    }
}

/// What is over goes first. If nothing is, everybody but the suspects goes, and if all
/// are suspects, they go: this is a hint, and memory is bounded.
fn evict(streaks: &mut HashMap<LimitKey, Streak>, max_keys: usize, now: Millis) {
    streaks.retain(|_, streak| !streak.is_over(now));
    if streaks.len() >= max_keys {
        streaks.retain(|_, streak| now < streak.suspect_until);
    }
    if streaks.len() >= max_keys {
        streaks.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(1_800_000_000_000);

    fn key(n: u32) -> LimitKey {
        let mut key = [0; 16];
        key[..4].copy_from_slice(&n.to_be_bytes());
        key
    }

    #[test]
    fn the_fourth_refusal_in_a_row_makes_a_suspect_for_ten_minutes() {
        let refusals = Refusals::default();
        for n in 0..4 {
            assert!(!refusals.suspects(key(1), NOW), "{n}");
            refusals.refused(key(1), NOW);
        }
        assert!(refusals.suspects(key(1), NOW));
        assert!(!refusals.suspects(key(2), NOW));
        // Waiting once does not clear anybody.
        refusals.admitted(key(1), NOW + 1);
        assert!(refusals.suspects(key(1), NOW + (REMEMBERED_MS - 1)));
        assert!(!refusals.suspects(key(1), NOW + REMEMBERED_MS));
    }

    #[test]
    fn who_waits_as_told_is_no_suspect_however_often_they_come() {
        let refusals = Refusals::default();
        for _ in 0..10 {
            for _ in 0..3 {
                refusals.refused(key(1), NOW);
            }
            refusals.admitted(key(1), NOW);
        }
        assert!(!refusals.suspects(key(1), NOW));
    }

    #[test]
    fn refusals_far_apart_are_not_in_a_row() {
        let refusals = Refusals::default();
        for n in 0..10 {
            refusals.refused(key(1), NOW + n * REMEMBERED_MS);
        }
        assert!(!refusals.suspects(key(1), NOW + 9 * REMEMBERED_MS));
    }

    #[test]
    fn memory_is_bounded_and_a_suspect_outlasts_a_crowd() {
        let refusals = Refusals {
            max_keys: 100,
            ..Refusals::default()
        };
        for _ in 0..4 {
            refusals.refused(key(0), NOW);
        }
        for n in 1..1_000 {
            refusals.refused(key(n), NOW);
            assert!(refusals.streaks().len() <= 100);
        }
        assert!(refusals.suspects(key(0), NOW));
        for n in 1_000..1_200 {
            for _ in 0..4 {
                refusals.refused(key(n), NOW);
            }
            assert!(refusals.streaks().len() <= 100);
        }
    }
}
