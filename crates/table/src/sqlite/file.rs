//! One SQLite file, with one thread that writes it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};

use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::format::{Durability, OpenError, migrate, open_reader, open_writer};
use super::health::Health;
use super::job::{Job, WriteJob};
use super::readers::{LongRead, Readers, run_long_reads};
use super::writer::Writer;
use crate::table::TableError;

/// Jobs that wait for the writer. Callers beyond that wait for a place.
const WAITING_WRITES: usize = 1024;
const WAITING_READS: usize = 64;

/// Called with the error when a flush failed. If it returns, the file answers nothing any more.
pub type FailedFlush = Arc<dyn Fn(&str) + Send + Sync>;

/// How a file is opened.
#[derive(Clone)]
pub struct Options {
    pub durability: Durability,
    /// Ends the process unless a test replaces it.
    pub on_failed_flush: FailedFlush,
    /// Pages of 4 KB after which the log is moved into the file. Writes wait meanwhile.
    pub checkpoint_pages: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            on_failed_flush: Arc::new(end_the_process),
            // 8 MB: a few milliseconds of copying for thousands of writes.
            checkpoint_pages: 2000,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("durability", &self.durability)
            .field("checkpoint_pages", &self.checkpoint_pages)
            .finish_non_exhaustive()
    }
}

/// The log may be on the same disk, so the message goes to the terminal as well.
fn end_the_process(error: &str) {
    tracing::error!(error, "a flush failed; the process ends");
    eprintln!("Onsale ends: the disk failed to store what was written ({error}).");
    std::process::exit(1);
}

/// A file for all tables of the platform. Closed, and its log moved into it, when it is dropped.
#[derive(Debug)]
pub struct SqliteFile {
    health: Arc<Health>,
    readers: Readers,
    writes: Option<mpsc::Sender<Box<dyn Job>>>,
    long_reads: Option<mpsc::Sender<LongRead>>,
    writer: Option<JoinHandle<()>>,
    long_reader: Option<JoinHandle<()>>,
    /// The folder to delete with the file.
    temporary: Option<PathBuf>,
}

impl SqliteFile {
    /// Opens the file, or creates it in a folder that exists.
    pub fn open(path: impl AsRef<Path>, durability: Durability) -> Result<Arc<Self>, OpenError> {
        let options = Options {
            durability,
            ..Options::default()
        };
        Self::open_with(path, options)
    }

    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Arc<Self>, OpenError> {
        Self::start(path.as_ref(), options, None).map(Arc::new)
    }

    /// A file of its own in the system's folder for temporary files, deleted when it is closed.
    pub fn temporary() -> Result<Arc<Self>, OpenError> {
        let folder = temporary_folder()?;
        let options = Options {
            durability: Durability::ProcessDeath,
            ..Options::default()
        };
        Self::start(&folder.join("onsale.db"), options, Some(folder.clone())).map(Arc::new)
    }

    fn start(path: &Path, options: Options, temporary: Option<PathBuf>) -> Result<Self, OpenError> {
        let health = Arc::new(Health::default());
        let (writes, inbox) = mpsc::channel(WAITING_WRITES);
        // The writer first: it creates the file and recovers its log.
        let db = open_writer(path, options.durability)?;
        let readers = Readers::open(path)?;
        let long_db = open_reader(path)?;
        let for_writer = Arc::clone(&health);
        let writer = spawn("sqlite-writer", move || {
            let failed = options.on_failed_flush;
            Writer::new(db, inbox, for_writer, failed, options.checkpoint_pages).run();
        })?;
        let (long_reads, reads_inbox) = mpsc::channel(WAITING_READS);
        let long_reader = spawn("sqlite-reader", move || {
            run_long_reads(&long_db, reads_inbox);
        })?;
        Ok(Self {
            health,
            readers,
            writes: Some(writes),
            long_reads: Some(long_reads),
            writer: Some(writer),
            long_reader: Some(long_reader),
            temporary,
        })
    }

    /// Runs the work in a transaction and returns its result once it is durable.
    ///
    /// The work shares the transaction with that of other callers, so it neither begins nor ends
    /// one. If it fails or panics, nothing that it wrote stays. It may run twice, the first time
    /// without effect. Dropping the future does not stop the work.
    pub async fn write<R: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> rusqlite::Result<R> + Send + 'static,
    ) -> Result<R, TableError> {
        self.write_then(work, |_| ()).await
    }

    /// Like `write`; `after_flush` runs on the writer's thread once the result is durable, even
    /// if the future was dropped. It must not block.
    pub async fn write_then<R: Send + 'static>(
        &self,
        work: impl Fn(&Connection) -> rusqlite::Result<R> + Send + 'static,
        after_flush: impl FnOnce(&R) + Send + 'static,
    ) -> Result<R, TableError> {
        self.health.check()?;
        let (job, answer) = WriteJob::with_answer(work, after_flush);
        let writes = self.writes.as_ref().ok_or_else(gone)?;
        writes.send(job).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    /// Reads on the caller's thread: for reads of a few pages. Sees every write that was
    /// answered, and nothing that could still be lost.
    pub fn read_now<R>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<R>,
    ) -> Result<R, TableError> {
        self.health.check()?;
        let result = self.readers.read(work);
        result.map_err(|error| self.health.failed(&error))
    }

    /// Like `read_now`, on a thread of its own: for reads that take milliseconds.
    pub async fn read<R: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<R> + Send + 'static,
    ) -> Result<R, TableError> {
        self.health.check()?;
        let (reply, answer) = oneshot::channel();
        let read: LongRead = Box::new(move |db| {
            // The caller may have stopped waiting.
            let _ = reply.send(work(db));
        });
        let reads = self.long_reads.as_ref().ok_or_else(gone)?;
        reads.send(read).await.map_err(|_| gone())?;
        let result = answer.await.map_err(|_| gone())?;
        result.map_err(|error| self.health.failed(&error))
    }

    /// Creates the tables of a part of the platform if the file does not have them. Refuses a
    /// file that has another version of them.
    pub async fn migrate(
        &self,
        part: &'static str,
        version: u32,
        sql: &'static str,
    ) -> Result<(), OpenError> {
        let found = self.write(move |db| migrate(db, part, version, sql)).await;
        match found.map_err(|error| OpenError::Storage(error.to_string()))? {
            None => Ok(()),
            Some(found) => Err(OpenError::OtherVersion(format!(
                "its {part} has format {found}, this version reads format {version}"
            ))),
        }
    }

    /// Commits that were flushed since the file was opened.
    pub fn flushes(&self) -> u64 {
        self.health.flushes()
    }

    /// The last failure of SQLite, until a write works again.
    pub fn trouble(&self) -> Option<String> {
        self.health.trouble()
    }
}

impl Drop for SqliteFile {
    fn drop(&mut self) {
        // The writer closes last, because the last connection moves the log into the file, and
        // only the writer may.
        self.readers.close();
        self.long_reads = None;
        join(self.long_reader.take());
        self.writes = None;
        join(self.writer.take());
        if let Some(folder) = &self.temporary {
            // What stays behind is the system's to clean.
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// Waits for a thread, unless it is this one: a job may hold the last reference to its file.
fn join(thread: Option<JoinHandle<()>>) {
    if let Some(thread) = thread.filter(|thread| thread.thread().id() != thread::current().id()) {
        let _ = thread.join();
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, OpenError> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(run);
    thread.map_err(|error| OpenError::Storage(error.to_string()))
}

fn temporary_folder() -> Result<PathBuf, OpenError> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("onsale-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        match std::fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            // An earlier process of the same number left it.
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(OpenError::Storage(error.to_string())),
        }
    }
}

fn gone() -> TableError {
    TableError::Unavailable("the file is closed, or its thread failed".to_owned())
}
