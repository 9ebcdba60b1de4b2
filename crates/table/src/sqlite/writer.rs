//! The one thread that writes the file.
//!
//! It takes all jobs that wait, runs them in one transaction and answers them after its commit:
//! while one batch is flushed, the jobs of the next gather.
//!
//! A job that fails half-way must leave nothing behind. A savepoint around each job would see to
//! that, at the price of two statements and a copy of each changed page for every job. Failures
//! are rare, so the jobs run without; if one fails, the batch is rolled back and repeated with
//! savepoints. This is why a job is an `Fn`.

use std::cell::Cell;
use std::ffi::c_int;
use std::sync::Arc;

use rusqlite::hooks::Wal;
use rusqlite::{Connection, ffi};
use tokio::sync::mpsc;

use super::file::FailedFlush;
use super::health::Health;
use super::job::{Job, JobFailed};
use crate::table::TableError;

/// Jobs of one transaction. More would let the first of them wait for long.
const BATCH_JOBS: usize = 256;

thread_local! {
    /// Pages in the log after the last commit that wrote any. The hook of SQLite takes no
    /// closure, and it runs on the thread that commits.
    static LOG_PAGES: Cell<Option<c_int>> = const { Cell::new(None) };
}

fn note_pages(_: &Wal, pages: c_int) -> rusqlite::Result<()> {
    LOG_PAGES.set(Some(pages));
    Ok(())
}

pub(super) struct Writer {
    db: Connection,
    inbox: mpsc::Receiver<Box<dyn Job>>,
    health: Arc<Health>,
    on_failed_flush: FailedFlush,
    checkpoint_pages: u32,
}

/// Why a batch was not committed.
enum Uncommitted {
    /// A job failed; the transaction is rolled back.
    Job(JobFailed),
    /// SQLite failed, but said so before it flushed.
    Storage(rusqlite::Error),
    /// Nobody knows what is on the disk.
    Flush(rusqlite::Error),
}

/// The writer stops.
struct Broken;

/// For each job of a batch: `None` if it was done.
type Outcomes = Vec<Option<TableError>>;

impl Writer {
    pub(super) fn new(
        db: Connection,
        inbox: mpsc::Receiver<Box<dyn Job>>,
        health: Arc<Health>,
        on_failed_flush: FailedFlush,
        checkpoint_pages: u32,
    ) -> Self {
        db.wal_hook(Some(note_pages));
        Self {
            db,
            inbox,
            health,
            on_failed_flush,
            checkpoint_pages,
        }
    }

    /// Writes until the file is closed or a flush failed.
    pub(super) fn run(mut self) {
        let mut jobs = Vec::with_capacity(BATCH_JOBS);
        while self.inbox.blocking_recv_many(&mut jobs, BATCH_JOBS) > 0 {
            if self.batch(&mut jobs).is_err() || self.checkpoint().is_err() {
                break;
            }
        }
    }

    /// Does all jobs and answers them. `jobs` is empty afterwards.
    fn batch(&self, jobs: &mut Vec<Box<dyn Job>>) -> Result<(), Broken> {
        let done = match self.all_at_once(jobs) {
            Err(Uncommitted::Job(_)) if jobs.len() > 1 => self.one_by_one(jobs),
            done => done,
        };
        let (error, broken) = match done {
            Ok(outcomes) => {
                for (job, outcome) in jobs.drain(..).zip(outcomes) {
                    match outcome {
                        None => job.flushed(),
                        Some(error) => job.failed(error),
                    }
                }
                return Ok(());
            }
            Err(Uncommitted::Job(failed)) => (self.job_error(&failed), Ok(())),
            Err(Uncommitted::Storage(error)) => (self.health.failed(&error), Ok(())),
            Err(Uncommitted::Flush(error)) => (self.health.failed(&error), self.break_down(&error)),
        };
        for job in jobs.drain(..) {
            job.failed(error.clone());
        }
        broken
    }

    /// The usual case: no job fails.
    fn all_at_once(&self, jobs: &mut [Box<dyn Job>]) -> Result<Outcomes, Uncommitted> {
        self.begin()?;
        for job in &mut *jobs {
            job.run(&self.db).map_err(|failed| self.stop(failed))?;
        }
        self.commit()?;
        Ok(jobs.iter().map(|_| None).collect())
    }

    /// The jobs that fail write nothing, the others are done.
    fn one_by_one(&self, jobs: &mut [Box<dyn Job>]) -> Result<Outcomes, Uncommitted> {
        self.begin()?;
        let mut outcomes = Vec::with_capacity(jobs.len());
        for job in jobs {
            self.statement("SAVEPOINT job")
                .map_err(|error| self.give_up(error))?;
            let outcome = match job.run(&self.db) {
                Ok(()) => None,
                // Some errors, such as a full disk, end the transaction as a whole.
                Err(JobFailed::Storage(error))
                    if self.db.is_autocommit() || is_failed_flush(&error) =>
                {
                    return Err(self.give_up(error));
                }
                Err(failed) => {
                    self.statement("ROLLBACK TO job")
                        .map_err(|error| self.give_up(error))?;
                    Some(self.job_error(&failed))
                }
            };
            self.statement("RELEASE job")
                .map_err(|error| self.give_up(error))?;
            outcomes.push(outcome);
        }
        self.commit()?;
        Ok(outcomes)
    }

    fn begin(&self) -> Result<(), Uncommitted> {
        self.statement("BEGIN IMMEDIATE")
            .map_err(|error| self.give_up(error))
    }

    /// Commits and flushes.
    fn commit(&self) -> Result<(), Uncommitted> {
        LOG_PAGES.set(None);
        match self.statement("COMMIT") {
            Ok(()) => {
                if LOG_PAGES.get().is_some() {
                    self.health.flushed();
                }
                Ok(())
            }
            Err(error) => Err(self.give_up(error)),
        }
    }

    fn stop(&self, failed: JobFailed) -> Uncommitted {
        match failed {
            JobFailed::Storage(error) if is_failed_flush(&error) => Uncommitted::Flush(error),
            failed => {
                self.roll_back();
                Uncommitted::Job(failed)
            }
        }
    }

    fn give_up(&self, error: rusqlite::Error) -> Uncommitted {
        if is_failed_flush(&error) {
            return Uncommitted::Flush(error);
        }
        self.roll_back();
        Uncommitted::Storage(error)
    }

    fn roll_back(&self) {
        if self.db.is_autocommit() {
            return;
        }
        if let Err(error) = self.statement("ROLLBACK") {
            tracing::error!(%error, "a transaction could not be rolled back");
        }
    }

    /// Moves the log into the file once it is long. The commits in it are durable already, in
    /// the log; SQLite flushes the file before it uses the log from the start again. Nobody is
    /// waited for: what a reader still needs is moved after a later batch. SQLite's own
    /// checkpoints hide a failed flush, so they are switched off.
    fn checkpoint(&self) -> Result<(), Broken> {
        let log_pages = LOG_PAGES.take().map_or(0, c_int::unsigned_abs);
        if log_pages < self.checkpoint_pages {
            return Ok(());
        }
        let done = self
            .db
            .prepare_cached("PRAGMA wal_checkpoint(PASSIVE)")
            .and_then(|mut statement| statement.query_row([], |_| Ok(())));
        match done {
            Ok(()) => Ok(()),
            Err(error) => {
                self.health.failed(&error);
                match is_failed_flush(&error) {
                    true => self.break_down(&error),
                    false => Ok(()),
                }
            }
        }
    }

    /// After a failed flush the kernel may have dropped what it could not write, and the next
    /// flush would succeed without it: nothing that was written may be answered any more.
    fn break_down(&self, error: &rusqlite::Error) -> Result<(), Broken> {
        self.health.break_down();
        (self.on_failed_flush)(&error.to_string());
        self.roll_back();
        Err(Broken)
    }

    fn job_error(&self, failed: &JobFailed) -> TableError {
        match failed {
            JobFailed::Storage(error) => self.health.failed(error),
            JobFailed::Panicked => TableError::Unavailable("the write panicked".to_owned()),
        }
    }

    fn statement(&self, sql: &str) -> rusqlite::Result<()> {
        self.db.prepare_cached(sql)?.execute([]).map(drop)
    }
}

/// Only a flush that fails leaves in doubt what the disk has. A write that fails, such as one on
/// a full disk or beyond the largest file that is allowed, comes before the flush: nothing was
/// committed, and the transaction is rolled back. A transaction that does not fit into memory
/// may flush before its commit, too.
fn is_failed_flush(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    matches!(
        code,
        Some(ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_DIR_FSYNC)
    )
}
