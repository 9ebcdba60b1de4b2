//! What the search index still lacks: a note in `gsi4`, written with the event itself.

use async_trait::async_trait;
use onsale_app::ports::{IndexWork, Stored, Versioned};
use onsale_domain::event::Event;
use onsale_domain::ids::EventId;
use onsale_domain::time::Millis;

use crate::attributes::{Item, bytes, number, seconds};
use crate::conditions::{Change, IS_AT_VERSION, LEASE_IS_FREE_OR_MINE};
use crate::documents::versioned;
use crate::keys::{BY_WORK, Key, UNINDEXED_EVENTS};
use crate::lists::{List, named};
use crate::table::DynamoStore;

#[async_trait]
impl IndexWork for DynamoStore {
    async fn unindexed_events(&self, limit: usize) -> Stored<Vec<EventId>> {
        let list = List::oldest_first(BY_WORK, UNINDEXED_EVENTS);
        let page = self.list(&list, None, limit).await?;
        named(&page.items, Key::event_id)
    }

    async fn noted_events(&self, limit: usize) -> Stored<Vec<Versioned<Event>>> {
        let list = List::newest_first(BY_WORK, UNINDEXED_EVENTS);
        let key = |pk: &str| Key::event_id(pk).map(Key::event);
        let page = self.list_items(&list, None, limit, key).await?;
        page.items.iter().map(versioned).collect()
    }

    async fn mark_indexed(&self, event: EventId, version: u64) -> Stored<()> {
        // The version stays: taking the note away changes nothing of the event.
        let change = Change {
            update: format!("REMOVE {}, {}", BY_WORK.pk, BY_WORK.sk),
            condition: Some(IS_AT_VERSION.to_owned()),
            values: Item::from([(":read_version".to_owned(), number(version))]),
        };
        self.update_if(&Key::event(event), change).await.map(|_| ())
    }

    async fn lease_rebuild(&self, holder: [u8; 16], now: Millis, until: Millis) -> Stored<bool> {
        let change = Change {
            update: "SET til = :til, hld = :hld, forget_at = :forget_at".to_owned(),
            condition: Some(LEASE_IS_FREE_OR_MINE.to_owned()),
            values: Item::from([
                (":til".to_owned(), number(until.0)),
                (":hld".to_owned(), bytes(holder)),
                (":now".to_owned(), number(now.0)),
                (":forget_at".to_owned(), seconds(until + 24 * 3_600_000)),
            ]),
        };
        self.update_if(&Key::index_lease(), change).await
    }
}
