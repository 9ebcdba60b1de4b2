//! Staff: the organiser they work for, and at which shows.

use onsale_domain::ids::AccountId;
use onsale_domain::staff::Staff;
use onsale_table::Index;

use crate::documents::Document;
use crate::error::Stored;
use crate::indexes::BY_BUYER;
use crate::lists::{List, Page, Place, Sorted, by_time};
use crate::store::Store;

impl Document for Staff {
    const KIND: &'static str = "STF";
    const INDEXES: &'static [Index] = &[BY_BUYER];
    type Id = AccountId;

    fn id(&self) -> AccountId {
        self.account
    }

    fn lists(&self) -> Vec<Place> {
        let list = List::StaffOf(self.organiser);
        vec![list.at(by_time(self.added, self.account))]
    }
}

impl Store {
    /// The staff of an organiser, oldest first.
    pub async fn staff_of(
        &self,
        organiser: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Staff>> {
        let list = List::StaffOf(organiser);
        let page = self.list(&list, Sorted::OldestFirst, after, limit);
        Ok(page.await?.values())
    }
}
