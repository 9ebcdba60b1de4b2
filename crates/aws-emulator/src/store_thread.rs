//! A thread that owns something which blocks, and runs one piece of work on it after another.
//! SQLite writes one transaction at a time anyway, so one thread loses nothing, and the async
//! threads never wait for a disk.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use tokio::sync::{mpsc, oneshot};

/// Work queued before callers have to wait. A request is at most a few hundred kilobytes, so this
/// bounds the memory as well; under load the callers slow down instead of the process growing.
const WAITING_JOBS_MAX: usize = 1024;

type Job<S> = Box<dyn FnOnce(&mut S) + Send>;

/// The work panicked; its panic message has been printed by the panic hook.
#[derive(Debug, thiserror::Error)]
#[error("the storage thread could not finish the work")]
pub(crate) struct WorkLost;

#[derive(Debug)]
pub(crate) struct StoreThread<S> {
    jobs: mpsc::Sender<Job<S>>,
}

impl<S: Send + 'static> StoreThread<S> {
    pub(crate) fn start(name: &str, mut state: S) -> io::Result<Self> {
        let (jobs, mut waiting) = mpsc::channel::<Job<S>>(WAITING_JOBS_MAX);
        thread::Builder::new()
            .name(name.to_owned())
            .spawn(move || {
                while let Some(job) = waiting.blocking_recv() {
                    // A panic costs the one request that caused it, never the thread. The caller
                    // learns of it because its reply channel closes.
                    let _ = catch_unwind(AssertUnwindSafe(|| job(&mut state)));
                }
            })?;
        Ok(Self { jobs })
    }

    /// Runs `work` on the thread. Once queued it runs even when the caller stops waiting, just as
    /// a request that is already on the wire would.
    pub(crate) async fn run<R: Send + 'static>(
        &self,
        work: impl FnOnce(&mut S) -> R + Send + 'static,
    ) -> Result<R, WorkLost> {
        let (reply, answer) = oneshot::channel();
        let job: Job<S> = Box::new(move |state| {
            let _ = reply.send(work(state));
        });
        self.jobs.send(job).await.map_err(|_| WorkLost)?;
        answer.await.map_err(|_| WorkLost)
    }
}
