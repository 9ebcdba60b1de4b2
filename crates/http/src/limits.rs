//! How often somebody may ask.
//!
//! A bucket is one number: the moment until which its owner has used up their rate
//! (the "generic cell rate algorithm", a token bucket without a timer). Each process
//! counts for itself, so several instances of a function allow several times as much;
//! that is enough against a runaway client, and correctness never depends on it.

mod refusals;

pub use refusals::Refusals;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use onsale_app::Error;
use onsale_domain::account::Email;
use onsale_domain::ids::{AccountId, SessionId};
use onsale_domain::request_hash::RequestHash;
use onsale_domain::room::difficulty::Suspicion;
use onsale_domain::time::Millis;

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

    /// Takes one from the bucket; the error is the number of seconds to wait.
    pub fn take(&self, key: LimitKey, now: Millis) -> Result<(), u64> {
        let mut buckets = self
            .used_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let used = buckets.get(&key).copied().unwrap_or_default().max(now) + self.interval_ms;
        let ahead = used - now;
        if ahead > self.burst_ms {
            return Err((ahead - self.burst_ms).div_ceil(1_000).max(1));
        }
        if buckets.len() >= self.max_keys && !buckets.contains_key(&key) {
            Self::evict(&mut buckets, self.max_keys, now);
        }
        buckets.insert(key, used);
        Ok(())
    }

    /// Full buckets say nothing and go first. If there are none, the fuller half goes:
    /// a sweep is paid for by many takes, and those who pressed hardest stay counted.
    fn evict(buckets: &mut HashMap<LimitKey, Millis>, max_keys: usize, now: Millis) {
        buckets.retain(|_, used| *used > now);
        if buckets.len() < max_keys {
            return;
        }
        let mut moments: Vec<Millis> = buckets.values().copied().collect();
        let middle = moments.len() / 2;
        let (_, median, _) = moments.select_nth_unstable(middle);
        let median = *median;
        let mut to_drop = middle.max(1);
        buckets.retain(|_, used| {
            let drop = *used <= median && to_drop > 0;
            to_drop -= usize::from(drop);
            !drop
        });
    }

    /// How many keys are remembered now.
    pub fn keys(&self) -> usize {
        self.used_until
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }
}

const MINUTE_MS: u64 = 60_000;

/// The limits of the platform. `off` is for load tests on a machine of one's own.
#[derive(Debug)]
pub struct Limits {
    pub requests_per_account: Limiter,
    pub hold_attempts: Limiter,
    /// Each may try a card: whoever tests stolen ones needs many.
    pub checkout_attempts: Limiter,
    pub log_ins_per_email: Limiter,
    pub registrations_per_email: Limiter,
    /// Who goes on after being refused.
    pub refusals: Refusals,
    pub off: bool,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            requests_per_account: Limiter::new(100, MINUTE_MS, 100),
            hold_attempts: Limiter::new(5, MINUTE_MS, 5),
            checkout_attempts: Limiter::new(5, MINUTE_MS, 5),
            log_ins_per_email: Limiter::new(10, 15 * MINUTE_MS, 10),
            registrations_per_email: Limiter::new(10, 15 * MINUTE_MS, 10),
            refusals: Refusals::default(),
            off: false,
        }
    }
}

impl Limits {
    /// The defaults, or what the environment says instead: `ONSALE_REQUESTS_PER_MINUTE`,
    /// `ONSALE_HOLD_ATTEMPTS_PER_MINUTE`, `ONSALE_CHECKOUT_ATTEMPTS_PER_MINUTE`,
    /// `ONSALE_LOG_INS_PER_QUARTER_HOUR`.
    pub fn from_env() -> Result<Self, String> {
        Self::configured(|name| std::env::var(name).ok())
    }

    fn configured(setting: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let limiter = |name: &str, usual: u64, period_ms: u64| {
            let rate = match setting(name) {
                None => usual,
                Some(text) => match text.parse() {
                    Ok(rate @ 1..=1_000_000) => rate,
                    _ => return Err(format!("{name} must be a number from 1 to 1000000")),
                },
            };
            Ok(Limiter::new(rate, period_ms, rate))
        };
        Ok(Self {
            requests_per_account: limiter("ONSALE_REQUESTS_PER_MINUTE", 100, MINUTE_MS)?,
            hold_attempts: limiter("ONSALE_HOLD_ATTEMPTS_PER_MINUTE", 5, MINUTE_MS)?,
            checkout_attempts: limiter("ONSALE_CHECKOUT_ATTEMPTS_PER_MINUTE", 5, MINUTE_MS)?,
            log_ins_per_email: limiter("ONSALE_LOG_INS_PER_QUARTER_HOUR", 10, 15 * MINUTE_MS)?,
            registrations_per_email: Limiter::new(10, 15 * MINUTE_MS, 10),
            refusals: Refusals::default(),
            off: false,
        })
    }

    pub fn off() -> Self {
        Self {
            off: true,
            ..Self::default()
        }
    }

    pub fn request(&self, account: AccountId, now: Millis) -> Result<(), Error> {
        self.take(&self.requests_per_account, *account.as_bytes(), now)
    }

    /// A token may ask as often as its account, before anybody knows whether it is open.
    pub fn token(&self, session: SessionId, now: Millis) -> Result<(), Error> {
        self.take(&self.requests_per_account, *session.as_bytes(), now)
    }

    pub fn hold_attempt(&self, account: AccountId, now: Millis) -> Result<(), Error> {
        let key = *account.as_bytes();
        let taken = self.take(&self.hold_attempts, key, now);
        match taken {
            Ok(()) => self.refusals.admitted(key, now),
            Err(_) => self.refusals.refused(key, now),
        }
        taken
    }

    /// What an account has shown of itself in this process: whoever keeps asking for
    /// holds although they were told to wait is a program.
    pub fn suspicion(&self, account: AccountId, now: Millis) -> Suspicion {
        match self.refusals.suspects(*account.as_bytes(), now) {
            true => Suspicion::Automated,
            false => Suspicion::Nothing,
        }
    }

    pub fn checkout_attempt(&self, account: AccountId, now: Millis) -> Result<(), Error> {
        self.take(&self.checkout_attempts, *account.as_bytes(), now)
    }

    /// Counts by the address alone, whether or not it has an account.
    pub fn log_in(&self, email: &Email, now: Millis) -> Result<(), Error> {
        let key = RequestHash::of(email.as_str().as_bytes()).0;
        self.take(&self.log_ins_per_email, key, now)
    }

    /// As log-ins are: a retry with its key tells whether a password is right.
    pub fn registration(&self, email: &Email, now: Millis) -> Result<(), Error> {
        let key = RequestHash::of(email.as_str().as_bytes()).0;
        self.take(&self.registrations_per_email, key, now)
    }

    /// As registrations are, with a bucket of its own for each address.
    pub fn fan_registration(&self, email: &Email, now: Millis) -> Result<(), Error> {
        let key = RequestHash::of(format!("fan {}", email.as_str()).as_bytes()).0;
        self.take(&self.registrations_per_email, key, now)
    }

    fn take(&self, limiter: &Limiter, key: LimitKey, now: Millis) -> Result<(), Error> {
        if self.off {
            return Ok(());
        }
        limiter
            .take(key, now)
            .map_err(|retry_after_s| Error::RateLimited { retry_after_s })
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
    fn a_burst_passes_and_then_the_rate_holds() {
        let limiter = Limiter::new(5, MINUTE_MS, 5);
        for _ in 0..5 {
            assert_eq!(limiter.take(key(1), NOW), Ok(()));
        }
        assert_eq!(limiter.take(key(1), NOW), Err(12));
        assert_eq!(limiter.take(key(1), NOW + 11_999), Err(1));
        assert_eq!(limiter.take(key(1), NOW + 12_000), Ok(()));
        assert_eq!(limiter.take(key(1), NOW + 12_000), Err(12));
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

    #[test]
    fn off_lets_everything_through() {
        let limits = Limits::off();
        let account = AccountId::from_bytes([1; 16]);
        for _ in 0..1_000 {
            assert_eq!(limits.hold_attempt(account, NOW), Ok(()));
        }
        let limits = Limits::default();
        for _ in 0..5 {
            assert_eq!(limits.hold_attempt(account, NOW), Ok(()));
        }
        assert_eq!(
            limits.hold_attempt(account, NOW),
            Err(Error::RateLimited { retry_after_s: 12 })
        );
    }

    #[test]
    fn limits_follow_the_environment_and_refuse_nonsense() {
        let says = |name: &'static str, value: &'static str| {
            Limits::configured(move |asked| (asked == name).then(|| value.to_owned()))
        };
        let account = AccountId::from_bytes([1; 16]);
        let limits = says("ONSALE_HOLD_ATTEMPTS_PER_MINUTE", "2").unwrap();
        let attempts: Vec<_> = (0..3)
            .map(|_| limits.hold_attempt(account, Millis(0)).is_ok())
            .collect();
        assert_eq!(attempts, [true, true, false]);
        for wrong in ["0", "-1", "many", "1000001"] {
            assert!(
                says("ONSALE_REQUESTS_PER_MINUTE", wrong).is_err(),
                "{wrong}"
            );
        }
    }
}
