//! The limits that everybody is told about, to the millisecond.

use onsale_app::Error;
use onsale_domain::account::Email;
use onsale_domain::ids::AccountId;
use onsale_domain::time::Millis;
use onsale_http::Limits;

const NOW: Millis = Millis(1_800_000_000_000);

/// Uses a burst up. Then one more is refused until `every_ms` have passed, and the
/// whole burst is there again when it has had the time to refill.
fn allows(burst: u64, every_ms: u64, take: impl Fn(Millis) -> Result<(), Error>) {
    let use_up = |now| (0..burst).for_each(|n| assert_eq!(take(now), Ok(()), "{n}"));
    let refused = |retry_after_s| Err(Error::RateLimited { retry_after_s });
    use_up(NOW);
    assert_eq!(take(NOW), refused(every_ms.div_ceil(1_000)));
    assert_eq!(take(NOW + (every_ms - 1)), refused(1));
    assert_eq!(take(NOW + every_ms), Ok(()));
    let refilled = NOW + every_ms + burst * every_ms;
    use_up(refilled);
    assert_eq!(take(refilled), refused(every_ms.div_ceil(1_000)));
}

#[test]
fn the_default_limits_are_those_of_the_documentation() {
    let limits = Limits::default();
    let account = AccountId::from_bytes([1; 16]);
    let email = Email::parse("ana@example.org").unwrap();
    allows(100, 600, |now| limits.request(account, now));
    allows(5, 12_000, |now| limits.hold_attempt(account, now));
    allows(10, 90_000, |now| limits.log_in(&email, now));
    allows(10, 90_000, |now| limits.registration(&email, now));
    allows(10, 90_000, |now| limits.fan_registration(&email, now));
}
