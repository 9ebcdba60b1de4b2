//! Connections that only read.
//!
//! A reader sees a commit only once it was flushed, so a read needs no turn at the writer: in
//! WAL mode `walFrames` of SQLite writes the frames of a commit, with `synchronous = FULL` syncs
//! the WAL, and only then writes the header of the wal-index, which is where readers learn of
//! the commit. The writer answers after that, so each read that begins after the answer of a
//! write sees the write. Commits of an earlier process are flushed when the file is opened.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use rusqlite::Connection;
use tokio::sync::mpsc;

use super::format::{OpenError, open_reader};

/// Reads at one time on the threads of the callers. More wait for each other; each is short.
const POOL: usize = 4;

#[derive(Debug)]
pub(super) struct Readers {
    pool: Vec<Mutex<Connection>>,
}

impl Readers {
    pub(super) fn open(path: &Path) -> Result<Self, OpenError> {
        let pool = (0..POOL).map(|_| Ok(Mutex::new(open_reader(path)?)));
        Ok(Self {
            pool: pool.collect::<Result<_, OpenError>>()?,
        })
    }

    /// Reads on the caller's thread.
    pub(super) fn read<R>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<R>,
    ) -> rusqlite::Result<R> {
        work(&self.connection())
    }

    /// The first that is free: it was used last, so its pages are likely in the cache.
    fn connection(&self) -> MutexGuard<'_, Connection> {
        for connection in &self.pool {
            match connection.try_lock() {
                Ok(free) => return free,
                // A read that panicked has reset its statement all the same.
                Err(TryLockError::Poisoned(free)) => return free.into_inner(),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        let last = &self.pool[POOL - 1];
        last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn close(&mut self) {
        self.pool.clear();
    }
}

/// A read on the thread for long ones, which answers its caller itself.
pub(super) type LongRead = Box<dyn FnOnce(&Connection) + Send>;

/// The thread for long reads: they come one at a time, and no thread of a caller waits.
pub(super) fn run_long_reads(db: &Connection, mut inbox: mpsc::Receiver<LongRead>) {
    while let Some(read) = inbox.blocking_recv() {
        // The caller learns of a panic because its answer never comes.
        let _ = catch_unwind(AssertUnwindSafe(|| read(db)));
    }
}
