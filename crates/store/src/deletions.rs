//! Accounts that were deleted, and what is left to do of it.

use onsale_domain::deletion::Deletion;
use onsale_domain::ids::AccountId;
use onsale_table::Index;

use crate::documents::Document;
use crate::indexes::BY_WORK;
use crate::lists::{List, Place, by_time};

impl Document for Deletion {
    const KIND: &'static str = "DEL";
    const INDEXES: &'static [Index] = &[BY_WORK];
    type Id = AccountId;

    fn id(&self) -> AccountId {
        self.account
    }

    fn lists(&self) -> Vec<Place> {
        let open = List::OpenDeletions.at(by_time(self.began, self.account));
        self.is_open().then_some(open).into_iter().collect()
    }
}
