//! What the objects keep, in one SQLite file. Writes that wait at the same time share one
//! transaction, and so one sync of the disk.

use std::path::Path;
use std::sync::mpsc;
use std::thread;

use onsale_edge::host::{Storage, Told, Trouble};
use rusqlite::{Connection, TransactionBehavior, params};
use tokio::sync::oneshot;

const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS kept (
        object TEXT NOT NULL,
        name TEXT NOT NULL,
        value BLOB NOT NULL,
        PRIMARY KEY (object, name)
    ) STRICT, WITHOUT ROWID;
";
/// How many writes share a transaction at most.
const BATCH: usize = 256;

type Changes = Vec<(String, Option<Vec<u8>>)>;
type Loaded = Vec<(String, Vec<u8>)>;

#[derive(Debug)]
enum Job {
    Load(String, oneshot::Sender<Told<Loaded>>),
    Store(String, Changes, oneshot::Sender<Told<()>>),
    Names(oneshot::Sender<Told<Vec<String>>>),
}

/// The file, in the hands of one thread.
#[derive(Debug, Clone)]
pub struct ObjectFile(mpsc::Sender<Job>);

impl ObjectFile {
    pub fn open(path: &Path) -> Result<Self, String> {
        let db = Connection::open(path).map_err(|e| e.to_string())?;
        db.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")
            .and_then(|()| db.execute_batch(SCHEMA))
            .map_err(|e| format!("{}: {e}", path.display()))?;
        let (jobs, waiting) = mpsc::channel();
        thread::Builder::new()
            .name("edge-objects".to_owned())
            .spawn(move || serve(db, &waiting))
            .map_err(|e| e.to_string())?;
        Ok(Self(jobs))
    }

    /// Every object that has stored anything.
    pub async fn names(&self) -> Told<Vec<String>> {
        let (reply, answer) = oneshot::channel();
        self.0.send(Job::Names(reply)).map_err(Trouble::new)?;
        answer.await.map_err(Trouble::new)?
    }

    pub fn of(&self, object: String) -> ObjectStorage {
        ObjectStorage {
            file: self.clone(),
            object,
        }
    }
}

fn serve(mut db: Connection, waiting: &mpsc::Receiver<Job>) {
    while let Ok(first) = waiting.recv() {
        let mut jobs = vec![first];
        while jobs.len() < BATCH
            && let Ok(job) = waiting.try_recv()
        {
            jobs.push(job);
        }
        let (loads, stores): (Vec<_>, Vec<_>) = jobs
            .into_iter()
            .partition(|job| !matches!(job, Job::Store(..)));
        let stored = store_all(&mut db, &stores);
        for job in stores {
            if let Job::Store(_, _, reply) = job {
                let _ = reply.send(stored.clone());
            }
        }
        // An object that loads has no write under way, so the order does not matter.
        for job in loads {
            match job {
                Job::Load(object, reply) => {
                    let _ = reply.send(load(&db, &object).map_err(Trouble::new));
                }
                Job::Names(reply) => {
                    let _ = reply.send(names(&db).map_err(Trouble::new));
                }
                Job::Store(..) => {}
            }
        }
    }
}

fn store_all(db: &mut Connection, jobs: &[Job]) -> Told<()> {
    if jobs.is_empty() {
        return Ok(());
    }
    let store = || -> rusqlite::Result<()> {
        let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut put = transaction.prepare_cached(
                "INSERT INTO kept (object, name, value) VALUES (?1, ?2, ?3)
                 ON CONFLICT (object, name) DO UPDATE SET value = excluded.value",
            )?;
            let mut remove =
                transaction.prepare_cached("DELETE FROM kept WHERE object = ?1 AND name = ?2")?;
            for job in jobs {
                let Job::Store(object, changes, _) = job else {
                    continue;
                };
                for (name, value) in changes {
                    match value {
                        Some(value) => put.execute(params![object, name, value])?,
                        None => remove.execute(params![object, name])?,
                    };
                }
            }
        }
        transaction.commit()
    };
    let mut store = store;
    store().map_err(Trouble::new)
}

fn load(db: &Connection, object: &str) -> rusqlite::Result<Loaded> {
    let mut kept = db.prepare_cached("SELECT name, value FROM kept WHERE object = ?1")?;
    kept.query_map([object], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

fn names(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut objects = db.prepare_cached("SELECT DISTINCT object FROM kept")?;
    objects.query_map([], |row| row.get(0))?.collect()
}

/// The part of the file that is one object's.
#[derive(Debug, Clone)]
pub struct ObjectStorage {
    file: ObjectFile,
    object: String,
}

impl Storage for ObjectStorage {
    async fn load(&self) -> Told<Vec<(String, Vec<u8>)>> {
        let (reply, answer) = oneshot::channel();
        let job = Job::Load(self.object.clone(), reply);
        self.file.0.send(job).map_err(Trouble::new)?;
        answer.await.map_err(Trouble::new)?
    }

    async fn store(&self, changes: Changes) -> Told<()> {
        let (reply, answer) = oneshot::channel();
        let job = Job::Store(self.object.clone(), changes, reply);
        self.file.0.send(job).map_err(Trouble::new)?;
        answer.await.map_err(Trouble::new)?
    }

    async fn clear(&self) -> Told<()> {
        let stored = self.load().await?;
        let changes = stored.into_iter().map(|(name, _)| (name, None));
        self.store(changes.collect()).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_an_object_stored_is_there_after_a_restart_and_is_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("edge.db");
        let mine = ObjectFile::open(&path).unwrap().of("mine".into());
        let change =
            |name: &str, value: Option<&[u8]>| (name.to_owned(), value.map(<[u8]>::to_vec));
        mine.store(vec![change("a", Some(b"1")), change("b", Some(b"2"))])
            .await
            .unwrap();
        mine.store(vec![change("a", None), change("b", Some(b"3"))])
            .await
            .unwrap();
        drop(mine);
        let file = ObjectFile::open(&path).unwrap();
        let kept = file.of("mine".into()).load().await.unwrap();
        assert_eq!(kept, [("b".to_owned(), b"3".to_vec())]);
        assert_eq!(file.of("yours".into()).load().await.unwrap(), []);
        assert_eq!(file.names().await.unwrap(), ["mine"]);
        file.of("mine".into()).clear().await.unwrap();
        assert!(file.names().await.unwrap().is_empty());
    }
}
