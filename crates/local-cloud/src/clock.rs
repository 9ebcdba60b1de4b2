//! Where the local cloud gets its time from.
//!
//! The store's clock can pause for a while, but not until a moment: a test that moves time
//! between reading the clock and pausing would wait for too long. So this crate has its own.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures_util::future::BoxFuture;

/// A source of wall-clock time in milliseconds since the Unix epoch.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The time now.
    fn now_ms(&self) -> u64;

    /// Resolves once the clock shows `due_ms` or later.
    fn wait_until(&self, due_ms: u64) -> BoxFuture<'static, ()>;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods)] // This is the one place in the crate where time enters.
    fn now_ms(&self) -> u64 {
        SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_millis() as u64)
    }

    fn wait_until(&self, due_ms: u64) -> BoxFuture<'static, ()> {
        let wait = Duration::from_millis(due_ms.saturating_sub(self.now_ms()));
        Box::pin(tokio::time::sleep(wait))
    }
}
