//! Work for the writer: done in a transaction, answered after the flush.

use std::panic::{AssertUnwindSafe, catch_unwind};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::table::TableError;

/// Why a job did not do its work.
#[derive(Debug)]
pub(super) enum JobFailed {
    Storage(rusqlite::Error),
    Panicked,
}

/// A job of any type. The writer runs it, then says how it ended.
pub(super) trait Job: Send {
    /// Does the work in the open transaction. It is repeated after a rollback.
    fn run(&mut self, db: &Connection) -> Result<(), JobFailed>;

    /// What the last run wrote is durable: answers the caller.
    fn flushed(self: Box<Self>);

    /// Nothing of the job was written, or nobody knows: answers the caller.
    fn failed(self: Box<Self>, error: TableError);
}

pub(super) struct WriteJob<R, W, A> {
    work: W,
    after_flush: A,
    result: Option<R>,
    reply: oneshot::Sender<Result<R, TableError>>,
}

impl<R, W, A> WriteJob<R, W, A>
where
    R: Send + 'static,
    W: Fn(&Connection) -> rusqlite::Result<R> + Send + 'static,
    A: FnOnce(&R) + Send + 'static,
{
    /// The job, and where its answer arrives.
    pub(super) fn with_answer(
        work: W,
        after_flush: A,
    ) -> (Box<dyn Job>, oneshot::Receiver<Result<R, TableError>>) {
        let (reply, answer) = oneshot::channel();
        let job = Self {
            work,
            after_flush,
            result: None,
            reply,
        };
        (Box::new(job), answer)
    }
}

impl<R, W, A> Job for WriteJob<R, W, A>
where
    R: Send + 'static,
    W: Fn(&Connection) -> rusqlite::Result<R> + Send + 'static,
    A: FnOnce(&R) + Send + 'static,
{
    fn run(&mut self, db: &Connection) -> Result<(), JobFailed> {
        // A panic leaves nothing behind but writes, which the writer rolls back.
        let done = catch_unwind(AssertUnwindSafe(|| (self.work)(db)));
        let result = done.map_err(|_| JobFailed::Panicked)?;
        self.result = Some(result.map_err(JobFailed::Storage)?);
        Ok(())
    }

    fn flushed(self: Box<Self>) {
        let Some(result) = self.result else {
            return;
        };
        let after_flush = self.after_flush;
        if catch_unwind(AssertUnwindSafe(|| after_flush(&result))).is_err() {
            tracing::error!("what follows a flush panicked");
        }
        // The caller may have stopped waiting.
        let _ = self.reply.send(Ok(result));
    }

    fn failed(self: Box<Self>, error: TableError) {
        let _ = self.reply.send(Err(error));
    }
}
