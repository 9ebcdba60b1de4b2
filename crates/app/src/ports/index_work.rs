//! What the search index still lacks.

use async_trait::async_trait;
use onsale_domain::event::Event;
use onsale_domain::ids::EventId;
use onsale_domain::time::Millis;

use super::{Stored, Versioned};

/// Every write of a public event also notes that the index has to follow it; whoever
/// has indexed the event takes the note away. So nothing is forgotten when a process
/// dies between the write and its announcement.
#[async_trait]
pub trait IndexWork: Send + Sync {
    /// Events that changed since they were last indexed, at most `limit` of them. The
    /// list may lag behind by a moment.
    async fn unindexed_events(&self, limit: usize) -> Stored<Vec<EventId>>;
    /// Those of them that were created last, as they are, at most `limit` of them.
    async fn noted_events(&self, limit: usize) -> Stored<Vec<Versioned<Event>>>;
    /// Takes the note away, unless the event has moved on from this version.
    async fn mark_indexed(&self, event: EventId, version: u64) -> Stored<()>;
    /// Takes or renews the lease to build the index anew; `false`: somebody else has it.
    async fn lease_rebuild(&self, holder: [u8; 16], now: Millis, until: Millis) -> Stored<bool>;
}
