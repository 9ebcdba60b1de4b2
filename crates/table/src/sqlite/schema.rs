//! The tables of a [`SqliteTable`](super::SqliteTable) in the file, and what belongs into them.

use rusqlite::{Connection, OptionalExtension};

use super::codec::Body;
use super::items::list;
use crate::item::{Item, Key, Value};
use crate::requests::{check_key, check_names};
use crate::table::{Index, Limits, Schema, TableError};
use crate::units::check_item;
use crate::write::Write;

pub(super) const PART: &str = "table";
pub(super) const VERSION: u32 = 1;

/// `items` has row ids: items of 1 KB are usual, and a table without row ids reads whole items
/// to compare their keys and keeps few of them in a page. At 50,000 items of 1 KB its reads took
/// 2.3 times as long, and a change wrote two pages instead of one.
///
/// `listing` has the places of the items in all indexes. `shape` has the indexes for which it
/// was written.
pub(super) const SQL: &str = "
    CREATE TABLE items (
        id INTEGER PRIMARY KEY,
        pk TEXT NOT NULL,
        sk TEXT NOT NULL,
        forget_at INTEGER,
        body BLOB NOT NULL,
        UNIQUE (pk, sk)
    ) STRICT;
    CREATE INDEX items_to_forget ON items (forget_at) WHERE forget_at IS NOT NULL;
    CREATE TABLE listing (
        idx TEXT NOT NULL,
        ipk TEXT NOT NULL,
        isk TEXT NOT NULL,
        pk TEXT NOT NULL,
        sk TEXT NOT NULL,
        PRIMARY KEY (idx, ipk, isk, pk, sk)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE shape (description TEXT NOT NULL) STRICT;
";

/// Items that are listed anew at a time.
const RELIST_ITEMS: usize = 500;

/// The place of the item in the index, if it has one.
pub(super) fn place<'a>(index: &Index, item: &'a Item) -> Option<(&'a str, &'a str)> {
    Some((item.text(index.pk)?, item.text(index.sk)?))
}

/// The time after which the item may be deleted. Times beyond what SQLite stores mean the same
/// as its last one.
pub(super) fn forget_at(schema: &Schema, item: &Item) -> Option<i64> {
    let at = item.number(schema.forget_at)?;
    let at = at.clamp(i64::MIN.into(), i64::MAX.into());
    i64::try_from(at).ok()
}

/// Empty sets are not stored.
pub(super) fn without_empty_sets(item: Item) -> Item {
    let is_empty = |value: &Value| matches!(value, Value::Texts(texts) if texts.is_empty());
    if !item.iter().any(|(_, value)| is_empty(value)) {
        return item;
    }
    item.into_iter()
        .filter(|(_, value)| !is_empty(value))
        .collect()
}

/// Refuses an item that cannot be stored, or that an index cannot take.
pub(super) fn check_storable(schema: &Schema, key: &Key, item: &Item) -> Result<(), TableError> {
    check_item(key, item)?;
    for index in schema.indexes {
        check_place(item, index.pk, Limits::PK_BYTES)?;
        check_place(item, index.sk, Limits::SK_BYTES)?;
    }
    Ok(())
}

fn check_place(item: &Item, name: &str, most_bytes: usize) -> Result<(), TableError> {
    match item.get(name) {
        None => Ok(()),
        Some(Value::Text(text)) if (1..=most_bytes).contains(&text.len()) => Ok(()),
        Some(_) => Err(TableError::Invalid(format!(
            "{name} is a key of an index: a text of 1 to {most_bytes} bytes"
        ))),
    }
}

/// Refuses what is wrong whatever is stored. Messages are checked when they are sent.
pub(super) fn check_write(schema: &Schema, write: &Write) -> Result<(), TableError> {
    match write {
        Write::PutNew(key, item) => check_storable(schema, key, item),
        Write::Update(key, update) => check_key(key).and_then(|()| check_names(update)),
        Write::Delete(key, _) => check_key(key),
        Write::Send(_) => Ok(()),
    }
}

/// Lists all items anew if the file was written for other indexes.
pub(super) fn adopt(db: &Connection, schema: &Schema) -> rusqlite::Result<()> {
    let wanted = describe(schema);
    let found: Option<String> = db
        .query_row("SELECT description FROM shape", [], |row| row.get(0))
        .optional()?;
    if found.as_ref() == Some(&wanted) {
        return Ok(());
    }
    relist(db, schema)?;
    db.execute("DELETE FROM shape", [])?;
    db.execute("INSERT INTO shape (description) VALUES (?1)", [wanted])?;
    Ok(())
}

fn describe(schema: &Schema) -> String {
    let mut text = format!("forget_at {}", schema.forget_at);
    for index in schema.indexes {
        text += &format!("; {} ({}, {})", index.name, index.pk, index.sk);
    }
    text
}

fn relist(db: &Connection, schema: &Schema) -> rusqlite::Result<()> {
    db.execute("DELETE FROM listing", [])?;
    let mut last = i64::MIN;
    loop {
        let items = items_after(db, last)?;
        let Some((id, ..)) = items.last() else {
            return Ok(());
        };
        last = *id;
        for (id, key, item) in &items {
            list(db, schema, key, None, Some(item))?;
            db.prepare_cached("UPDATE items SET forget_at = ?2 WHERE id = ?1")?
                .execute((id, forget_at(schema, item)))?;
        }
    }
}

fn items_after(db: &Connection, last: i64) -> rusqlite::Result<Vec<(i64, Key, Item)>> {
    let sql = "SELECT id, pk, sk, body FROM items WHERE id > ?1 ORDER BY id LIMIT ?2";
    let mut statement = db.prepare_cached(sql)?;
    let items = statement.query_map((last, RELIST_ITEMS), |row| {
        let key = Key::new(row.get::<_, String>(1)?, row.get::<_, String>(2)?);
        Ok((row.get(0)?, key, row.get::<_, Body>(3)?.0))
    })?;
    items.collect()
}
