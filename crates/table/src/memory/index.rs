//! An index: its entries, and the changes that it has not taken yet.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::meter::written;
use super::page::{Found, successor};
use crate::item::{Item, Key, Value};
use crate::table::{Cursor, Index, Limits, Projection, TableError};

/// Partition and place in the index, and the key that tells items at one place apart.
type Place = (String, String, Key);

/// What an item has in an index.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    place: Place,
    projected: Arc<Item>,
}

/// What one write changes in one index.
#[derive(Debug)]
pub(super) struct IndexChange {
    index: usize,
    before: Option<Entry>,
    after: Option<Entry>,
}

/// All indexes of a table, as far as they have caught up with it.
#[derive(Debug)]
pub(super) struct Indexes {
    definitions: &'static [Index],
    entries: Vec<BTreeMap<Place, Arc<Item>>>,
    /// The changes of each write that the indexes do not show yet, oldest first.
    pending: VecDeque<Vec<IndexChange>>,
    /// How many writes the indexes are behind.
    lag: usize,
}

impl Indexes {
    pub(super) fn new(definitions: &'static [Index]) -> Self {
        Self {
            definitions,
            entries: definitions.iter().map(|_| BTreeMap::new()).collect(),
            pending: VecDeque::new(),
            lag: 0,
        }
    }

    /// Refuses an item that an index cannot take, as DynamoDB does.
    pub(super) fn check(&self, item: &Item) -> Result<(), TableError> {
        for index in self.definitions {
            check_attribute(item, index.pk, Limits::PK_BYTES)?;
            check_attribute(item, index.sk, Limits::SK_BYTES)?;
        }
        Ok(())
    }

    /// What becomes of the indexes when the item becomes another.
    pub(super) fn changes(
        &self,
        key: &Key,
        before: Option<&Arc<Item>>,
        after: Option<&Arc<Item>>,
    ) -> Vec<IndexChange> {
        let of = |index: &Index, item: Option<&Arc<Item>>| item.and_then(|i| entry(index, key, i));
        self.definitions
            .iter()
            .enumerate()
            .map(|(n, index)| IndexChange {
                index: n,
                before: of(index, before),
                after: of(index, after),
            })
            .filter(|change| change.before != change.after)
            .collect()
    }

    /// Takes the changes of one write, now or once `lag` further writes have followed.
    pub(super) fn take(&mut self, changes: Vec<IndexChange>) {
        self.pending.push_back(changes);
        self.catch_up();
    }

    pub(super) fn set_lag(&mut self, writes: usize) {
        self.lag = writes;
        self.catch_up();
    }

    fn catch_up(&mut self) {
        while self.pending.len() > self.lag {
            for change in self.pending.pop_front().into_iter().flatten() {
                let entries = &mut self.entries[change.index];
                if let Some(before) = change.before {
                    entries.remove(&before.place);
                }
                if let Some(after) = change.after {
                    entries.insert(after.place, after.projected);
                }
            }
        }
    }

    /// The entries of a partition after the cursor, in the order in which they are read.
    pub(super) fn read<'a>(
        &'a self,
        index: &Index,
        partition: &str,
        after: Option<&Cursor>,
        descending: bool,
    ) -> Result<Box<dyn Iterator<Item = Found<'a>> + 'a>, TableError> {
        let number = self.definitions.iter().position(|known| known == index);
        let Some(number) = number else {
            let unknown = format!("the table has no index {}", index.name);
            return Err(TableError::Invalid(unknown));
        };
        let first = || (partition.to_owned(), String::new(), Key::new("", ""));
        let end = (successor(partition), String::new(), Key::new("", ""));
        let entries = &self.entries[number];
        let found = |(place, item): (&'a Place, &'a Arc<Item>)| Found {
            place: &place.1,
            key: &place.2,
            item,
        };
        Ok(match descending {
            false => Box::new(
                entries
                    .range(after.map_or_else(first, |at| start_after(partition, at))..end)
                    .map(found),
            ),
            true => {
                let end = after.map_or(end, |at| end_before(partition, at));
                Box::new(entries.range(first()..end).rev().map(found))
            }
        })
    }
}

/// The lowest place that comes after the cursor, read upwards.
fn start_after(partition: &str, cursor: &Cursor) -> Place {
    let partition = partition.to_owned();
    match &cursor.key {
        Some(key) => {
            let next = Key::new(key.pk.clone(), successor(&key.sk));
            (partition, cursor.place.clone(), next)
        }
        None => (partition, successor(&cursor.place), Key::new("", "")),
    }
}

/// All places below this one come after the cursor, read downwards.
fn end_before(partition: &str, cursor: &Cursor) -> Place {
    let key = cursor.key.clone().unwrap_or_else(|| Key::new("", ""));
    (partition.to_owned(), cursor.place.clone(), key)
}

/// Write units that the change costs. An entry whose key changes is deleted and put again.
pub(super) fn index_units(key: &Key, change: &IndexChange) -> u64 {
    let units = |before: Option<&Entry>, after: Option<&Entry>| {
        let projected = |entry: Option<&Entry>| entry.map(|entry| Arc::clone(&entry.projected));
        written(
            key,
            projected(before).as_deref(),
            projected(after).as_deref(),
        )
    };
    match (&change.before, &change.after) {
        (Some(before), Some(after)) if before.place != after.place => {
            units(Some(before), None) + units(None, Some(after))
        }
        (before, after) => units(before.as_ref(), after.as_ref()),
    }
}

fn entry(index: &Index, key: &Key, item: &Arc<Item>) -> Option<Entry> {
    let (pk, sk) = (item.text(index.pk)?, item.text(index.sk)?);
    let projected = match index.projection {
        Projection::All => Arc::clone(item),
        Projection::Keys => Arc::new(Item::new().with(index.pk, pk).with(index.sk, sk)),
    };
    Some(Entry {
        place: (pk.to_owned(), sk.to_owned(), key.clone()),
        projected,
    })
}

fn check_attribute(item: &Item, name: &str, most_bytes: usize) -> Result<(), TableError> {
    match item.get(name) {
        None => Ok(()),
        Some(Value::Text(text)) if !text.is_empty() && text.len() <= most_bytes => Ok(()),
        Some(_) => Err(TableError::Invalid(format!(
            "{name} is a key of an index: a text of 1 to {most_bytes} bytes"
        ))),
    }
}
