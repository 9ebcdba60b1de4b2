//! How often somebody may ask. Each instance of a function counts for itself.

mod refusals;

pub use refusals::Refusals;

use onsale_app::Error;
use onsale_domain::account::Email;
use onsale_domain::ids::{AccountId, ResetId, SessionId};
pub use onsale_domain::limiter::{LimitKey, Limiter};
use onsale_domain::password_reset::{LINK_WINDOW_MS, LINKS_PER_WINDOW, link_window};
use onsale_domain::request_hash::RequestHash;
use onsale_domain::room::difficulty::Suspicion;
use onsale_domain::time::Millis;

const MINUTE_MS: u64 = 60_000;
const LINKS: u64 = LINKS_PER_WINDOW as u64;

/// The limits of the platform. `off` is for load tests on a machine of one's own.
#[derive(Debug)]
pub struct Limits {
    pub requests_per_account: Limiter,
    pub hold_attempts: Limiter,
    /// Each may try a card: whoever tests stolen ones needs many.
    pub checkout_attempts: Limiter,
    pub log_ins_per_email: Limiter,
    pub registrations_per_email: Limiter,
    /// Each may send a mail to somebody who did not ask for it.
    pub password_resets_per_email: Limiter,
    /// What the devices at the gates of a show may ask with one session: a large house
    /// lets in ten thousand a minute.
    pub gate_requests: Limiter,
    /// Who goes on holding after being refused.
    pub hold_refusals: Refusals,
    /// Who goes on paying after being refused: counted apart, so that a hold in between,
    /// which each payment needs, does not end the row.
    pub checkout_refusals: Refusals,
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
            password_resets_per_email: Limiter::new(LINKS, LINK_WINDOW_MS, LINKS),
            gate_requests: Limiter::new(12_000, MINUTE_MS, 12_000),
            hold_refusals: Refusals::default(),
            checkout_refusals: Refusals::default(),
            off: false,
        }
    }
}

impl Limits {
    /// The defaults, or what the environment says instead: `ONSALE_REQUESTS_PER_MINUTE`,
    /// `ONSALE_HOLD_ATTEMPTS_PER_MINUTE`, `ONSALE_CHECKOUT_ATTEMPTS_PER_MINUTE`,
    /// `ONSALE_LOG_INS_PER_QUARTER_HOUR`, `ONSALE_GATE_REQUESTS_PER_MINUTE`.
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
            password_resets_per_email: Limiter::new(LINKS, LINK_WINDOW_MS, LINKS),
            gate_requests: limiter("ONSALE_GATE_REQUESTS_PER_MINUTE", 12_000, MINUTE_MS)?,
            hold_refusals: Refusals::default(),
            checkout_refusals: Refusals::default(),
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

    /// At a gate, a token may ask more often.
    pub fn gate_token(&self, session: SessionId, now: Millis) -> Result<(), Error> {
        self.take(&self.gate_requests, *session.as_bytes(), now)
    }

    /// A new attempt to hold, if `may` agrees. Whoever has none left is told to wait, and
    /// nothing else is asked of them; whoever `may` refuses has used none up.
    pub fn hold_attempt_if(
        &self,
        account: AccountId,
        now: Millis,
        may: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let key = *account.as_bytes();
        let left = self.check(&self.hold_attempts, key, now);
        left.inspect_err(|_| self.hold_refusals.refused(key, now))?;
        may()?;
        self.hold_attempt(account, now)
    }

    pub fn hold_attempt(&self, account: AccountId, now: Millis) -> Result<(), Error> {
        self.attempt(&self.hold_attempts, &self.hold_refusals, account, now)
    }

    /// What an account has shown of itself in this process: whoever keeps asking for
    /// holds, or trying to pay, although they were told to wait is a program.
    pub fn suspicion(&self, account: AccountId, now: Millis) -> Suspicion {
        let key = *account.as_bytes();
        let rows = [&self.hold_refusals, &self.checkout_refusals];
        match rows.iter().any(|refusals| refusals.suspects(key, now)) {
            true => Suspicion::Automated,
            false => Suspicion::Nothing,
        }
    }

    /// A new attempt to pay, as [`Limits::hold_attempt_if`].
    pub fn checkout_attempt_if(
        &self,
        account: AccountId,
        now: Millis,
        may: impl FnOnce() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let key = *account.as_bytes();
        let left = self.check(&self.checkout_attempts, key, now);
        left.inspect_err(|_| self.checkout_refusals.refused(key, now))?;
        may()?;
        self.checkout_attempt(account, now)
    }

    pub fn checkout_attempt(&self, account: AccountId, now: Millis) -> Result<(), Error> {
        let (attempts, refusals) = (&self.checkout_attempts, &self.checkout_refusals);
        self.attempt(attempts, refusals, account, now)
    }

    /// Counts by the address alone, whether or not it has an account.
    pub fn log_in(&self, email: &Email, now: Millis) -> Result<(), Error> {
        let key = RequestHash::of(email.as_str().as_bytes()).0;
        self.take(&self.log_ins_per_email, key, now)
    }

    /// A log-in from a browser that the address has logged in on before: counted apart, so
    /// that strangers cannot use it up.
    pub fn log_in_where_known(&self, email: &Email, now: Millis) -> Result<(), Error> {
        let key = RequestHash::of(format!("known {}", email.as_str()).as_bytes()).0;
        self.take(&self.log_ins_per_email, key, now)
    }

    /// Somebody with a session says their password: as often as they may log in.
    pub fn password_attempt(&self, account: AccountId, now: Millis) -> Result<(), Error> {
        self.take(&self.log_ins_per_email, *account.as_bytes(), now)
    }

    /// A link that was mailed is used. Whoever repeats that says a password, which is
    /// compared: as often as one may log in.
    pub fn link_use(&self, reset: ResetId, now: Millis) -> Result<(), Error> {
        self.take(&self.log_ins_per_email, *reset.as_bytes(), now)
    }

    /// Counts by the address alone, whether or not it has an account.
    pub fn password_reset(&self, email: &Email, now: Millis) -> Result<(), Error> {
        self.mailed_link("reset", email, now)
    }

    /// As links to set a password, counted apart from them.
    pub fn session_link(&self, email: &Email, now: Millis) -> Result<(), Error> {
        self.mailed_link("log in", email, now)
    }

    /// Each window of the store's quota has a bucket of its own. Otherwise a stranger who
    /// empties the bucket at the end of a window would keep the owner of the address from the
    /// links of the next one.
    fn mailed_link(&self, purpose: &str, email: &Email, now: Millis) -> Result<(), Error> {
        let bucket = format!("{purpose} {} {}", link_window(now), email.as_str());
        let key = RequestHash::of(bucket.as_bytes()).0;
        self.take(&self.password_resets_per_email, key, now)
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

    /// Takes an attempt, and remembers whether there was one.
    fn attempt(
        &self,
        limiter: &Limiter,
        refusals: &Refusals,
        account: AccountId,
        now: Millis,
    ) -> Result<(), Error> {
        let key = *account.as_bytes();
        let taken = self.take(limiter, key, now);
        match taken {
            Ok(()) => refusals.admitted(key, now),
            Err(_) => refusals.refused(key, now),
        }
        taken
    }

    fn check(&self, limiter: &Limiter, key: LimitKey, now: Millis) -> Result<(), Error> {
        if self.off {
            return Ok(());
        }
        limiter
            .check(key, now)
            .map_err(|retry_after_s| Error::RateLimited { retry_after_s })
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
    fn a_hold_in_between_clears_nobody_who_goes_on_paying() {
        let limits = Limits::default();
        let account = AccountId::from_bytes([1; 16]);
        for _ in 0..5 {
            assert_eq!(limits.checkout_attempt(account, NOW), Ok(()));
        }
        for _ in 0..4 {
            assert_eq!(limits.suspicion(account, NOW), Suspicion::Nothing);
            let refused = limits.checkout_attempt_if(account, NOW, || Ok(()));
            assert_eq!(refused, Err(Error::RateLimited { retry_after_s: 12 }));
            assert_eq!(limits.hold_attempt(account, NOW), Ok(()));
        }
        assert_eq!(limits.suspicion(account, NOW), Suspicion::Automated);
    }

    #[test]
    fn a_mailed_link_is_no_way_to_try_passwords() {
        let limits = Limits::default();
        let uses = |reset: u8| {
            let reset = ResetId::from_bytes([reset; 16]);
            let mut uses = (0..100).map(move |_| reset);
            uses.position(|reset| limits.link_use(reset, NOW).is_err())
        };
        assert_eq!((uses(1), uses(2)), (Some(10), Some(10)));
    }

    #[test]
    fn links_that_a_stranger_used_up_are_there_again_when_the_window_of_the_quota_turns() {
        let limits = Limits::default();
        let email = Email::parse("ana@example.org").unwrap();
        let turns = Millis(LINK_WINDOW_MS * 1_000_000);
        let before = turns.saturating_sub(1);
        for _ in 0..LINKS_PER_WINDOW {
            assert_eq!(limits.session_link(&email, before), Ok(()));
            assert_eq!(limits.password_reset(&email, before), Ok(()));
        }
        assert!(limits.session_link(&email, before).is_err());
        assert!(limits.password_reset(&email, before).is_err());
        assert_eq!(limits.session_link(&email, turns), Ok(()));
        assert_eq!(limits.password_reset(&email, turns), Ok(()));
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
