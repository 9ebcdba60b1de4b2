//! Links to set a password. Each is listed as open work until it is announced.

use async_trait::async_trait;
use onsale_app::ports::{Resets, Stored, Versioned, Written};
use onsale_domain::ids::ResetId;
use onsale_domain::password_reset::Reset;

use crate::documents::{Document, Listing};
use crate::keys::{self, BY_WORK, Key, OPEN_RESETS};
use crate::lists::{List, named};
use crate::table::DynamoStore;
use onsale_domain::time::Millis;

/// A link that is too old is refused by its time; the item is kept a day longer, because
/// its id must not be used again within its hour.
const KEPT_MS: u64 = 24 * 3_600_000;

impl Document for Reset {
    fn key(&self) -> Key {
        Key::reset(self.id)
    }

    fn listings(&self) -> Vec<Listing> {
        let place = keys::by_time(self.asked, self.id);
        vec![Listing {
            index: BY_WORK,
            place: (!self.announced).then(|| (OPEN_RESETS.to_owned(), place)),
        }]
    }

    fn forget_at(&self) -> Option<Millis> {
        Some(self.expires() + KEPT_MS)
    }
}

#[async_trait]
impl Resets for DynamoStore {
    async fn create_reset(&self, new: &Reset) -> Stored<Written<Reset>> {
        self.create_document(new).await
    }

    async fn reset(&self, id: ResetId) -> Stored<Option<Versioned<Reset>>> {
        self.get_versioned(&Key::reset(id)).await
    }

    async fn replace_reset(&self, next: &Versioned<Reset>) -> Stored<Written<Reset>> {
        self.replace_document(next).await
    }

    async fn open_resets(&self) -> Stored<Vec<ResetId>> {
        let list = List::oldest_first(BY_WORK, OPEN_RESETS);
        named(&self.whole_list(&list).await?, Key::reset_id)
    }
}
