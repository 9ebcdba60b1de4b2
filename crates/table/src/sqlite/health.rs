//! What the threads of a file know about the disk.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::table::TableError;

#[derive(Debug, Default)]
pub(super) struct Health {
    flushes: AtomicU64,
    /// Whether `trouble` is set: spares the lock on every flush.
    is_troubled: AtomicBool,
    trouble: Mutex<Option<String>>,
    is_broken: AtomicBool,
}

impl Health {
    pub(super) fn flushes(&self) -> u64 {
        self.flushes.load(Ordering::Relaxed)
    }

    pub(super) fn trouble(&self) -> Option<String> {
        let trouble = self.trouble.lock();
        trouble.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set_trouble(&self, trouble: Option<String>) {
        self.is_troubled.store(trouble.is_some(), Ordering::Relaxed);
        let mut place = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        *place = trouble;
    }

    /// Writes became durable, so the disk works.
    pub(super) fn flushed(&self) {
        self.flushes.fetch_add(1, Ordering::Relaxed);
        if self.is_troubled.load(Ordering::Relaxed) {
            self.set_trouble(None);
        }
    }

    /// Remembers the failure; returns the error for the caller.
    pub(super) fn failed(&self, error: &rusqlite::Error) -> TableError {
        let text = error.to_string();
        tracing::error!(error = text, "SQLite failed");
        self.set_trouble(Some(text.clone()));
        TableError::Unavailable(text)
    }

    /// After a failed flush the file answers nothing any more.
    pub(super) fn break_down(&self) {
        self.is_broken.store(true, Ordering::Release);
    }

    pub(super) fn check(&self) -> Result<(), TableError> {
        match self.is_broken.load(Ordering::Acquire) {
            true => Err(TableError::Unavailable("a flush failed".to_owned())),
            false => Ok(()),
        }
    }
}
