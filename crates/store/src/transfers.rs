//! Transfers: in the list of who sent them, of the address they go to, and of those that were
//! not announced.

use onsale_domain::account::Email;
use onsale_domain::ids::{AccountId, TransferId};
use onsale_domain::room::opaque::EmailHash;
use onsale_domain::transfer::Transfer;
use onsale_table::Index;

use crate::documents::Document;
use crate::error::Stored;
use crate::indexes::{BY_BUYER, BY_OWNER, BY_WORK};
use crate::lists::{List, Page, Place, Sorted, by_time};
use crate::store::Store;

impl Document for Transfer {
    const KIND: &'static str = "TRF";
    const INDEXES: &'static [Index] = &[BY_BUYER, BY_OWNER, BY_WORK];
    type Id = TransferId;

    fn id(&self) -> TransferId {
        self.id
    }

    fn lists(&self) -> Vec<Place> {
        let at = by_time(self.created, self.id);
        let mut lists = vec![List::SentBy(self.from).at(at.clone())];
        let to = self.to.as_ref().map(EmailHash::of);
        lists.extend(to.map(|email| List::OfferedTo(email).at(at.clone())));
        if !self.untold().is_empty() {
            lists.push(List::UntoldTransfers.at(at));
        }
        lists
    }
}

impl Store {
    /// What this account sent and what was offered to this address, newest first.
    pub async fn transfers_of(
        &self,
        account: AccountId,
        email: &Email,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Transfer>> {
        // Both lists have the same order of places, so one place goes on in both.
        let mut all: Vec<(String, Transfer)> = Vec::new();
        let mut more = false;
        for list in [List::SentBy(account), List::OfferedTo(EmailHash::of(email))] {
            let page = self.list::<Transfer>(&list, Sorted::NewestFirst, after, limit);
            let page = page.await?.values();
            more |= page.next.is_some();
            let placed = |transfer: Transfer| (by_time(transfer.created, transfer.id), transfer);
            all.extend(page.items.into_iter().map(placed));
        }
        all.sort_by(|one, other| other.0.cmp(&one.0));
        all.dedup_by(|one, other| one.0 == other.0);
        more |= all.len() > limit;
        all.truncate(limit);
        let last = all.last().map(|(place, _)| place.clone());
        Ok(Page {
            items: all.into_iter().map(|(_, transfer)| transfer).collect(),
            next: last.filter(|_| more),
        })
    }
}
