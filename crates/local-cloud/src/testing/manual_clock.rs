//! A clock that moves only when the test says so, and wakes whoever waits for the new time.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use tokio::sync::watch;

use crate::clock::Clock;

/// Clones show the same time.
#[derive(Debug, Clone)]
pub struct ManualClock {
    now_ms: Arc<watch::Sender<u64>>,
}

impl ManualClock {
    pub fn at(now_ms: u64) -> Self {
        Self {
            now_ms: Arc::new(watch::Sender::new(now_ms)),
        }
    }

    pub fn advance_ms(&self, by_ms: u64) {
        self.now_ms.send_modify(|now_ms| *now_ms += by_ms);
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> u64 {
        *self.now_ms.borrow()
    }

    fn wait_until(&self, due_ms: u64) -> BoxFuture<'static, ()> {
        let mut now = self.now_ms.subscribe();
        // The sender is kept alive while somebody waits: a clock nobody holds stands still.
        let clock = self.clone();
        Box::pin(async move {
            let _ = now.wait_for(|now_ms| *now_ms >= due_ms).await;
            drop(clock);
        })
    }
}
