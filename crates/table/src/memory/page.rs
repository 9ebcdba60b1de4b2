//! Pages: where a list goes on, and where a page of it ends.

use std::sync::Arc;

use super::meter::Units;
use crate::item::{Item, Key, Row};
use crate::table::{Cursor, PAGE_BYTES, Reads, Rows, TableError};
use crate::units::item_bytes;

/// An item that is being read.
#[derive(Debug)]
pub(super) struct Found<'a> {
    /// Its sort key, in the table or in the index.
    pub(super) place: &'a str,
    pub(super) key: &'a Key,
    pub(super) item: &'a Arc<Item>,
}

/// The lowest text above this one.
pub(super) fn successor(text: &str) -> String {
    format!("{text}\0")
}

pub(super) fn check_limit(limit: usize) -> Result<(), TableError> {
    match limit {
        0 => Err(TableError::Invalid("a page of no items".to_owned())),
        _ => Ok(()),
    }
}

/// One page. Like DynamoDB it says that there may be more whenever the limit ended it.
pub(super) fn page<'a>(
    found: impl Iterator<Item = Found<'a>>,
    limit: usize,
    reads: Reads,
    meter: &mut Units,
) -> Rows {
    let mut page = Rows::default();
    let mut bytes = 0;
    for found in found {
        bytes += item_bytes(found.key, found.item);
        page.rows.push(Row {
            key: found.key.clone(),
            item: found.item.as_ref().clone(),
        });
        if page.rows.len() == limit || bytes >= PAGE_BYTES {
            page.next = Some(Cursor {
                place: found.place.to_owned(),
                key: Some(found.key.clone()),
            });
            break;
        }
    }
    meter.read(bytes, reads);
    page
}
