//! What the search index still lacks.

use async_trait::async_trait;
use onsale_app::ports::{IndexWork, Stored, Versioned};
use onsale_domain::event::Event;
use onsale_domain::ids::EventId;
use onsale_domain::time::Millis;

use crate::MemoryStore;

#[async_trait]
impl IndexWork for MemoryStore {
    async fn unindexed_events(&self, limit: usize) -> Stored<Vec<EventId>> {
        let list = async { Ok(self.items().unindexed.iter().take(limit).copied().collect()) };
        self.pass("unindexed_events", list).await
    }

    async fn noted_events(&self, limit: usize) -> Stored<Vec<Versioned<Event>>> {
        let list = async {
            let items = self.items();
            let events = items.unindexed.iter().filter_map(|id| items.events.get(id));
            let mut noted: Vec<_> = events.map(|(event, _)| event.clone()).collect();
            noted.sort_by_key(|event| std::cmp::Reverse((event.value.created, event.value.id)));
            noted.truncate(limit);
            Ok(noted)
        };
        self.pass("noted_events", list).await
    }

    async fn mark_indexed(&self, event: EventId, version: u64) -> Stored<()> {
        let mark = async {
            let mut items = self.items();
            let stored = items.events.get(&event);
            if stored.is_some_and(|(stored, _)| stored.version == version) {
                items.unindexed.remove(&event);
            }
            Ok(())
        };
        self.pass("mark_indexed", mark).await
    }

    async fn lease_rebuild(&self, holder: [u8; 16], now: Millis, until: Millis) -> Stored<bool> {
        let lease = async {
            let mut items = self.items();
            let free = items
                .rebuild_lease
                .is_none_or(|(of, til)| of == holder || til <= now);
            if free {
                items.rebuild_lease = Some((holder, until));
            }
            Ok(free)
        };
        self.pass("lease_rebuild", lease).await
    }
}
