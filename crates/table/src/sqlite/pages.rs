//! Reads of more than one item: batches, queries and scans.

use rusqlite::{Connection, Row as SqlRow};

use super::codec::Body;
use super::items::get;
use crate::item::{Item, Key, Row};
use crate::table::{Batch, Cursor, Index, PAGE_BYTES, Projection, Query, Rows};
use crate::units::item_bytes;

/// Reads all keys at one moment: one turn at the lock of the file instead of one for each.
pub(super) fn get_many(db: &Connection, keys: &[Key]) -> rusqlite::Result<Batch> {
    let _moment = Moment::begin(db)?;
    let mut batch = Batch::default();
    for key in keys {
        if let Some(item) = get(db, key)? {
            let key = key.clone();
            batch.rows.push(Row { key, item });
        }
    }
    Ok(batch)
}

/// A transaction of reads, which ends with its scope.
struct Moment<'a>(&'a Connection);

impl<'a> Moment<'a> {
    fn begin(db: &'a Connection) -> rusqlite::Result<Self> {
        db.prepare_cached("BEGIN")?.execute([])?;
        Ok(Self(db))
    }
}

impl Drop for Moment<'_> {
    fn drop(&mut self) {
        // Some errors end the transaction.
        if self.0.is_autocommit() {
            return;
        }
        let ended = self.0.prepare_cached("ROLLBACK");
        if let Err(error) = ended.and_then(|mut statement| statement.execute([])) {
            tracing::error!(%error, "a transaction of reads did not end");
        }
    }
}

pub(super) fn query(db: &Connection, query: &Query<'_>) -> rusqlite::Result<Rows> {
    match &query.index {
        None => query_table(db, query),
        Some(index) => query_index(db, query, index),
    }
}

fn query_table(db: &Connection, query: &Query<'_>) -> rusqlite::Result<Rows> {
    let sql = match (query.descending, &query.after) {
        // Sort keys are never empty.
        (false, _) => "SELECT sk, body FROM items WHERE pk = ?1 AND sk > ?2 ORDER BY sk LIMIT ?3",
        (true, Some(_)) => {
            "SELECT sk, body FROM items WHERE pk = ?1 AND sk < ?2 ORDER BY sk DESC LIMIT ?3"
        }
        (true, None) => "SELECT sk, body FROM items WHERE pk = ?1 ORDER BY sk DESC LIMIT ?3",
    };
    let place = query.after.as_ref().map_or("", |after| &after.place);
    let mut statement = db.prepare_cached(sql)?;
    let rows = statement.query((query.partition, place, rows_wanted(query.limit)))?;
    page(rows, query.limit, |row| {
        let sk: String = row.get(0)?;
        Ok(Found {
            place: sk.clone(),
            key: Key::new(query.partition, sk),
            item: row.get::<_, Body>(1)?.0,
        })
    })
}

fn query_index(db: &Connection, query: &Query<'_>, index: &Index) -> rusqlite::Result<Rows> {
    let mut statement = db.prepare_cached(&index_sql(query, index))?;
    let (place, key) = match &query.after {
        Some(after) => (after.place.as_str(), after.key.as_ref()),
        None => ("", None),
    };
    let rows = statement.query((
        index.name,
        query.partition,
        place,
        key.map_or("", |key| key.pk.as_str()),
        key.map_or("", |key| &*key.sk),
        rows_wanted(query.limit),
    ))?;
    page(rows, query.limit, |row| {
        let place: String = row.get(0)?;
        let item = match index.projection {
            Projection::All => row.get::<_, Body>(3)?.0,
            Projection::Keys => Item::new()
                .with(index.pk, query.partition)
                .with(index.sk, place.as_str()),
        };
        let key = Key::new(row.get::<_, String>(1)?, row.get::<_, String>(2)?);
        Ok(Found { place, key, item })
    })
}

/// A few texts in all, so every connection soon has them prepared.
fn index_sql(query: &Query<'_>, index: &Index) -> String {
    let (beyond, order) = match query.descending {
        false => (">", "ASC"),
        true => ("<", "DESC"),
    };
    let after = match &query.after {
        None => String::new(),
        Some(Cursor { key: None, .. }) => format!("AND l.isk {beyond} ?3"),
        Some(_) => format!("AND (l.isk, l.pk, l.sk) {beyond} (?3, ?4, ?5)"),
    };
    // CROSS JOIN: the listing is read first, in its order.
    let (body, items) = match index.projection {
        Projection::Keys => ("", ""),
        Projection::All => (
            ", i.body",
            "CROSS JOIN items AS i ON i.pk = l.pk AND i.sk = l.sk",
        ),
    };
    format!(
        "SELECT l.isk, l.pk, l.sk{body} FROM listing AS l {items}
         WHERE l.idx = ?1 AND l.ipk = ?2 {after}
         ORDER BY l.isk {order}, l.pk {order}, l.sk {order} LIMIT ?6"
    )
}

/// All items in the order of their keys.
pub(super) fn scan(
    db: &Connection,
    after: Option<&Key>,
    limit: usize,
) -> rusqlite::Result<Vec<Row>> {
    let mut statement = db.prepare_cached(
        "SELECT pk, sk, body FROM items WHERE (pk, sk) > (?1, ?2) ORDER BY pk, sk LIMIT ?3",
    )?;
    let (pk, sk) = after.map_or(("", ""), |key| (key.pk.as_str(), &*key.sk));
    let rows = statement.query((pk, sk, rows_wanted(limit)))?;
    let page = page(rows, limit, |row| {
        Ok(Found {
            place: String::new(),
            key: Key::new(row.get::<_, String>(0)?, row.get::<_, String>(1)?),
            item: row.get::<_, Body>(2)?.0,
        })
    })?;
    Ok(page.rows)
}

/// An item that was read, and its sort key in the list.
struct Found {
    place: String,
    key: Key,
    item: Item,
}

/// Reads up to the limit of items or of bytes. Like DynamoDB it says that there may be more
/// whenever a limit ended the page.
fn page(
    mut rows: rusqlite::Rows<'_>,
    limit: usize,
    read: impl Fn(&SqlRow<'_>) -> rusqlite::Result<Found>,
) -> rusqlite::Result<Rows> {
    let mut page = Rows::default();
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        let Found { place, key, item } = read(row)?;
        bytes += item_bytes(&key, &item);
        let is_last = page.rows.len() + 1 == limit || bytes >= PAGE_BYTES;
        if is_last {
            let key = Some(key.clone());
            page.next = Some(Cursor { place, key });
        }
        page.rows.push(Row { key, item });
        if is_last {
            break;
        }
    }
    Ok(page)
}

fn rows_wanted(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
