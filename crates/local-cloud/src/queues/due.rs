//! When the consumers of a queue have to look.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tokio::sync::watch;

use super::store::NEVER_MS;

/// When the earliest message of a queue is due.
#[derive(Debug)]
pub(super) struct Due {
    /// Never later than the earliest message that is or becomes visible. Sending moves it
    /// forward, an empty or partial receive sets it exactly. A consumer can therefore sleep until
    /// this time, and a message for later than it wakes nobody.
    ///
    /// Only the thread that writes the file moves it, after each flush and in the order of the
    /// writes: a receive that found nothing cannot hide a message that was sent after it.
    pub(super) earliest: watch::Sender<u64>,
    /// The same for messages that an outbox has stored and whose flush is to come. A rollback
    /// leaves it too early, which wakes a consumer for nothing.
    pub(super) unflushed_ms: AtomicU64,
}

impl Due {
    pub(super) fn at(due_ms: u64) -> Arc<Self> {
        Arc::new(Self {
            earliest: watch::Sender::new(due_ms),
            unflushed_ms: AtomicU64::new(NEVER_MS),
        })
    }

    pub(super) fn bring_forward(&self, due_ms: u64) {
        self.earliest.send_if_modified(|earliest| {
            let sooner = due_ms < *earliest;
            if sooner {
                *earliest = due_ms;
            }
            sooner
        });
    }

    pub(super) fn set(&self, due_ms: u64) {
        self.earliest.send_if_modified(|earliest| {
            let moved = due_ms != *earliest;
            *earliest = due_ms;
            moved
        });
    }
}
