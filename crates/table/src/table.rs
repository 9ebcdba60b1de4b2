//! The one trait between what is stored and where, and its promises.

use std::fmt::Debug;

use async_trait::async_trait;

use crate::item::{Item, Key, Row};
use crate::message::Message;
use crate::update::Update;
use crate::write::Write;

/// Keys that one [`Table::get_many`] reads.
pub const BATCH_KEYS: usize = 100;
/// Parts of one transaction.
pub const TRANSACTION_PARTS: usize = 100;
/// Bytes of items after which a page of a query or a scan ends.
pub const PAGE_BYTES: usize = 1 << 20;

/// What every engine refuses, because DynamoDB does.
#[derive(Debug, Clone, Copy)]
pub struct Limits;

impl Limits {
    /// Bytes of one item, names included.
    pub const ITEM_BYTES: usize = 400 * 1024;
    /// Bytes of a partition key.
    pub const PK_BYTES: usize = 2048;
    /// Bytes of a sort key.
    pub const SK_BYTES: usize = 1024;
    /// The longest delay of a message.
    pub const DELAY_S: u32 = 900;
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// No answer, or "try again". A write may or may not have happened.
    #[error("the table does not answer: {0}")]
    Unavailable(String),
    /// Another transaction was on the same item. Nothing was written, and it says nothing about
    /// the item: repeat after a pause.
    #[error("a transaction is in the way")]
    Conflict,
    /// No engine takes this request: the caller's mistake.
    #[error("no such request: {0}")]
    Invalid(String),
}

/// Why one write did not take place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failed {
    /// Its condition did not hold for this item; `None`: nothing is stored under the key.
    Refused(Option<Item>),
    Error(TableError),
}

impl From<TableError> for Failed {
    fn from(error: TableError) -> Self {
        Self::Error(error)
    }
}

/// Why a transaction did not take place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransactFailed {
    /// Every part was judged and some refuse. For each part: `None` if its condition held, else
    /// what it found.
    Refused(Vec<Option<Option<Item>>>),
    Error(TableError),
}

impl From<TableError> for TransactFailed {
    fn from(error: TableError) -> Self {
        Self::Error(error)
    }
}

/// Why writes in order stopped. Those before `at` were done, those after it were not begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stopped {
    pub at: usize,
    pub why: Failed,
}

/// How new a read has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Everything that was acknowledged before the read began is in it.
    Consistent,
    /// May be a moment old; half the price on DynamoDB.
    Eventual,
}

/// What was found of a batch of keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Batch {
    /// Those of the items that exist, in any order.
    pub rows: Vec<Row>,
    /// Keys that were not looked at for want of throughput: ask again after a pause.
    pub unprocessed: Vec<Key>,
}

/// What an index has of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Projection {
    /// The keys of the table and its own.
    Keys,
    All,
}

/// A list of items by two of their attributes, both texts. An item that lacks one of them is not
/// in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index {
    pub name: &'static str,
    pub pk: &'static str,
    pub sk: &'static str,
    pub projection: Projection,
}

/// The shape of a table.
#[derive(Debug, Clone, Copy)]
pub struct Schema {
    pub indexes: &'static [Index],
    /// The attribute with the time, in whole seconds, after which an item may be deleted.
    pub forget_at: &'static str,
}

/// Where a list goes on. It stays good when the item it names is changed or deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    /// The sort key of the last item that was read.
    pub place: String,
    /// Its key, which tells it from others at the same place; `None`: beyond all of those.
    pub key: Option<Key>,
}

impl Cursor {
    /// Beyond every item at this place.
    pub fn beyond(place: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            key: None,
        }
    }
}

/// A page of one partition, of the table or of an index.
#[derive(Debug, Clone)]
pub struct Query<'a> {
    /// `None`: the table itself.
    pub index: Option<Index>,
    pub partition: &'a str,
    /// `None`: from the beginning.
    pub after: Option<Cursor>,
    /// By the sort key from high to low.
    pub descending: bool,
    /// Items of the page, at least one.
    pub limit: usize,
    /// An index is always read [`Reads::Eventual`].
    pub reads: Reads,
}

/// A page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    pub rows: Vec<Row>,
    /// `None`: there is no more. Some: perhaps there is.
    pub next: Option<Cursor>,
}

/// A table of items, each under its own key.
///
/// **Writes.** A write is conditional: its condition is judged and the item written in one
/// moment, and nobody sees half of it. A refusal writes nothing and returns the item that
/// refused.
///
/// **Lost replies.** After [`TableError::Unavailable`] a write may or may not have happened. An
/// engine may also repeat a write by itself (the AWS SDK does): then a write that took place can
/// be refused by what it wrote itself. A caller that must know leaves a mark in the item and
/// looks for it in what refused.
///
/// **Consistency.** [`Reads::Consistent`] sees every write that was acknowledged before. Reads of
/// an index, and [`Reads::Eventual`], may lag behind.
///
/// **Durability.** A durable engine acknowledges a write, and answers a read that saw it, only
/// once it survives a power cut.
///
/// **Limits.** An item has at most 400 KB ([`Limits`]), a transaction 100 parts of different
/// items, none of them an update without actions, a batch 100 keys, a page 1 MB of items. Every engine refuses what is beyond
/// ([`TableError::Invalid`]), so that what works on one works on all.
///
/// **Cost.** Reading costs one unit for each 4 KB of an item, half of it when not consistent;
/// writing one unit for each KB of the larger of old and new item, refused or not, and twice as
/// much in a transaction; each index whose keys or projection change costs its own units
/// ([`units`](crate::units)).
#[async_trait]
pub trait Table: Debug + Send + Sync {
    async fn get(&self, key: &Key, reads: Reads) -> Result<Option<Item>, TableError>;

    /// Reads up to [`BATCH_KEYS`] different keys. Not a snapshot: items may be from different
    /// moments.
    async fn get_many(&self, keys: &[Key], reads: Reads) -> Result<Batch, TableError>;

    /// Stores the item if its key is new.
    async fn put_new(&self, key: &Key, item: Item) -> Result<(), Failed>;

    async fn update(&self, key: &Key, update: &Update) -> Result<(), Failed>;

    /// Like `update`; returns the item as the update left it.
    async fn update_returning(&self, key: &Key, update: &Update) -> Result<Item, Failed>;

    /// Deletes the item. Deleting what is not there is done.
    async fn delete(&self, key: &Key) -> Result<(), TableError>;

    /// All parts or none, at one moment.
    async fn transact(&self, parts: &[Write]) -> Result<(), TransactFailed>;

    /// One write after the other, up to the first that does not take place. Not a transaction:
    /// others see the earlier ones before the later ones, and a process may die between any two.
    /// A [`Write::Send`] may be the last. DynamoDB sends a request for each; SQLite makes all of
    /// them durable with one flush.
    async fn in_order(&self, writes: &[Write]) -> Result<(), Stopped>;

    async fn query(&self, query: &Query<'_>) -> Result<Rows, TableError>;

    /// A page of all items, in any order, each once, from after the last key of the page before.
    async fn scan(&self, after: Option<&Key>, limit: usize) -> Result<Vec<Row>, TableError>;

    /// Deletes up to `limit` items that may be forgotten at this time; returns how many it
    /// deleted. DynamoDB does so by itself, within days.
    async fn forget(&self, _now_s: u64, _limit: usize) -> Result<usize, TableError> {
        Ok(0)
    }

    /// The last failure of the storage, such as a full disk, until a write works again.
    fn trouble(&self) -> Option<String> {
        None
    }
}

/// Refuses a message that no queue takes.
pub(crate) fn check_message(message: &Message) -> Result<(), TableError> {
    if message.delay_s > Limits::DELAY_S {
        return Err(TableError::Invalid(format!(
            "a delay of {} s is longer than a queue takes",
            message.delay_s
        )));
    }
    Ok(())
}
