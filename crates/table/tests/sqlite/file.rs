//! The file: group commits, failing jobs, and what is there after it was closed.

use std::sync::{Arc, Mutex, mpsc};

use onsale_table::sqlite::{Durability, OpenError, Options, SqliteFile};
use onsale_table::{Item, Table, TableError, Update};
use rusqlite::Connection;
use tempfile::tempdir;
use tokio::sync::oneshot;

use crate::{key, read, table_in};

#[tokio::test]
async fn what_was_written_is_there_after_the_file_was_opened_again() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("onsale.db");
    for durability in [Durability::PowerCut, Durability::ProcessDeath] {
        for n in 0..3u64 {
            let file = SqliteFile::open(&path, durability).unwrap();
            let table = table_in(&file).await;
            let name = format!("{durability:?}");
            let item = table
                .update_returning(&key(&name), &Update::always().add("n", 1))
                .await;
            assert_eq!(item, Ok(Item::new().with("n", n + 1)));
        }
    }
    assert!(!folder.path().join("onsale.db-wal").exists());
}

/// Keeps the writer busy, so that all jobs that are handed over meanwhile are in one batch.
struct Busy(mpsc::Sender<()>);

impl Busy {
    async fn keep(file: &SqliteFile) -> Self {
        let (release, released) = mpsc::channel();
        let (begin, begun) = oneshot::channel();
        let signals = Mutex::new(Some((begin, released)));
        let mut work = Box::pin(file.write(move |_| {
            if let Some((begin, released)) = signals.lock().unwrap().take() {
                begin.send(()).unwrap();
                let _ = released.recv();
            }
            Ok(())
        }));
        // One poll hands the job over.
        assert!(is_pending(work.as_mut()).await);
        begun.await.unwrap();
        Self(release)
    }

    fn release(self) {
        drop(self.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_writers_share_a_flush() {
    let folder = tempdir().unwrap();
    let file = SqliteFile::open(folder.path().join("onsale.db"), Durability::PowerCut).unwrap();
    let table = Arc::new(table_in(&file).await);
    let before = file.flushes();
    let busy = Busy::keep(&file).await;
    let mut writers: Vec<_> = (0..64)
        .map(|n| {
            let table = table.clone();
            Box::pin(async move { table.put_new(&key(&n.to_string()), Item::new()).await })
        })
        .collect();
    // One poll each hands all jobs over.
    for writer in &mut writers {
        assert!(is_pending(writer.as_mut()).await);
    }
    busy.release();
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(file.flushes() - before, 1);
}

/// Polls once; returns whether the future is pending.
async fn is_pending<F: Future>(mut future: std::pin::Pin<&mut F>) -> bool {
    std::future::poll_fn(|context| {
        std::task::Poll::Ready(future.as_mut().poll(context).is_pending())
    })
    .await
}

async fn with_numbers() -> Arc<SqliteFile> {
    let file = SqliteFile::temporary().unwrap();
    let sql = "CREATE TABLE numbers (n INTEGER PRIMARY KEY) STRICT";
    file.migrate("numbers", 1, sql).await.unwrap();
    file
}

fn insert(db: &Connection, n: i64) -> rusqlite::Result<i64> {
    db.execute("INSERT INTO numbers VALUES (?1)", [n])?;
    Ok(n)
}

async fn numbers(file: &SqliteFile) -> Vec<i64> {
    let read = |db: &Connection| {
        let mut statement = db.prepare("SELECT n FROM numbers ORDER BY n")?;
        let numbers = statement.query_map([], |row| row.get(0))?;
        numbers.collect()
    };
    file.read_now(read).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_fails_or_panics_costs_only_itself() {
    let file = with_numbers().await;
    let busy = Busy::keep(&file).await;
    let mut jobs: Vec<_> = (0..10)
        .map(|n| {
            Box::pin(file.write(move |db| {
                insert(db, n)?;
                match n {
                    3 => insert(db, n),
                    5 => panic!("a job panics on purpose"),
                    _ => Ok(n),
                }
            }))
        })
        .collect();
    for job in &mut jobs {
        assert!(is_pending(job.as_mut()).await);
    }
    busy.release();
    for (n, job) in jobs.into_iter().enumerate() {
        match n {
            3 | 5 => assert!(matches!(job.await, Err(TableError::Unavailable(_)))),
            _ => assert_eq!(job.await, Ok(n as i64)),
        }
    }
    assert_eq!(numbers(&file).await, [0, 1, 2, 4, 6, 7, 8, 9]);
}

#[tokio::test]
async fn a_failure_is_trouble_until_a_write_works_again() {
    let file = with_numbers().await;
    let table = table_in(&file).await;
    assert_eq!(table.trouble(), None);
    let failed = file.write(|db| db.execute("no SQL", [])).await;
    assert!(failed.is_err());
    assert!(table.trouble().is_some());
    assert_eq!(read(&table, &key("a")).await, None);
    assert!(table.trouble().is_some());
    table.put_new(&key("a"), Item::new()).await.unwrap();
    assert_eq!(table.trouble(), None);
}

#[tokio::test]
async fn a_full_file_fails_the_write_and_the_next_that_fits_works() {
    let file = with_numbers().await;
    let table = table_in(&file).await;
    file.write(|db| db.query_row("PRAGMA max_page_count = 40", [], |_| Ok(())))
        .await
        .unwrap();
    let large = Item::new().with("x", vec![0u8; 300 * 1024]);
    let failed = table.put_new(&key("large"), large).await;
    assert!(failed.is_err());
    assert!(table.trouble().is_some());
    table.put_new(&key("small"), Item::new()).await.unwrap();
    assert_eq!(table.trouble(), None);
    assert_eq!(read(&table, &key("large")).await, None);
}

#[tokio::test]
async fn the_work_of_a_caller_that_stopped_waiting_is_done() {
    let file = with_numbers().await;
    let busy = Busy::keep(&file).await;
    let mut left = Box::pin(file.write(|db| insert(db, 1)));
    assert!(is_pending(left.as_mut()).await);
    drop(left);
    busy.release();
    file.write(|db| insert(db, 2)).await.unwrap();
    assert_eq!(numbers(&file).await, [1, 2]);
}

#[tokio::test]
async fn the_log_is_moved_into_the_file_while_it_is_read_and_written() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("onsale.db");
    let options = Options {
        checkpoint_pages: 10,
        ..Options::default()
    };
    let file = SqliteFile::open_with(&path, options).unwrap();
    let table = table_in(&file).await;
    for n in 0..200u64 {
        let item = Item::new().with("n", n).with("x", vec![7u8; 900]);
        table.put_new(&key(&n.to_string()), item).await.unwrap();
        let found = read(&table, &key(&(n / 2).to_string())).await;
        assert_eq!(
            found.and_then(|item| item.number("n")),
            Some(i128::from(n / 2))
        );
    }
    let log = std::fs::metadata(folder.path().join("onsale.db-wal")).unwrap();
    assert!(log.len() < 60 * 4096, "{} bytes", log.len());
    assert!(std::fs::metadata(&path).unwrap().len() > 40 * 4096);
}

fn refusal(path: &std::path::Path) -> String {
    match SqliteFile::open(path, Durability::PowerCut) {
        Err(error @ OpenError::OtherVersion(_)) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn files_of_other_versions_and_programs_are_refused_and_left_alone() {
    let folder = tempdir().unwrap();
    let newer = folder.path().join("newer.db");
    drop(SqliteFile::open(&newer, Durability::PowerCut).unwrap());
    Connection::open(&newer)
        .unwrap()
        .execute_batch("PRAGMA user_version = 99")
        .unwrap();
    assert!(refusal(&newer).contains("format 99"));

    let foreign = folder.path().join("foreign.db");
    Connection::open(&foreign)
        .unwrap()
        .execute_batch("CREATE TABLE t (x)")
        .unwrap();
    let before = std::fs::read(&foreign).unwrap();
    assert!(refusal(&foreign).starts_with("this file was written by another version of Onsale"));
    assert_eq!(std::fs::read(&foreign).unwrap(), before);

    let text = folder.path().join("text.db");
    std::fs::write(&text, "no database ".repeat(1000)).unwrap();
    let refused = SqliteFile::open(&text, Durability::PowerCut);
    assert!(matches!(refused, Err(OpenError::Storage(_))));
}

#[tokio::test]
async fn a_part_of_another_version_is_refused() {
    let file = with_numbers().await;
    file.migrate("numbers", 1, "no SQL: it is not run again")
        .await
        .unwrap();
    let refused = file.migrate("numbers", 2, "").await.unwrap_err();
    assert!(refused.to_string().contains("its numbers has format 1"));
}

#[tokio::test]
async fn a_damaged_item_is_an_error_and_no_panic() {
    let file = SqliteFile::temporary().unwrap();
    let table = table_in(&file).await;
    table.put_new(&key("a"), Item::new()).await.unwrap();
    file.write(|db| db.execute("UPDATE items SET body = x'017f'", []))
        .await
        .unwrap();
    let read = table.get(&key("a"), onsale_table::Reads::Consistent).await;
    assert!(matches!(read, Err(TableError::Unavailable(why)) if why.contains("damaged")));
    assert!(table.trouble().is_some());
}
