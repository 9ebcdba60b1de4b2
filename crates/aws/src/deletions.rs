//! Accounts that were deleted, and what is left to do of it.

use async_trait::async_trait;
use onsale_app::ports::{Deletions, Stored, Versioned, Written};
use onsale_domain::deletion::Deletion;
use onsale_domain::ids::AccountId;

use crate::documents::{Document, Listing};
use crate::keys::{self, BY_WORK, Key, OPEN_DELETIONS};
use crate::lists::{List, named};
use crate::table::DynamoStore;

impl Document for Deletion {
    fn key(&self) -> Key {
        Key::deletion(self.account)
    }

    fn listings(&self) -> Vec<Listing> {
        let place = keys::by_time(self.began, self.account);
        let open = self.is_open();
        vec![Listing {
            index: BY_WORK,
            place: open.then(|| (OPEN_DELETIONS.to_owned(), place)),
        }]
    }
}

#[async_trait]
impl Deletions for DynamoStore {
    async fn deletion(&self, account: AccountId) -> Stored<Option<Versioned<Deletion>>> {
        self.get_versioned(&Key::deletion(account)).await
    }

    async fn replace_deletion(&self, next: &Versioned<Deletion>) -> Stored<Written<Deletion>> {
        self.replace_document(next).await
    }

    async fn open_deletions(&self) -> Stored<Vec<AccountId>> {
        let list = List::oldest_first(BY_WORK, OPEN_DELETIONS);
        named(&self.whole_list(&list).await?, Key::deleted_account)
    }
}
