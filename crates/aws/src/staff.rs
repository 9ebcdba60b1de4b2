//! Staff: whose they are, and where.

use async_trait::async_trait;
use onsale_app::ports::{Page, StaffLists, Stored, Versioned, Written};
use onsale_domain::ids::AccountId;
use onsale_domain::staff::Staff;

use crate::attributes::get_json;
use crate::documents::{Document, Listing};
use crate::keys::{self, BY_BUYER, Key};
use crate::lists::List;
use crate::table::DynamoStore;

impl Document for Staff {
    fn key(&self) -> Key {
        Key::staff(self.account)
    }

    fn listings(&self) -> Vec<Listing> {
        let place = keys::by_time(self.added, self.account);
        vec![Listing {
            index: BY_BUYER,
            place: Some((keys::staff_of(self.organiser), place)),
        }]
    }
}

#[async_trait]
impl StaffLists for DynamoStore {
    async fn staff(&self, account: AccountId) -> Stored<Option<Versioned<Staff>>> {
        self.get_versioned(&Key::staff(account)).await
    }

    async fn replace_staff(&self, next: &Versioned<Staff>) -> Stored<Written<Staff>> {
        self.replace_document(next).await
    }

    async fn staff_of(
        &self,
        organiser: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Staff>> {
        let list = List::oldest_first(BY_BUYER, keys::staff_of(organiser));
        let page = self
            .list_items(&list, after, limit, keys::listed_staff)
            .await?;
        let staff = page.items.iter().map(|item| get_json(item, "doc"));
        Ok(Page {
            items: staff.collect::<Stored<_>>()?,
            next: page.next,
        })
    }
}
