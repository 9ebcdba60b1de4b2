//! A token bucket per key, for rate limits.
//!
//! A bucket is one number: the moment until which its owner has used up their rate
//! (the "generic cell rate algorithm", a token bucket without a timer). Each process
//! counts for itself, so several of them allow several times as much; that is enough
//! against a runaway client, and correctness never depends on it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::sorted::sorted;
use crate::time::Millis;

/// Whose bucket: an account's id, or the hash of anything else.
pub type LimitKey = [u8; 16];

/// 100,000 keys of 16 bytes with one number each: about 5 MB at most.
const MAX_KEYS: usize = 100_000;

#[derive(Debug)]
pub struct Limiter {
    /// One request uses this much of the future.
    interval_ms: u64,
    /// This far ahead of `now` a bucket is empty.
    burst_ms: u64,
    max_keys: usize,
    used_until: Mutex<HashMap<LimitKey, Millis>>,
}

impl Limiter {
    /// Allows `rate` requests per `period_ms` on average, and `burst` at once.
    pub fn new(rate: u64, period_ms: u64, burst: u64) -> Self {
        assert!(rate > 0 && burst > 0, "a limiter lets something through");
        let interval_ms = (period_ms / rate).max(1);
        Self {
            interval_ms,
            burst_ms: interval_ms.saturating_mul(burst),
            max_keys: MAX_KEYS,
            used_until: Mutex::default(),
        }
    }

    pub fn with_max_keys(mut self, max_keys: usize) -> Self {
        assert!(max_keys > 1, "eviction halves the keys");
        self.max_keys = max_keys;
        self
    }

    /// Whether there is something in the bucket, which stays as it is; the error is the
    /// number of seconds to wait.
    pub fn check(&self, key: LimitKey, now: Millis) -> Result<(), u64> {
        self.used_with_one_more(&self.buckets(), key, now)
            .map(|_| ())
    }

    /// Takes one from the bucket; the error is the number of seconds to wait.
    pub fn take(&self, key: LimitKey, now: Millis) -> Result<(), u64> {
        let mut buckets = self.buckets();
        let used = self.used_with_one_more(&buckets, key, now)?;
        if buckets.len() >= self.max_keys && !buckets.contains_key(&key) {
            Self::evict(&mut buckets, self.max_keys, now);
        }
        buckets.insert(key, used);
        Ok(())
    }

    fn buckets(&self) -> MutexGuard<'_, HashMap<LimitKey, Millis>> {
        self.used_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn used_with_one_more(
        &self,
        buckets: &HashMap<LimitKey, Millis>,
        key: LimitKey,
        now: Millis,
    ) -> Result<Millis, u64> {
        let used = buckets.get(&key).copied().unwrap_or_default().max(now) + self.interval_ms;
        let ahead = used - now;
        match ahead > self.burst_ms {
            true => Err((ahead - self.burst_ms).div_ceil(1_000).max(1)),
            false => Ok(used),
        }
    }

    /// Full buckets say nothing and go first. If there are none, the fuller half goes:
    /// a sweep is paid for by many takes, and those who pressed hardest stay counted.
    fn evict(buckets: &mut HashMap<LimitKey, Millis>, max_keys: usize, now: Millis) {
        buckets.retain(|_, used| *used > now);
        if buckets.len() < max_keys {
            return;
        }
        let moments = sorted(buckets.values().copied().collect());
        let middle = moments.len() / 2;
        let median = moments[middle];
        let mut to_drop = middle.max(1);
        buckets.retain(|_, used| {
            let drop = *used <= median && to_drop > 0;
            to_drop -= usize::from(drop);
            !drop
        });
    }

    /// How many keys are remembered now.
    pub fn keys(&self) -> usize {
        self.buckets().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(1_800_000_000_000);
    const MINUTE_MS: u64 = 60_000;

    fn key(n: u32) -> LimitKey {
        let mut key = [0; 16];
        key[..4].copy_from_slice(&n.to_be_bytes());
        key
    }

    #[test]
    fn a_burst_passes_and_then_the_rate_holds() {
        let limiter = Limiter::new(5, MINUTE_MS, 5);
        for _ in 0..5 {
            assert_eq!(limiter.take(key(1), NOW), Ok(()));
        }
        assert_eq!(limiter.take(key(1), NOW), Err(12));
        assert!(limiter.check(key(1), NOW + 11_999).is_err());
        assert!(limiter.check(key(1), NOW + 12_000).is_ok() && limiter.check(key(2), NOW).is_ok());
        assert_eq!(limiter.take(key(1), NOW + 11_999), Err(1));
        assert_eq!(limiter.take(key(1), NOW + 12_000), Ok(()));
        assert_eq!(limiter.take(key(1), NOW + 12_000), Err(12));
    }

    #[test]
    fn looking_into_a_bucket_takes_nothing_from_it() {
        let limiter = Limiter::new(1, MINUTE_MS, 1);
        for _ in 0..10 {
            assert_eq!(limiter.check(key(1), NOW), Ok(()));
        }
        assert_eq!(limiter.take(key(1), NOW), Ok(()));
        assert_eq!(limiter.check(key(1), NOW), Err(60));
        assert_eq!(limiter.check(key(1), NOW + MINUTE_MS), Ok(()));
    }

    #[test]
    fn waiting_as_told_is_enough_and_refusals_cost_nothing() {
        let limiter = Limiter::new(7, 10_000, 3);
        let mut now = NOW;
        for _ in 0..100 {
            match limiter.take(key(1), now) {
                Ok(()) => {}
                Err(wait_s) => {
                    for _ in 0..10 {
                        assert!(limiter.take(key(1), now).is_err());
                    }
                    now = now + wait_s * 1_000;
                    assert_eq!(limiter.take(key(1), now), Ok(()));
                }
            }
        }
    }

    #[test]
    fn one_account_does_not_use_up_anothers_rate() {
        let limiter = Limiter::new(1, MINUTE_MS, 1);
        assert_eq!(limiter.take(key(1), NOW), Ok(()));
        assert_eq!(limiter.take(key(2), NOW), Ok(()));
        assert_eq!(limiter.take(key(1), NOW), Err(60));
    }

    #[test]
    fn a_clock_that_steps_back_refuses_no_longer_than_the_burst() {
        let limiter = Limiter::new(1, 1_000, 2);
        assert_eq!(limiter.take(key(1), NOW), Ok(()));
        assert_eq!(limiter.take(key(1), NOW.saturating_sub(1_000)), Err(1));
        assert_eq!(limiter.take(key(1), NOW), Ok(()));
    }

    #[test]
    fn memory_is_bounded_and_the_busiest_stay_counted() {
        let limiter = Limiter::new(10, MINUTE_MS, 10).with_max_keys(100);
        for _ in 0..10 {
            assert_eq!(limiter.take(key(0), NOW), Ok(()));
        }
        for n in 1..10_000 {
            assert_eq!(limiter.take(key(n), NOW), Ok(()));
            assert!(limiter.keys() <= 100);
        }
        assert!(limiter.take(key(0), NOW).is_err());
    }
}
