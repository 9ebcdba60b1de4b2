//! Lists, in words of the sale: each is one partition of an index, sorted by a place.
//!
//! An index lags behind its table by a moment. Where it has keys only, the items that it names
//! are read from the table itself, so a list is late but never wrong about them.

use std::collections::HashMap;

use onsale_domain::gate::Conflict;
use onsale_domain::ids::{AccountId, OrderId, ShowId};
use onsale_domain::mail::{MailId, Recipient};
use onsale_domain::room::opaque::EmailHash;
use onsale_domain::time::Millis;
use onsale_table::{Cursor, Index, Item, Key, Query, Reads, Row};

use crate::attributes::get_text;
use crate::documents::{Document, Versioned, id_of, read_item};
use crate::error::Stored;
use crate::indexes::{BY_BUYER, BY_LIST, BY_OWNER, BY_WORK, WORK_SHARDS};
use crate::store::Store;

/// Keys that one request of a whole list reads.
const LIST_PAGE: usize = 100;

#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// The place after which the next page begins; `None`: there is no more.
    pub next: Option<String>,
}

impl<T> Page<T> {
    pub fn empty() -> Self {
        Self {
            items: Vec::new(),
            next: None,
        }
    }

    /// The same page of what `read` makes of each item.
    pub fn try_map<U, E>(self, read: impl FnMut(T) -> Result<U, E>) -> Result<Page<U>, E> {
        Ok(Page {
            items: self.items.into_iter().map(read).collect::<Result<_, E>>()?,
            next: self.next,
        })
    }
}

impl<T> Page<Versioned<T>> {
    /// The page without versions, for readers that write nothing.
    pub fn values(self) -> Page<T> {
        Page {
            items: self.items.into_iter().map(|item| item.value).collect(),
            next: self.next,
        }
    }
}

/// Every list there is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum List {
    OrdersOf(AccountId),
    TicketsOf(AccountId),
    SessionsOf(AccountId),
    /// Entries of an account in waitlists.
    WaitsOf(AccountId),
    /// Transfers that an account offered.
    SentBy(AccountId),
    /// Transfers that were offered to an address.
    OfferedTo(EmailHash),
    MailsToAccount(AccountId),
    MailsToAddress(EmailHash),
    StaffOf(AccountId),
    EventsOf(AccountId),
    PublicEvents,
    AuditOf(ShowId),
    /// Takes 1,000 of them a second, as many as a show confirms orders.
    EndedPasses(ShowId),
    FansOf(ShowId),
    /// Registrations of an address as a fan.
    FanOf(EmailHash),
    GatesOf(ShowId),
    /// What the gates of a show must know. It takes 1,000 changes a second; 10,000 scans a
    /// minute are 167.
    GateLog(ShowId),
    /// Tickets of a show that a person has to look at.
    Conflicts(ShowId, Conflict),
    /// Tickets of a show that were put back.
    PutBack(ShowId),
    SandboxPayments,
    /// One of [`WORK_SHARDS`] parts.
    OpenOrders(u8),
    /// One of [`WORK_SHARDS`] parts.
    OpenMails(u8),
    /// There are few, or the mail service takes none, and then no more than it could send.
    ParkedMails,
    OpenCancellations,
    OpenResets,
    OpenDeletions,
    OpenMailings,
    OpenExports,
    /// Shows with a waitlist.
    OpenWaitlists,
    /// Transfers that were not announced.
    UntoldTransfers,
    /// Events that changed since they were indexed.
    UnindexedEvents,
    /// One of [`WORK_SHARDS`] parts of those who wait for a show: a crowd that joins when a show
    /// sells out is spread over them by account.
    Waiting(ShowId, u8),
    /// Those who have an offer for a show.
    Offered(ShowId),
}

impl List {
    pub fn index(&self) -> Index {
        match self {
            Self::OfferedTo(_) | Self::FanOf(_) | Self::EventsOf(_) | Self::PutBack(_) => BY_OWNER,
            Self::PublicEvents | Self::Conflicts(..) => BY_LIST,
            Self::OrdersOf(_)
            | Self::TicketsOf(_)
            | Self::SessionsOf(_)
            | Self::WaitsOf(_)
            | Self::SentBy(_)
            | Self::MailsToAccount(_)
            | Self::MailsToAddress(_)
            | Self::StaffOf(_)
            | Self::AuditOf(_)
            | Self::EndedPasses(_)
            | Self::FansOf(_)
            | Self::GatesOf(_)
            | Self::SandboxPayments => BY_BUYER,
            Self::GateLog(_)
            | Self::OpenOrders(_)
            | Self::OpenMails(_)
            | Self::ParkedMails
            | Self::OpenCancellations
            | Self::OpenResets
            | Self::OpenDeletions
            | Self::OpenMailings
            | Self::OpenExports
            | Self::OpenWaitlists
            | Self::UntoldTransfers
            | Self::UnindexedEvents
            | Self::Waiting(..)
            | Self::Offered(_) => BY_WORK,
        }
    }

    /// The partition of the index.
    pub fn partition(&self) -> String {
        let fixed = match self {
            Self::OrdersOf(account) => return format!("BUYER#{}", account.simple()),
            Self::TicketsOf(account) => return format!("TICKETS#{}", account.simple()),
            Self::SessionsOf(account) => return format!("SESSIONS#{}", account.simple()),
            Self::WaitsOf(account) => return format!("WAITS#{}", account.simple()),
            Self::SentBy(account) => return format!("SENT#{}", account.simple()),
            Self::OfferedTo(email) => return format!("TO#{email}"),
            Self::MailsToAccount(account) => return format!("MAILS#{}", account.simple()),
            Self::MailsToAddress(email) => return format!("MAILS#{email}"),
            Self::StaffOf(organiser) => return format!("STAFF#{}", organiser.simple()),
            Self::EventsOf(owner) => return format!("ORG#{}", owner.simple()),
            Self::AuditOf(show) => return format!("AUDIT#{}", show.simple()),
            Self::EndedPasses(show) => return format!("ENDED#{}", show.simple()),
            Self::FansOf(show) => return format!("FANS#{}", show.simple()),
            Self::FanOf(email) => return format!("FAN#{email}"),
            Self::GatesOf(show) => return format!("GATES#{}", show.simple()),
            Self::GateLog(show) => return format!("GATE#{}", show.simple()),
            Self::Conflicts(show, Conflict::Double) => {
                return format!("DOUBLE#{}", show.simple());
            }
            Self::Conflicts(show, Conflict::Revoked) => {
                return format!("ENTERED#{}", show.simple());
            }
            Self::PutBack(show) => return format!("RETURNS#{}", show.simple()),
            Self::OpenOrders(shard) => return format!("OPEN#{shard:02}"),
            Self::OpenMails(shard) => return format!("OPENMAIL#{shard:02}"),
            Self::Waiting(show, shard) => return format!("WAIT#{}#{shard:02}", show.simple()),
            Self::Offered(show) => return format!("OFFERED#{}", show.simple()),
            Self::PublicEvents => "EVENTS",
            Self::SandboxPayments => "SANDBOX",
            Self::ParkedMails => "PARKEDMAIL",
            Self::OpenCancellations => "OPENCXL",
            Self::OpenResets => "OPENRST",
            Self::OpenDeletions => "OPENDEL",
            Self::OpenMailings => "OPENMLG",
            Self::OpenExports => "OPENEXP",
            Self::OpenWaitlists => "OPENWLS",
            Self::UntoldTransfers => "UNTOLD",
            Self::UnindexedEvents => "UNINDEXED",
        };
        fixed.to_owned()
    }

    /// The part of the open orders that an order belongs to. The last byte is random or hashed
    /// in every kind of id.
    pub fn open_orders(order: OrderId) -> Self {
        Self::OpenOrders(order.as_bytes()[15] % WORK_SHARDS)
    }

    /// The part of the open mails that a mail belongs to.
    pub fn open_mails(id: &MailId) -> Self {
        let bytes = id.as_str().bytes();
        let sum = bytes.fold(0u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte));
        Self::OpenMails(sum % WORK_SHARDS)
    }

    /// The part of a waitlist that an account belongs to.
    pub fn waiting(show: ShowId, account: AccountId) -> Self {
        Self::Waiting(show, account.as_bytes()[15] % WORK_SHARDS)
    }

    /// The mails to an account or an address; `None`: the recipient was forgotten.
    pub fn mails_to(to: &Recipient) -> Option<Self> {
        match to {
            Recipient::Account(account) => Some(Self::MailsToAccount(*account)),
            Recipient::Address(email) => Some(Self::MailsToAddress(EmailHash::of(email))),
            Recipient::Nobody => None,
        }
    }

    /// The place of an item in this list.
    pub fn at(self, place: impl Into<String>) -> Place {
        Place {
            list: self,
            at: place.into(),
        }
    }
}

/// Where an item stands in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub list: List,
    /// What the list is sorted by.
    pub at: String,
}

impl Place {
    /// The item with this place.
    pub(crate) fn mark(self, item: Item) -> Item {
        let index = self.list.index();
        item.with(index.pk, self.list.partition())
            .with(index.sk, self.at)
    }
}

/// Sorts by time, then by id.
pub fn by_time(at: Millis, id: impl std::fmt::Display) -> String {
    format!("{:015}#{id}", at.0)
}

/// The time and the id of such a place.
pub fn read_by_time(place: &str) -> Option<(Millis, &str)> {
    let (time, id) = place.split_once('#')?;
    Some((Millis(time.parse().ok()?), id))
}

/// In which direction a list is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sorted {
    OldestFirst,
    NewestFirst,
}

impl Store {
    /// What the index has of the items after this place.
    pub(crate) async fn page(
        &self,
        list: &List,
        sorted: Sorted,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Row>> {
        let partition = list.partition();
        let query = Query {
            index: Some(list.index()),
            partition: &partition,
            after: after.map(Cursor::beyond),
            descending: sorted == Sorted::NewestFirst,
            limit,
            reads: Reads::Eventual,
        };
        let page = self.query(&query).await?;
        Ok(Page {
            items: page.rows,
            next: page.next.map(|cursor| cursor.place),
        })
    }

    /// What the index has of all items, oldest first, for lists that stay short.
    pub(crate) async fn whole(&self, list: &List) -> Stored<Vec<Row>> {
        self.first(list, usize::MAX).await
    }

    /// What the index has of the first items, oldest first.
    pub(crate) async fn first(&self, list: &List, limit: usize) -> Stored<Vec<Row>> {
        let (mut rows, mut after) = (Vec::new(), None::<String>);
        while rows.len() < limit {
            let most = LIST_PAGE.min(limit - rows.len());
            let page = self
                .page(list, Sorted::OldestFirst, after.as_deref(), most)
                .await?;
            rows.extend(page.items);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(rows)
    }

    /// A page of whole items, read from the table, in the order of the list.
    pub(crate) async fn page_of_items(
        &self,
        list: &List,
        sorted: Sorted,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Row>> {
        let page = self.page(list, sorted, after, limit).await?;
        let keys: Vec<Key> = page.items.into_iter().map(|row| row.key).collect();
        let read = self.get_many(&keys, Reads::Consistent).await?;
        let mut found: HashMap<Key, Item> =
            read.into_iter().map(|row| (row.key, row.item)).collect();
        let in_order = keys.into_iter().filter_map(|key| {
            let item = found.remove(&key)?;
            Some(Row { key, item })
        });
        Ok(Page {
            items: in_order.collect(),
            next: page.next,
        })
    }

    /// A page of documents as they are now, in the order of the list.
    pub async fn list<T: Document>(
        &self,
        list: &List,
        sorted: Sorted,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<T>>> {
        let page = self.page_of_items(list, sorted, after, limit).await?;
        page.try_map(|row| read_item(&row.item))
    }

    /// The ids of all documents of a list that stays short, oldest first.
    pub async fn ids_in<T: Document>(&self, list: &List) -> Stored<Vec<T::Id>> {
        let rows = self.whole(list).await?;
        rows.iter().map(|row| id_of::<T>(&row.key)).collect()
    }

    /// A page of the ids of documents, oldest first.
    pub async fn page_of_ids<T: Document>(
        &self,
        list: &List,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<T::Id>> {
        let page = self.page(list, Sorted::OldestFirst, after, limit).await?;
        page.try_map(|row| id_of::<T>(&row.key))
    }
}

/// The place of a row in its list.
pub(crate) fn place_of<'a>(row: &'a Row, list: &List) -> Stored<&'a str> {
    get_text(&row.item, list.index().sk)
}
