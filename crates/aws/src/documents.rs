//! Documents: JSON under a version, which the next write must meet.
//!
//! Every write of a versioned item leaves its own random mark. When an answer is lost,
//! the SDK repeats the write and is refused by what it wrote itself: the mark tells that
//! from somebody else's write, even from one that stored the very same document.

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use onsale_app::ports::{StoreError, Stored, Versioned, Written};
use onsale_domain::time::Millis;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::attributes::{
    Item, bytes, get_bytes, get_json, get_number, json, number, seconds, text,
};
use crate::conditions::{Change, IS_AT_VERSION, IS_NEW};
use crate::errors::Failed;
use crate::keys::{Index, Key};
use crate::table::DynamoStore;

/// Where an item stands in an index; without a place it is not in it.
#[derive(Debug)]
pub(crate) struct Listing {
    pub index: Index,
    /// Partition and sort key.
    pub place: Option<(String, String)>,
}

/// What is stored as a document of its own.
pub(crate) trait Document: Serialize + DeserializeOwned + Sync {
    fn key(&self) -> Key;

    /// Its place in every index that its kind is ever in.
    fn listings(&self) -> Vec<Listing> {
        Vec::new()
    }

    /// When it may be forgotten; `None`: never.
    fn forget_at(&self) -> Option<Millis> {
        None
    }
}

pub(crate) fn versioned<T: DeserializeOwned>(item: &Item) -> Stored<Versioned<T>> {
    Ok(Versioned {
        version: get_number(item, "v")?,
        value: get_json(item, "doc")?,
    })
}

/// Replaces a document that is still at the version it was read at.
pub(crate) fn replacement<T: Serialize>(read: &Versioned<T>) -> Stored<Change> {
    Ok(Change {
        update: "SET v = :v, doc = :doc".to_owned(),
        condition: Some(IS_AT_VERSION.to_owned()),
        values: Item::from([
            (":v".to_owned(), number(read.version + 1)),
            (":doc".to_owned(), json(&read.value)?),
            (":read_version".to_owned(), number(read.version)),
        ]),
    })
}

/// The attribute that tells one write from every other.
const MARK: &str = "w";

pub(crate) type Mark = [u8; 16];

pub(crate) fn new_mark() -> Stored<Mark> {
    let mut mark = [0u8; 16];
    getrandom::fill(&mut mark).map_err(|e| StoreError::Unavailable(e.to_string()))?;
    Ok(mark)
}

/// Sets one attribute and the listings of an item that is still at the version it was
/// read at; version 0: that is not there yet.
fn marked(
    read_version: u64,
    mark: Mark,
    (name, value): (&str, AttributeValue),
    listings: Vec<Listing>,
) -> Change {
    let mut update = format!("SET v = :v, {MARK} = :mark, {name} = :value");
    let mut values = Item::from([
        (":v".to_owned(), number(read_version + 1)),
        (":mark".to_owned(), bytes(mark)),
        (":value".to_owned(), value),
    ]);
    let mut left = Vec::new();
    for Listing { index, place } in listings {
        let Some((pk, sk)) = place else {
            left.extend([index.pk, index.sk]);
            continue;
        };
        for (name, value) in [(index.pk, pk), (index.sk, sk)] {
            update.push_str(&format!(", {name} = :{name}"));
            values.insert(format!(":{name}"), text(value));
        }
    }
    if !left.is_empty() {
        update.push_str(&format!(" REMOVE {}", left.join(", ")));
    }
    let condition = if read_version == 0 {
        IS_NEW
    } else {
        values.insert(":read_version".to_owned(), number(read_version));
        IS_AT_VERSION
    };
    Change {
        update,
        condition: Some(condition.to_owned()),
        values,
    }
}

/// The whole document, with its listings and its time to live.
fn changed<T: Document>(read_version: u64, mark: Mark, next: &T) -> Stored<Change> {
    let mut change = marked(read_version, mark, ("doc", json(next)?), next.listings());
    if let Some(at) = next.forget_at() {
        // Before the listings, which may end in what is removed.
        change.update = change
            .update
            .replacen("SET ", "SET forget_at = :forget_at, ", 1);
        change.values.insert(":forget_at".to_owned(), seconds(at));
    }
    Ok(change)
}

impl DynamoStore {
    /// Writes one attribute of a versioned item, with its listings. `None`: done, now or
    /// by an earlier try whose answer was lost; otherwise the item that was found.
    pub(crate) async fn write_versioned(
        &self,
        key: &Key,
        read_version: u64,
        attribute: (&str, AttributeValue),
        listings: Vec<Listing>,
    ) -> Stored<Option<Item>> {
        let mark = new_mark()?;
        let change = marked(read_version, mark, attribute, listings);
        self.write_marked(key, mark, change).await
    }

    /// The same without listings, as one part of a transaction.
    pub(crate) fn versioned_part(
        &self,
        key: &Key,
        read_version: u64,
        attribute: (&str, AttributeValue),
    ) -> Stored<TransactWriteItem> {
        let change = marked(read_version, new_mark()?, attribute, vec![]);
        self.update_part(key, change)
    }

    async fn write_marked(
        &self,
        key: &Key,
        mark: [u8; 16],
        change: Change,
    ) -> Stored<Option<Item>> {
        match self.update(key, change).await {
            Ok(()) => Ok(None),
            Err(Failed::Condition(found)) => {
                let found = found.into_iter().flatten().next();
                let found = found.ok_or_else(|| {
                    StoreError::Corrupt("a document that was read is gone".to_owned())
                })?;
                let own = get_bytes(&found, MARK) == Ok(mark.as_slice());
                Ok((!own).then_some(found))
            }
            Err(failed) => Err(failed.into()),
        }
    }

    async fn write_document<T: Document>(&self, read_version: u64, next: &T) -> Stored<Written<T>> {
        let mark = new_mark()?;
        let change = changed(read_version, mark, next)?;
        let found = self.write_marked(&next.key(), mark, change).await?;
        Ok(match found {
            None => Written::Done(read_version + 1),
            Some(item) => Written::Lost(versioned(&item)?),
        })
    }

    /// A document as one part of a transaction; version 0: that is not there yet.
    pub(crate) fn document_part<T: Document>(
        &self,
        mark: Mark,
        read_version: u64,
        next: &T,
    ) -> Stored<TransactWriteItem> {
        self.update_part(&next.key(), changed(read_version, mark, next)?)
    }

    /// All parts or none; `false`: one of the documents has moved on. They share a mark, so
    /// one that refuses with it says that all of them were written by an earlier try.
    pub(crate) async fn transact_documents(
        &self,
        mark: Mark,
        parts: Vec<TransactWriteItem>,
    ) -> Stored<bool> {
        match self.transact(parts).await? {
            Ok(()) => Ok(true),
            Err(refused) => {
                let mut found = refused.iter().flatten();
                Ok(found.any(|item| get_bytes(item, MARK) == Ok(mark.as_slice())))
            }
        }
    }

    pub(crate) async fn create_document<T: Document>(&self, new: &T) -> Stored<Written<T>> {
        self.write_document(0, new).await
    }

    /// A new document as part of a transaction.
    pub(crate) fn new_document_part<T: Document>(&self, new: &T) -> Stored<TransactWriteItem> {
        self.update_part(&new.key(), changed(0, new_mark()?, new)?)
    }

    pub(crate) async fn replace_document<T: Document>(
        &self,
        next: &Versioned<T>,
    ) -> Stored<Written<T>> {
        self.write_document(next.version, &next.value).await
    }

    pub(crate) async fn get_versioned<T: DeserializeOwned>(
        &self,
        key: &Key,
    ) -> Stored<Option<Versioned<T>>> {
        self.get(key).await?.as_ref().map(versioned).transpose()
    }

    /// Those of the documents that exist, by consistent reads, in any order.
    pub(crate) async fn get_documents<T: DeserializeOwned>(
        &self,
        keys: &[Key],
    ) -> Stored<Vec<Versioned<T>>> {
        let items = self.get_many(keys, true).await?;
        items.iter().map(versioned).collect()
    }
}
