//! What the machine gives: the time and random bytes. Programs that run for real bring these;
//! tests and simulations bring their own.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use onsale_domain::time::Millis;
use onsale_store::{Clock, Entropy};

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

#[async_trait]
impl Clock for SystemClock {
    fn now(&self) -> Millis {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Millis(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }

    async fn pause(&self, ms: u64) {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
}

/// The randomness of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct OsEntropy;

impl Entropy for OsEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        // Ids and salts must never repeat: without randomness nothing can go on.
        #[expect(
            clippy::expect_used,
            reason = "a machine without randomness cannot serve"
        )]
        getrandom::fill(bytes).expect("the operating system has no randomness");
    }
}
