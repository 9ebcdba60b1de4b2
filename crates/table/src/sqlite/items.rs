//! Single items in the file: how they are found, judged and stored, with their places in the
//! indexes.

use rusqlite::{Connection, OptionalExtension};

use super::codec::{Body, encode};
use super::outbox::Outbox;
use super::schema::{check_storable, forget_at, place, without_empty_sets};
use crate::item::{Item, Key};
use crate::message::Message;
use crate::table::{Failed, Schema, Stopped, TableError, TransactFailed, check_message};
use crate::write::{Judged, Write};

/// An item with the number of its row.
struct Stored {
    id: i64,
    item: Item,
}

fn load(db: &Connection, key: &Key) -> rusqlite::Result<Option<Stored>> {
    db.prepare_cached("SELECT id, body FROM items WHERE pk = ?1 AND sk = ?2")?
        .query_row((key.pk.as_str(), &*key.sk), |row| {
            Ok(Stored {
                id: row.get(0)?,
                item: row.get::<_, Body>(1)?.0,
            })
        })
        .optional()
}

pub(super) fn get(db: &Connection, key: &Key) -> rusqlite::Result<Option<Item>> {
    Ok(load(db, key)?.map(|stored| stored.item))
}

/// What the item becomes, or why the write does not take place.
fn decide(schema: &Schema, write: &Write, stored: Option<&Item>) -> Result<Option<Item>, Judged> {
    let Some(item) = write.judge(stored)? else {
        return Ok(None);
    };
    let item = without_empty_sets(item);
    // What is put was checked before.
    if let Write::Update(key, _) = write {
        check_storable(schema, key, &item).map_err(|error| match error {
            TableError::Invalid(why) => Judged::Misfit(why),
            other => Judged::Misfit(other.to_string()),
        })?;
    }
    Ok(Some(item))
}

fn failed(judged: Judged, stored: Option<Stored>) -> Failed {
    match judged {
        Judged::Refused => Failed::Refused(stored.map(|stored| stored.item)),
        Judged::Misfit(why) => Failed::Error(TableError::Invalid(why)),
    }
}

/// Does one write; returns what it left of the item.
pub(super) fn apply(
    db: &Connection,
    schema: &Schema,
    write: &Write,
) -> rusqlite::Result<Result<Option<Item>, Failed>> {
    let Some(key) = write.key() else {
        let why = "a message where an item is written".to_owned();
        return Ok(Err(TableError::Invalid(why).into()));
    };
    let before = load(db, key)?;
    match decide(schema, write, before.as_ref().map(|before| &before.item)) {
        Err(judged) => Ok(Err(failed(judged, before))),
        Ok(after) => {
            store(db, schema, key, before.as_ref(), after.as_ref())?;
            Ok(Ok(after))
        }
    }
}

/// Judges all parts, then writes all of them or none.
pub(super) fn transact(
    db: &Connection,
    schema: &Schema,
    parts: &[Write],
) -> rusqlite::Result<Result<(), TransactFailed>> {
    let mut holding = Vec::with_capacity(parts.len());
    let mut reports = Vec::with_capacity(parts.len());
    for (key, part) in parts.iter().filter_map(|part| Some((part.key()?, part))) {
        let before = load(db, key)?;
        match decide(schema, part, before.as_ref().map(|before| &before.item)) {
            Ok(after) => {
                holding.push((key, before, after));
                reports.push(None);
            }
            Err(judged) => match failed(judged, before) {
                Failed::Refused(found) => reports.push(Some(found)),
                Failed::Error(error) => return Ok(Err(error.into())),
            },
        }
    }
    if reports.iter().any(Option::is_some) {
        return Ok(Err(TransactFailed::Refused(reports)));
    }
    for (key, before, after) in holding {
        store(db, schema, key, before.as_ref(), after.as_ref())?;
    }
    Ok(Ok(()))
}

/// One write after the other up to the first that does not take place.
pub(super) fn in_order(
    db: &Connection,
    schema: &Schema,
    outbox: Option<&dyn Outbox>,
    writes: &[Write],
) -> rusqlite::Result<Result<(), Stopped>> {
    for (at, write) in writes.iter().enumerate() {
        let done = match write {
            Write::Send(message) => send(db, outbox, message)?,
            item => apply(db, schema, item)?.map(drop),
        };
        if let Err(why) = done {
            return Ok(Err(Stopped { at, why }));
        }
    }
    Ok(Ok(()))
}

fn send(
    db: &Connection,
    outbox: Option<&dyn Outbox>,
    message: &Message,
) -> rusqlite::Result<Result<(), Failed>> {
    if let Err(error) = check_message(message) {
        return Ok(Err(error.into()));
    }
    let Some(outbox) = outbox else {
        let why = "a message, but the table has no outbox".to_owned();
        return Ok(Err(TableError::Invalid(why).into()));
    };
    outbox.put(db, message).map(Ok)
}

/// Deletes items whose time has passed; returns how many.
pub(super) fn forget(
    db: &Connection,
    schema: &Schema,
    now_s: i64,
    limit: usize,
) -> rusqlite::Result<usize> {
    let past = past(db, now_s, limit)?;
    for (key, stored) in &past {
        store(db, schema, key, Some(stored), None)?;
    }
    Ok(past.len())
}

fn past(db: &Connection, now_s: i64, limit: usize) -> rusqlite::Result<Vec<(Key, Stored)>> {
    let sql = "SELECT id, pk, sk, body FROM items WHERE forget_at < ?1 LIMIT ?2";
    let mut statement = db.prepare_cached(sql)?;
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = statement.query_map((now_s, limit), |row| {
        let key = Key::new(row.get::<_, String>(1)?, row.get::<_, String>(2)?);
        let stored = Stored {
            id: row.get(0)?,
            item: row.get::<_, Body>(3)?.0,
        };
        Ok((key, stored))
    })?;
    rows.collect()
}

/// Makes `after` of what is stored, in the table and in the indexes.
fn store(
    db: &Connection,
    schema: &Schema,
    key: &Key,
    before: Option<&Stored>,
    after: Option<&Item>,
) -> rusqlite::Result<()> {
    let old = before.map(|before| &before.item);
    match (before, after) {
        (None, None) => return Ok(()),
        (Some(before), Some(after)) if before.item == *after => return Ok(()),
        (None, Some(after)) => insert(db, schema, key, after)?,
        (Some(before), Some(after)) => replace(db, schema, before, after)?,
        (Some(before), None) => {
            db.prepare_cached("DELETE FROM items WHERE id = ?1")?
                .execute([before.id])?;
        }
    }
    list(db, schema, key, old, after)
}

fn insert(db: &Connection, schema: &Schema, key: &Key, item: &Item) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT INTO items (pk, sk, forget_at, body) VALUES (?1, ?2, ?3, ?4)")?
        .execute((
            key.pk.as_str(),
            &*key.sk,
            forget_at(schema, item),
            encode(item),
        ))?;
    Ok(())
}

fn replace(
    db: &Connection,
    schema: &Schema,
    before: &Stored,
    after: &Item,
) -> rusqlite::Result<()> {
    let forget = forget_at(schema, after);
    // SQLite rewrites the index of each column that is set, changed or not.
    if forget == forget_at(schema, &before.item) {
        db.prepare_cached("UPDATE items SET body = ?2 WHERE id = ?1")?
            .execute((before.id, encode(after)))?;
    } else {
        db.prepare_cached("UPDATE items SET body = ?2, forget_at = ?3 WHERE id = ?1")?
            .execute((before.id, encode(after), forget))?;
    }
    Ok(())
}

/// Moves the item in the indexes in which its place changed.
pub(super) fn list(
    db: &Connection,
    schema: &Schema,
    key: &Key,
    before: Option<&Item>,
    after: Option<&Item>,
) -> rusqlite::Result<()> {
    for index in schema.indexes {
        let old = before.and_then(|item| place(index, item));
        let new = after.and_then(|item| place(index, item));
        if old == new {
            continue;
        }
        if let Some((ipk, isk)) = old {
            db.prepare_cached(
                "DELETE FROM listing
                 WHERE idx = ?1 AND ipk = ?2 AND isk = ?3 AND pk = ?4 AND sk = ?5",
            )?
            .execute((index.name, ipk, isk, key.pk.as_str(), &*key.sk))?;
        }
        if let Some((ipk, isk)) = new {
            db.prepare_cached(
                "INSERT INTO listing (idx, ipk, isk, pk, sk) VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute((index.name, ipk, isk, key.pk.as_str(), &*key.sk))?;
        }
    }
    Ok(())
}
