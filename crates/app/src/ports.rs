//! What the use cases need from the world, one small trait per capability.
//!
//! No type of any SDK appears here. Every write may have happened although it
//! answers `Unavailable`, so every write can be repeated: it is conditional, and a
//! refusal returns what was found.

mod accounts;
mod audit;
mod checkout;
mod devices;
mod exports;
mod fans;
mod gates;
mod index_work;
mod mails;
mod objects;
mod passes;
mod prices;
mod returns;
mod sales;
mod search;
mod transfers;
mod waitlists;

pub use accounts::*;
pub use audit::Audit;
pub use checkout::*;
pub use devices::Devices;
pub use exports::*;
pub use fans::Fans;
pub use gates::*;
pub use index_work::IndexWork;
pub use mails::*;
pub use objects::*;
pub use passes::*;
pub use prices::Prices;
pub use returns::*;
pub use sales::SalesBooks;
pub use search::*;
pub use transfers::*;
pub use waitlists::*;

use async_trait::async_trait;
use onsale_domain::audit::AuditEntry;
use onsale_domain::block::{BlockIndex, BlockState, Cell};
use onsale_domain::buyer::Buyer;
use onsale_domain::claim::{BlockSlots, Found};
use onsale_domain::event::Event;
use onsale_domain::ids::{AccountId, EventId, HoldId, SessionId, ShowId, VenueId};
use onsale_domain::layout::Layout;
use onsale_domain::map::SeatMap;
use onsale_domain::pricing::PriceLog;
use onsale_domain::request_hash::RequestHash;
use onsale_domain::room::opaque::PassId;
use onsale_domain::room::pass::PassUse;
use onsale_domain::show::Show;
use onsale_domain::time::Millis;
use onsale_domain::venue::Venue;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// No answer, or "try again". A write may or may not have happened.
    #[error("the store does not answer: {0}")]
    Unavailable(String),
    /// What is stored is not what was ever written.
    #[error("stored data cannot be read: {0}")]
    Corrupt(String),
}

pub type Stored<T> = Result<T, StoreError>;

/// Whether a creation made something new, or found its id in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Creation {
    New,
    /// The request that created what is there; `None` if it had no key.
    Existing(Option<RequestHash>),
}

/// A document with the version that its next write must meet.
#[derive(Debug, Clone, PartialEq)]
pub struct Versioned<T> {
    pub version: u64,
    pub value: T,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    pub items: Vec<T>,
    /// Where the next page begins, if there is more.
    pub next: Option<String>,
}

/// What is written together with a show, all or nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShowNotes<'a> {
    /// The entry in its audit trail.
    pub entry: Option<&'a AuditEntry>,
    /// The newest part of its price log, if it is still at this version; 0: if there is none.
    pub prices: Option<&'a Versioned<PriceLog>>,
}

#[async_trait]
pub trait Catalogue: Send + Sync {
    async fn create_venue(
        &self,
        venue: &Venue,
        layout: &Layout,
        request: Option<RequestHash>,
    ) -> Stored<Creation>;
    async fn venue(&self, id: VenueId) -> Stored<Option<Venue>>;
    async fn layout(&self, id: VenueId) -> Stored<Option<Layout>>;

    async fn create_event(&self, event: &Event, request: Option<RequestHash>) -> Stored<Creation>;
    async fn event(&self, id: EventId) -> Stored<Option<Versioned<Event>>>;
    /// `false`: the event has moved on from this version.
    async fn replace_event(&self, event: &Versioned<Event>) -> Stored<bool>;

    /// Creates the show, its event's new state and what is noted of it, all or nothing.
    /// `None`: the event has moved on from its version.
    async fn create_show(
        &self,
        show: &Show,
        event: &Versioned<Event>,
        request: Option<RequestHash>,
        notes: ShowNotes<'_>,
    ) -> Stored<Option<Creation>>;
    async fn show(&self, id: ShowId) -> Stored<Option<Versioned<Show>>>;
    /// Replaces both, with what is noted of it, or nothing; `false`: one of them, or the
    /// price log, has moved on.
    async fn replace_show(
        &self,
        show: &Versioned<Show>,
        event: &Versioned<Event>,
        notes: ShowNotes<'_>,
    ) -> Stored<bool>;

    /// Events that are public, newest first.
    async fn public_events(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<Event>>>;
    async fn events_of(
        &self,
        owner: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<Event>>>;
}

/// What a conditional write on cells answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellsWrite {
    Done,
    /// Nothing was written. These blocks refused, as they were.
    Refused(Found),
}

#[async_trait]
pub trait Blocks: Send + Sync {
    /// Writes `cell` to every wanted place, if each is free or lapsed at `now` and no
    /// block is closed: all or nothing.
    async fn claim(
        &self,
        show: ShowId,
        wanted: &[BlockSlots],
        cell: Cell,
        now: Millis,
    ) -> Stored<CellsWrite>;
    /// Moves every wanted cell from exactly `old` to `new`, if no block is closed: all
    /// or nothing.
    async fn shift(
        &self,
        show: ShowId,
        wanted: &[BlockSlots],
        old: Cell,
        new: Cell,
    ) -> Stored<CellsWrite>;
    /// Frees every wanted place of one block, if each is exactly `old`.
    async fn release(&self, show: ShowId, wanted: &BlockSlots, old: Cell) -> Stored<CellsWrite>;
    /// Leaves `new` in every wanted place of one block, if each is exactly `old`. A closed
    /// block is no obstacle: nothing in it can be claimed.
    async fn leave(
        &self,
        show: ShowId,
        wanted: &BlockSlots,
        old: Cell,
        new: Cell,
    ) -> Stored<CellsWrite>;
    /// The blocks among these that were ever written, by a consistent read if asked.
    async fn read(
        &self,
        show: ShowId,
        blocks: &[BlockIndex],
        consistent: bool,
    ) -> Stored<Vec<(BlockIndex, BlockState)>>;
}

/// What replacing a buyer answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Replaced {
    Done,
    /// The buyer had moved on to this.
    Lost(Buyer),
}

/// What is read before a hold, in one consistent request.
#[derive(Debug, Clone, PartialEq)]
pub struct HoldRead {
    pub session: Option<Session>,
    pub buyer: Buyer,
    pub pass: Option<PassUse>,
    /// None also where it was not asked for.
    pub show: Option<Show>,
}

#[async_trait]
pub trait Buyers: Send + Sync {
    /// A consistent read; a buyer that was never stored has version 0.
    async fn buyer(&self, show: ShowId, account: AccountId) -> Stored<Buyer>;
    /// What an account has of those of these shows where it has anything, by consistent
    /// reads, in any order.
    async fn buyers(&self, account: AccountId, shows: &[ShowId]) -> Stored<Vec<(ShowId, Buyer)>>;
    /// Session and buyer in one consistent request.
    async fn session_and_buyer(
        &self,
        session: SessionId,
        show: ShowId,
        account: AccountId,
    ) -> Stored<(Option<Session>, Buyer)>;
    /// The read of every hold: the same, what is known of the pass it comes with, and the
    /// show itself where it is asked for.
    async fn read_for_hold(
        &self,
        session: SessionId,
        show: ShowId,
        account: AccountId,
        pass: Option<PassId>,
        with_show: bool,
    ) -> Stored<HoldRead>;
    /// Stores `next`, if the stored version is the one before it. A buyer has no time to
    /// live: a show may be put off, and the cap and the ended ids must outlast it.
    async fn replace(&self, show: ShowId, account: AccountId, next: &Buyer) -> Stored<Replaced>;
}

#[async_trait]
pub trait Maps: Send + Sync {
    async fn map(&self, show: ShowId) -> Stored<Option<SeatMap>>;
    /// Stores the map unless a newer one is there.
    async fn put_map(&self, show: ShowId, map: &SeatMap, forget_at: Millis) -> Stored<()>;
    /// Takes the lease to rebuild until `until`; `false`: somebody has it.
    async fn lease_map(&self, show: ShowId, now: Millis, until: Millis) -> Stored<bool>;
}

/// "Look at this hold: its time may be up."
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpireHold {
    pub show_id: ShowId,
    pub account_id: AccountId,
    pub hold_id: HoldId,
}

/// The longest delay a queue takes.
pub const MAX_DELAY_S: u32 = 900;

#[async_trait]
pub trait ExpiryQueue: Send + Sync {
    async fn send(&self, message: &ExpireHold, delay_s: u32) -> Stored<()>;
}

/// The time, from outside.
pub trait Clock: Send + Sync {
    fn now(&self) -> Millis;
}

/// Random bytes, from outside.
pub trait Entropy: Send + Sync {
    fn fill(&self, bytes: &mut [u8]);
}

/// Everything one store offers.
pub trait Store:
    Accounts
    + Sessions
    + Resets
    + Deletions
    + StaffLists
    + Audit
    + Catalogue
    + Blocks
    + Buyers
    + Passes
    + Maps
    + Orders
    + Cancellations
    + Tickets
    + Fans
    + Devices
    + Prices
    + Gates
    + Transfers
    + Returns
    + Mails
    + Mailings
    + SalesBooks
    + Exports
    + IndexWork
    + Waitlists
{
}
impl<T> Store for T where
    T: Accounts
        + Sessions
        + Resets
        + Deletions
        + StaffLists
        + Audit
        + Catalogue
        + Blocks
        + Buyers
        + Passes
        + Maps
        + Orders
        + Cancellations
        + Tickets
        + Fans
        + Devices
        + Prices
        + Gates
        + Transfers
        + Returns
        + Mails
        + Mailings
        + SalesBooks
        + Exports
        + IndexWork
        + Waitlists
{
}
