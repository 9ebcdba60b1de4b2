//! Documents: JSON under a version, which the next write must meet.
//!
//! Every write of a document leaves its own random mark. When a reply is lost, the engine may
//! repeat the write, which is then refused by what it wrote itself: the mark tells that from
//! another process's write, even from one that stored the very same document.

use std::borrow::Borrow;

use onsale_domain::request_hash::RequestHash;
use onsale_domain::time::Millis;
use onsale_table::{Condition, Index, Item, Key, Reads, Row, Update, Value, Write};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::attributes::{
    DOC, FORGET_AT, REQUEST, VERSION, get_json, get_number, get_request, json, seconds,
};
use crate::conditions::is_at_version;
use crate::error::{Stored, corrupt};
use crate::keys;
use crate::lists::Place;
use crate::store::{Mark, Refusals, Store};

/// The attribute that tells one write from every other.
const MARK: &str = "w";

/// A document with the version that its next write must meet.
#[derive(Debug, Clone, PartialEq)]
pub struct Versioned<T> {
    pub version: u64,
    pub value: T,
}

/// The outcome of a conditional write on a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Written<T> {
    /// Stored, under this version.
    Done(u64),
    /// The document had moved on to this.
    Lost(Versioned<T>),
}

/// Whether a creation made something new, or found its id in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Creation {
    New,
    /// The request that created what is there; `None` if it had no key.
    Existing(Option<RequestHash>),
}

/// What names a document within its kind.
pub trait Name: Sized {
    /// The text that stands for it in a key.
    fn text(&self) -> String;
    fn parse(text: &str) -> Option<Self>;
}

/// A kind of item that is stored whole, as JSON, and only ever replaced whole.
pub trait Document: Serialize + DeserializeOwned + Send + Sync {
    /// The prefix of its keys.
    const KIND: &'static str;
    /// Every index that a document of this kind is ever in.
    const INDEXES: &'static [Index] = &[];
    type Id: Name;

    fn id(&self) -> Self::Id;

    /// The lists that it is in now, each in an index of its own.
    fn lists(&self) -> Vec<Place> {
        Vec::new()
    }

    /// The time after which it may be forgotten; `None`: never.
    fn forget_at(&self) -> Option<Millis> {
        None
    }

    /// Takes in what is stored beside the document, by writes that leave its version alone.
    fn read_beside(&mut self, _item: &Item) -> Stored<()> {
        Ok(())
    }
}

pub(crate) fn key_of<T: Document>(id: &T::Id) -> Key {
    keys::of(T::KIND, id.text())
}

/// The document that a key names.
pub(crate) fn id_of<T: Document>(key: &Key) -> Stored<T::Id> {
    let id = keys::rest(key, T::KIND).and_then(T::Id::parse);
    id.ok_or_else(|| corrupt(format_args!("the key of a listed {}", T::KIND)))
}

pub(crate) fn read_item<T: Document>(item: &Item) -> Stored<Versioned<T>> {
    let mut value: T = get_json(item, DOC)?;
    value.read_beside(item)?;
    Ok(Versioned {
        version: get_number(item, VERSION)?,
        value,
    })
}

pub(crate) fn read_rows<T: Document>(rows: &[Row]) -> Stored<Vec<Versioned<T>>> {
    rows.iter().map(|row| read_item(&row.item)).collect()
}

/// Sets one attribute of an item that is still at the version it was read at; version 0: that
/// is not there yet.
pub(crate) fn marked(
    read_version: u64,
    mark: Mark,
    (name, value): (&'static str, Value),
) -> Update {
    let condition = match read_version {
        0 => Condition::New,
        read => is_at_version(read),
    };
    Update::when(condition)
        .set(VERSION, read_version + 1)
        .set(MARK, mark)
        .set(name, value)
}

/// The whole document, with its lists and its time to live.
fn replacement<T: Document>(read_version: u64, mark: Mark, next: &T) -> Stored<Update> {
    let mut update = marked(read_version, mark, (DOC, json(next)?));
    if let Some(at) = next.forget_at() {
        update = update.set(FORGET_AT, seconds(at));
    }
    let places = next.lists();
    for index in T::INDEXES {
        let place = places.iter().find(|place| place.list.index() == *index);
        update = match place {
            Some(place) => update
                .set(index.pk, place.list.partition())
                .set(index.sk, place.at.clone()),
            // A document that was never stored is in no index.
            None if read_version == 0 => update,
            None => update.remove(index.pk).remove(index.sk),
        };
    }
    Ok(update)
}

/// Keeps the request that creates a document with it.
fn requested(update: Update, request: Option<RequestHash>) -> Update {
    match request {
        Some(request) => update.set(REQUEST, request.0),
        None => update,
    }
}

pub(crate) fn is_marked(item: &Item, mark: Mark) -> bool {
    item.bytes(MARK) == Some(mark.as_slice())
}

/// Writes that take place all or not at all. The documents among them share a mark, so that one
/// that refuses with it tells that all of them were written by an earlier try.
#[derive(Debug)]
pub struct Together {
    mark: Mark,
    parts: Vec<Write>,
}

impl Together {
    /// Stores a document that is new.
    pub fn create<T: Document>(&mut self, new: &T) -> Stored<&mut Self> {
        self.write(0, new, None)
    }

    /// Stores a document that is new, with the request that creates it.
    pub fn create_requested<T: Document>(
        &mut self,
        new: &T,
        request: Option<RequestHash>,
    ) -> Stored<&mut Self> {
        self.write(0, new, request)
    }

    /// Replaces a document that is still at its version; version 0: that is not there yet.
    pub fn replace<T: Document>(&mut self, next: &Versioned<T>) -> Stored<&mut Self> {
        self.write(next.version, &next.value, None)
    }

    pub fn replace_all<T: Document>(&mut self, next: &[Versioned<T>]) -> Stored<&mut Self> {
        for document in next {
            self.replace(document)?;
        }
        Ok(self)
    }

    fn write<T: Document>(
        &mut self,
        read_version: u64,
        next: &T,
        request: Option<RequestHash>,
    ) -> Stored<&mut Self> {
        let update = replacement(read_version, self.mark, next)?;
        let update = requested(update, request);
        self.parts
            .push(Write::Update(key_of::<T>(&next.id()), update));
        Ok(self)
    }

    pub(crate) fn mark(&self) -> Mark {
        self.mark
    }

    pub(crate) fn push(&mut self, part: Write) -> &mut Self {
        self.parts.push(part);
        self
    }
}

impl Store {
    /// A consistent read.
    pub async fn read<T: Document>(&self, id: impl Borrow<T::Id>) -> Stored<Option<Versioned<T>>> {
        let item = self.get(&key_of::<T>(id.borrow())).await?;
        item.as_ref().map(read_item).transpose()
    }

    /// Those of the documents that exist, by consistent reads, in any order.
    pub async fn read_many<T: Document>(&self, ids: &[T::Id]) -> Stored<Vec<Versioned<T>>> {
        let keys: Vec<_> = ids.iter().map(key_of::<T>).collect();
        read_rows(&self.get_many(&keys, Reads::Consistent).await?)
    }

    /// Stores a new document under version 1; `Lost`: there is one already.
    pub async fn create<T: Document>(&self, new: &T) -> Stored<Written<T>> {
        self.write_document(0, new).await
    }

    /// Stores a new document with the request that creates it.
    pub(crate) async fn create_requested<T: Document>(
        &self,
        new: &T,
        request: Option<RequestHash>,
    ) -> Stored<Creation> {
        let mark = self.new_mark();
        let update = requested(replacement(0, mark, new)?, request);
        let key = key_of::<T>(&new.id());
        Ok(match self.write_marked(&key, mark, &update).await? {
            None => Creation::New,
            Some(found) => Creation::Existing(get_request(&found)),
        })
    }

    /// Replaces the document if it is still at this version; version 0: if there is none.
    pub async fn replace<T: Document>(&self, next: &Versioned<T>) -> Stored<Written<T>> {
        self.write_document(next.version, &next.value).await
    }

    async fn write_document<T: Document>(&self, read_version: u64, next: &T) -> Stored<Written<T>> {
        let mark = self.new_mark();
        let update = replacement(read_version, mark, next)?;
        let found = self
            .write_marked(&key_of::<T>(&next.id()), mark, &update)
            .await?;
        Ok(match found {
            None => Written::Done(read_version + 1),
            Some(item) => Written::Lost(read_item(&item)?),
        })
    }

    /// Writes under a mark. `None`: done, now or by an earlier try whose reply was lost;
    /// otherwise the item that refused.
    pub(crate) async fn write_marked(
        &self,
        key: &Key,
        mark: Mark,
        update: &Update,
    ) -> Stored<Option<Item>> {
        let Err(found) = self.update(key, update).await? else {
            return Ok(None);
        };
        let found = found.ok_or_else(|| corrupt("a document that was read is gone"))?;
        Ok((!is_marked(&found, mark)).then_some(found))
    }

    /// Writes that will take place all or not at all: [`Store::write`].
    pub fn together(&self) -> Together {
        Together {
            mark: self.new_mark(),
            parts: Vec::new(),
        }
    }

    /// Writes all parts or none; `false`: one of them has moved on.
    pub async fn write(&self, together: &Together) -> Stored<bool> {
        Ok(self.try_write(together).await?.is_ok())
    }

    /// Like `write`; the inner error is what each part found.
    pub(crate) async fn try_write(&self, together: &Together) -> Stored<Result<(), Refusals>> {
        let Err(refused) = self.transact(&together.parts).await? else {
            return Ok(Ok(()));
        };
        let mut found = refused.iter().flatten().flatten();
        if found.any(|item| is_marked(item, together.mark)) {
            return Ok(Ok(()));
        }
        Ok(Err(refused))
    }
}

/// Whether the first part of several writes found an item under its key.
pub(crate) fn creation_of(refused: &Refusals) -> Option<Creation> {
    let existing = refused.first()?.as_ref()?.as_ref()?;
    Some(Creation::Existing(get_request(existing)))
}

macro_rules! names {
    ($($id:ident),* $(,)?) => {
        $(impl Name for onsale_domain::ids::$id {
            fn text(&self) -> String {
                self.simple().to_string()
            }

            fn parse(text: &str) -> Option<Self> {
                format!("{}_{text}", Self::PREFIX).parse().ok()
            }
        })*
    };
}

names!(
    AccountId, EventId, ExportId, OrderId, ResetId, ShowId, TicketId, TransferId, VenueId,
);

impl Name for (onsale_domain::ids::ShowId, onsale_domain::ids::AccountId) {
    fn text(&self) -> String {
        format!("{}#{}", self.0.simple(), self.1.simple())
    }

    fn parse(text: &str) -> Option<Self> {
        let (show, account) = text.split_once('#')?;
        Some((Name::parse(show)?, Name::parse(account)?))
    }
}
