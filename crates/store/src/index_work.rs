//! What the search index still lacks: a note in a list of open work, written with the event
//! itself, and taken away once the event is indexed. So nothing is forgotten when a process dies
//! between the write and its announcement.

use onsale_domain::event::Event;
use onsale_domain::ids::EventId;
use onsale_domain::time::Millis;
use onsale_table::Update;

use crate::attributes::{FORGET_AT, seconds};
use crate::conditions::{is_at_version, lease_is_free_or_mine};
use crate::documents::{Versioned, key_of};
use crate::error::Stored;
use crate::indexes::BY_WORK;
use crate::keys;
use crate::lists::{List, Sorted};
use crate::store::Store;

impl Store {
    /// Up to `limit` events that changed since they were last indexed. The list may lag behind
    /// by a moment.
    pub async fn unindexed_events(&self, limit: usize) -> Stored<Vec<EventId>> {
        let page = self.page_of_ids::<Event>(&List::UnindexedEvents, None, limit);
        Ok(page.await?.items)
    }

    /// Those of them that were created last, as they are, at most `limit` of them.
    pub async fn noted_events(&self, limit: usize) -> Stored<Vec<Versioned<Event>>> {
        let list = List::UnindexedEvents;
        let page = self.list(&list, Sorted::NewestFirst, None, limit).await?;
        Ok(page.items)
    }

    /// Takes the note away, unless the event has moved on from this version.
    pub async fn mark_indexed(&self, event: EventId, version: u64) -> Stored<()> {
        // The version stays: taking the note away changes nothing of the event.
        let update = Update::when(is_at_version(version))
            .remove(BY_WORK.pk)
            .remove(BY_WORK.sk);
        let key = key_of::<Event>(&event);
        self.update_if(&key, &update).await.map(|_| ())
    }

    /// Takes or renews the lease to build the index anew; `false`: another process has it.
    pub async fn lease_rebuild(
        &self,
        holder: [u8; 16],
        now: Millis,
        until: Millis,
    ) -> Stored<bool> {
        let update = Update::when(lease_is_free_or_mine(now, holder))
            .set("til", until.0)
            .set("hld", holder)
            .set(FORGET_AT, seconds(until + 24 * 3_600_000));
        self.update_if(&keys::index_lease(), &update).await
    }
}
