//! A clock that is set by hand, counted bytes for randomness, and a queue that keeps
//! what was sent until it is due.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use onsale_app::ports::{Clock, Entropy, ExpireHold, ExpiryQueue, MAX_DELAY_S, StoreError, Stored};
use onsale_domain::time::Millis;

#[derive(Debug)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    pub fn new(now: Millis) -> Self {
        Self(AtomicU64::new(now.0))
    }

    pub fn advance(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }
}

/// Never the same bytes twice, always the same sequence.
#[derive(Debug, Default)]
pub struct FixedEntropy(AtomicU64);

impl Entropy for FixedEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        let n = self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes();
        for (i, byte) in bytes.iter_mut().rev().enumerate() {
            *byte = n.get(7usize.wrapping_sub(i)).copied().unwrap_or(0);
        }
    }
}

#[derive(Debug)]
pub struct MemoryQueue {
    clock: Arc<ManualClock>,
    messages: Mutex<Vec<(Millis, ExpireHold)>>,
}

impl MemoryQueue {
    pub fn new(clock: Arc<ManualClock>) -> Self {
        Self {
            clock,
            messages: Mutex::default(),
        }
    }

    /// Takes out what is due, in the order it became due.
    pub fn take_due(&self) -> Vec<ExpireHold> {
        let now = self.clock.now();
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut due, later): (Vec<_>, Vec<_>) = messages.drain(..).partition(|(at, _)| *at <= now);
        *messages = later;
        due.sort_by_key(|(at, _)| *at);
        due.into_iter().map(|(_, message)| message).collect()
    }

    pub fn waiting(&self) -> Vec<(Millis, ExpireHold)> {
        self.messages
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[async_trait]
impl ExpiryQueue for MemoryQueue {
    async fn send(&self, message: &ExpireHold, delay_s: u32) -> Stored<()> {
        if delay_s > MAX_DELAY_S {
            return Err(StoreError::Unavailable(
                "the delay is longer than a queue takes".into(),
            ));
        }
        let due = self.clock.now() + u64::from(delay_s) * 1_000;
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        messages.push((due, message.clone()));
        Ok(())
    }
}
