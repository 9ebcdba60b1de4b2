//! Time and randomness, which the store and the use cases ask for and never have by themselves:
//! tests and simulations decide what they are.

use async_trait::async_trait;
use onsale_domain::time::Millis;

/// The time, and waiting for it to pass.
#[async_trait]
pub trait Clock: Send + Sync {
    fn now(&self) -> Millis;

    /// Returns after this many milliseconds.
    async fn pause(&self, ms: u64);
}

/// Random bytes.
pub trait Entropy: Send + Sync {
    fn fill(&self, bytes: &mut [u8]);
}
