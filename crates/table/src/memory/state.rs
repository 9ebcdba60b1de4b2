//! What the table holds, and how one write changes it.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::index::{Indexes, index_units};
use super::meter::{Tariff, Units, bytes, written};
use super::page::{Found, check_limit, page, successor};
use crate::item::{Item, Key, Value};
use crate::requests::{check_key, check_names};
use crate::table::{Failed, Query, Reads, Rows, Schema, TableError};
use crate::units::check_item;
use crate::write::{Judged, Write};

#[derive(Debug)]
pub(super) struct State {
    items: BTreeMap<Key, Arc<Item>>,
    pub(super) indexes: Indexes,
    pub(super) meter: Units,
    forget_at: &'static str,
}

impl State {
    pub(super) fn new(schema: Schema) -> Self {
        Self {
            items: BTreeMap::new(),
            indexes: Indexes::new(schema.indexes),
            meter: Units::default(),
            forget_at: schema.forget_at,
        }
    }

    pub(super) fn read(&mut self, key: &Key, reads: Reads) -> Option<Item> {
        let item = self.items.get(key);
        self.meter.read(bytes(key, item.map(AsRef::as_ref)), reads);
        item.map(|item| item.as_ref().clone())
    }

    pub(super) fn stored(&self, key: &Key) -> Option<&Item> {
        self.items.get(key).map(AsRef::as_ref)
    }

    /// What the item would become. Judges a write without doing it.
    pub(super) fn judge(&self, key: &Key, write: &Write) -> Result<Option<Item>, Failed> {
        self.check_write(key, write)?;
        let stored = self.stored(key);
        let after = write.judge(stored).map_err(|judged| match judged {
            Judged::Refused => Failed::Refused(stored.cloned()),
            Judged::Misfit(why) => Failed::Error(TableError::Invalid(why)),
        })?;
        Ok(after.map(|item| self.storable(key, item)).transpose()?)
    }

    /// Refuses what is wrong whatever is stored.
    fn check_write(&self, key: &Key, write: &Write) -> Result<(), TableError> {
        match write {
            Write::PutNew(_, item) => self.storable(key, item.clone()).map(drop),
            Write::Update(_, update) => check_key(key).and_then(|()| check_names(update)),
            Write::Delete(..) | Write::Send(_) => check_key(key),
        }
    }

    /// The item as it is stored: within the limits, and without empty sets.
    fn storable(&self, key: &Key, item: Item) -> Result<Item, TableError> {
        let is_empty_set = |value: &Value| matches!(value, Value::Texts(set) if set.is_empty());
        let item: Item = item
            .into_iter()
            .filter(|(_, value)| !is_empty_set(value))
            .collect();
        check_item(key, &item)?;
        self.indexes.check(&item)?;
        Ok(item)
    }

    /// Does one write; returns what it left of the item.
    pub(super) fn write(&mut self, key: &Key, write: &Write) -> Result<Option<Item>, Failed> {
        self.meter.requests += 1;
        let judged = self.judge(key, write);
        match &judged {
            Ok(after) => self.store(key, after.clone(), Tariff::Single),
            Err(Failed::Refused(_)) => self.charge(key, None, Tariff::Single),
            Err(Failed::Error(_)) => {}
        }
        judged
    }

    /// Charges for a write that makes this of the item, or that was refused.
    pub(super) fn charge(&mut self, key: &Key, after: Option<&Item>, tariff: Tariff) {
        let units = written(key, self.stored(key), after);
        self.meter.write_units += units * tariff.factor();
    }

    /// Stores what a write that holds makes of the item.
    pub(super) fn store(&mut self, key: &Key, after: Option<Item>, tariff: Tariff) {
        self.charge(key, after.as_ref(), tariff);
        self.meter.index_write_units += self.replace(key, after);
    }

    /// Replaces the item here and in the indexes; returns the units that the indexes cost.
    fn replace(&mut self, key: &Key, after: Option<Item>) -> u64 {
        let after = after.map(Arc::new);
        let before = match &after {
            Some(item) => self.items.insert(key.clone(), Arc::clone(item)),
            None => self.items.remove(key),
        };
        let changes = self.indexes.changes(key, before.as_ref(), after.as_ref());
        let units = changes.iter().map(|change| index_units(key, change)).sum();
        self.indexes.take(changes);
        units
    }

    pub(super) fn query(&mut self, query: &Query<'_>) -> Result<Rows, TableError> {
        check_limit(query.limit)?;
        if query.partition.is_empty() {
            return Err(TableError::Invalid("a partition without a key".to_owned()));
        }
        let (after, down) = (query.after.as_ref(), query.descending);
        let Some(index) = &query.index else {
            let found = partition(&self.items, query);
            return Ok(page(found, query.limit, query.reads, &mut self.meter));
        };
        let found = self.indexes.read(index, query.partition, after, down)?;
        Ok(page(found, query.limit, Reads::Eventual, &mut self.meter))
    }

    pub(super) fn scan(&mut self, after: Option<&Key>, limit: usize) -> Result<Rows, TableError> {
        check_limit(limit)?;
        let first = after.map_or_else(
            || Key::new("", ""),
            |key| Key::new(key.pk.clone(), successor(&key.sk)),
        );
        let found = self.items.range(first..).map(found);
        Ok(page(found, limit, Reads::Eventual, &mut self.meter))
    }

    /// Deletes up to `limit` items whose time has passed. DynamoDB does so without charge.
    pub(super) fn forget(&mut self, now_s: u64, limit: usize) -> usize {
        let is_past = |item: &Item| {
            let at = item.number(self.forget_at);
            at.is_some_and(|at| at < i128::from(now_s))
        };
        let past = self.items.iter().filter(|(_, item)| is_past(item));
        let keys: Vec<Key> = past.map(|(key, _)| key.clone()).take(limit).collect();
        for key in &keys {
            self.replace(key, None);
        }
        keys.len()
    }
}

/// The items of a partition of the table after the cursor, in the order in which they are read.
fn partition<'a>(
    items: &'a BTreeMap<Key, Arc<Item>>,
    query: &Query<'_>,
) -> Box<dyn Iterator<Item = Found<'a>> + 'a> {
    let at = |sk: String| Key::new(query.partition, sk);
    let end = Key::new(successor(query.partition), "");
    let place = query.after.as_ref().map(|cursor| cursor.place.clone());
    if query.descending {
        let end = place.map_or(end, at);
        return Box::new(items.range(at(String::new())..end).rev().map(found));
    }
    let first = place.map_or_else(String::new, |place| successor(&place));
    Box::new(items.range(at(first)..end).map(found))
}

fn found<'a>((key, item): (&'a Key, &'a Arc<Item>)) -> Found<'a> {
    Found {
        place: &key.sk,
        key,
        item,
    }
}
