//! The waitlists of shows, and what sets a pass over one going.

use async_trait::async_trait;
use onsale_domain::ids::{AccountId, ShowId};
use onsale_domain::show::Waitlist;
use onsale_domain::time::Millis;
use onsale_domain::waitlist::{Passes, Waiting, WaitlistEntry};
use serde::{Deserialize, Serialize};

use super::{Page, Stored, Versioned, Written};

#[async_trait]
pub trait Waitlists: Send + Sync {
    /// A consistent read.
    async fn waitlist_entry(
        &self,
        show: ShowId,
        account: AccountId,
    ) -> Stored<Option<Versioned<WaitlistEntry>>>;
    /// Stores the first entry of an account in a show under version 1; `Lost`: it has one.
    async fn create_waitlist_entry(&self, entry: &WaitlistEntry) -> Stored<Written<WaitlistEntry>>;
    /// Replaces the entry of an account if it is still at this version.
    async fn replace_waitlist_entry(
        &self,
        entry: &Versioned<WaitlistEntry>,
    ) -> Stored<Written<WaitlistEntry>>;
    /// The entries of an account, ended or not, newest first. It may lag behind by seconds.
    async fn waitlist_entries_of(
        &self,
        account: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<WaitlistEntry>>>;
    /// Everybody who waits, in the order of the line. It may lag behind by seconds.
    async fn waiting(&self, show: ShowId) -> Stored<Vec<Waiting>>;
    /// The accounts to whom an offer is being made. It may lag behind, too.
    async fn offered(&self, show: ShowId) -> Stored<Vec<AccountId>>;

    /// Moves the mark of a show that says whether anybody waits. `false`: it was not
    /// `from`. The show itself stays at its version.
    async fn mark_waitlist(&self, show: ShowId, from: Waitlist, to: Waitlist) -> Stored<bool>;
    /// Shows whose waitlist is not closed. It may lag behind.
    async fn open_waitlists(&self) -> Stored<Vec<ShowId>>;

    async fn waitlist_passes(&self, show: ShowId) -> Stored<Option<Versioned<Passes>>>;
    /// Stores who looks after a waitlist, if it is still at this version; 0: it is new.
    async fn replace_waitlist_passes(&self, passes: &Versioned<Passes>) -> Stored<bool>;
}

/// "Look at the waitlist of this show: places may have come back."
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfferPlaces {
    pub show_id: ShowId,
    /// When that happened which is to be looked at.
    pub since: Millis,
}

#[async_trait]
pub trait WaitlistQueue: Send + Sync {
    async fn send_offer_places(&self, message: &OfferPlaces, delay_s: u32) -> Stored<()>;
}
