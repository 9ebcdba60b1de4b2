//! How the file is opened: its settings, and whether this version of Onsale can read it.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

/// "ONSA": names the files of Onsale.
const APPLICATION_ID: i32 = 0x4f4e_5341;
/// Grows when files of the version before cannot be read any more.
const FORMAT: i32 = 1;
/// Statements that a connection keeps prepared: those of the table, the queues and the mailbox.
const PREPARED: usize = 128;
/// Other processes, such as a backup, may hold the file for a moment.
const BUSY: Duration = Duration::from_secs(10);

/// What an acknowledged write survives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// Every commit is flushed to the disk before it is answered.
    #[default]
    PowerCut,
    /// A commit is handed to the operating system, which outlives the process. A power cut may
    /// undo the last commits; the file stays consistent.
    ProcessDeath,
}

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the file cannot be opened: {0}")]
    Storage(String),
    #[error("this file was written by another version of Onsale: {0}")]
    OtherVersion(String),
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Storage(error.to_string())
    }
}

/// The connection of the writer. Creates the file if there is none.
pub(super) fn open_writer(path: &Path, durability: Durability) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(BUSY)?;
    // Before anything is written: the file of another program stays as it is.
    let is_new = check_format(&db)?;
    let synchronous = match durability {
        Durability::PowerCut => "FULL",
        Durability::ProcessDeath => "NORMAL",
    };
    db.execute_batch("PRAGMA page_size = 4096; PRAGMA temp_store = MEMORY;")?;
    let mode: String = db.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        let why = format!("its folder allows no write-ahead log, only {mode}");
        return Err(OpenError::Storage(why));
    }
    db.execute_batch(&format!("PRAGMA synchronous = {synchronous};"))?;
    // The writer checkpoints by itself, so that it learns of a failed flush: see `writer`.
    // A log that once grew is cut back to 64 MB; 16 MB of pages stay in memory.
    db.execute_batch(
        "PRAGMA wal_autocheckpoint = 0;
         PRAGMA journal_size_limit = 67108864;
         PRAGMA cache_size = -16384;",
    )?;
    db.set_prepared_statement_cache_capacity(PREPARED);
    match is_new {
        true => mark_format(&db)?,
        false => flush_earlier_commits(&db)?,
    }
    Ok(db)
}

/// A connection that only reads. The file was opened for writing before.
pub(super) fn open_reader(path: &Path) -> Result<Connection, OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)?;
    db.busy_timeout(BUSY)?;
    // Each commit empties the cache of a reader, so it is small, and pages are mapped instead of
    // copied.
    db.execute_batch(
        "PRAGMA temp_store = MEMORY;
         PRAGMA cache_size = -4096;
         PRAGMA mmap_size = 268435456;",
    )?;
    db.set_prepared_statement_cache_capacity(PREPARED);
    Ok(db)
}

/// Returns whether the file is new. Refuses the files of other programs and versions.
fn check_format(db: &Connection) -> Result<bool, OpenError> {
    let number = |sql: &str| db.query_row(sql, [], |row| row.get::<_, i32>(0));
    let application_id = number("PRAGMA application_id")?;
    let format = number("PRAGMA user_version")?;
    let tables = number("SELECT count(*) FROM sqlite_schema")?;
    match (application_id, format, tables) {
        (0, 0, 0) => Ok(true),
        (APPLICATION_ID, FORMAT, _) => Ok(false),
        (APPLICATION_ID, other, _) => Err(OpenError::OtherVersion(format!(
            "it has format {other}, this version reads format {FORMAT}"
        ))),
        _ => Err(OpenError::OtherVersion(
            "it does not have the mark of the files that this version reads".to_owned(),
        )),
    }
}

fn mark_format(db: &Connection) -> Result<(), OpenError> {
    // `parts` has the version of each part that keeps tables here.
    db.execute_batch(&format!(
        "BEGIN IMMEDIATE;
         PRAGMA application_id = {APPLICATION_ID};
         PRAGMA user_version = {FORMAT};
         CREATE TABLE parts (name TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT;
         COMMIT;"
    ))?;
    Ok(())
}

/// Makes durable what the log holds. A process that died between writing a commit and flushing
/// it left a commit that readers would see now, though a power cut could still undo it. A failed
/// flush may even have left pages that are in memory only; copying them writes them again.
fn flush_earlier_commits(db: &Connection) -> Result<(), OpenError> {
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
    Ok(())
}

/// Creates the tables of a part that is new to the file, within the transaction of a job.
/// Returns another version of the part, if that is what the file has.
pub(super) fn migrate(
    db: &Connection,
    part: &str,
    version: u32,
    sql: &str,
) -> rusqlite::Result<Option<u32>> {
    use rusqlite::OptionalExtension;
    let found = db
        .prepare_cached("SELECT version FROM parts WHERE name = ?1")?
        .query_row([part], |row| row.get::<_, u32>(0))
        .optional()?;
    if found.is_none() {
        db.execute_batch(sql)?;
        db.execute(
            "INSERT INTO parts (name, version) VALUES (?1, ?2)",
            (part, version),
        )?;
    }
    Ok(found.filter(|found| *found != version))
}
