//! The index as its users meet it: written by drafts, read by searches, through
//! snapshots in an object storage in memory.

#![allow(clippy::unwrap_used)]

mod arriving;
mod filters;
mod languages;
mod lists;
mod snapshots;

use std::sync::Arc;

use onsale_app::events::EventQuery;
use onsale_app::ports::{Objects, Search, SearchIndex, SearchPage, Versioned};
use onsale_domain::event::{Event, ShowSummary};
use onsale_domain::ids::{AccountId, EventId, ShowId, VenueId};
use onsale_domain::money::{Cents, Currency, Money};
use onsale_domain::show::StoredStatus;
use onsale_domain::time::Millis;
use onsale_search::{SnapshotIndex, SnapshotSearch};
use onsale_test_support::{Faults, ManualClock, MemoryObjects};

pub(crate) const NOW: Millis = Millis(1_800_000_000_000);
pub(crate) const DAY: u64 = 24 * 3_600_000;

/// An object storage, a folder for copies, and a clock.
pub(crate) struct Place {
    pub objects: Arc<MemoryObjects>,
    pub faults: Arc<Faults>,
    pub clock: Arc<ManualClock>,
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let (faults, clock) = (Arc::new(Faults::default()), Arc::new(ManualClock::new(NOW)));
        Self {
            objects: Arc::new(MemoryObjects::new(clock.clone(), faults.clone())),
            faults,
            clock,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    /// A writer, as another process would be one.
    pub(crate) fn writer(&self, name: &str) -> SnapshotIndex {
        let objects: Arc<dyn Objects> = self.objects.clone();
        SnapshotIndex::new(objects, self.clock.clone(), self.folder.path().join(name)).unwrap()
    }

    pub(crate) fn reader(&self, name: &str) -> SnapshotSearch {
        SnapshotSearch::new(self.objects.clone(), self.folder.path().join(name)).unwrap()
    }

    /// Publishes an index of just these events.
    pub(crate) async fn build(&self, events: &[Event]) {
        let mut draft = self.writer("build").create().await.unwrap();
        draft
            .put(events.iter().map(first_version).collect())
            .await
            .unwrap();
        assert!(draft.publish().await.unwrap());
    }
}

pub(crate) fn first_version(event: &Event) -> Versioned<Event> {
    Versioned {
        version: 1,
        value: event.clone(),
    }
}

pub(crate) fn show(n: u8, starts_at: Millis, price: u64) -> ShowSummary {
    ShowSummary {
        id: ShowId::from_bytes([n; 16]),
        starts_at,
        on_sale_at: None,
        from_price: Money {
            amount: Cents(price),
            currency: Currency::parse("EUR").unwrap(),
        },
        status: StoredStatus::OnSale,
        sold_out: false,
    }
}

pub(crate) fn event(n: u16, title: &str) -> Event {
    let mut id = [7; 16];
    id[..2].copy_from_slice(&n.to_be_bytes());
    Event {
        id: EventId::from_bytes(id),
        owner: AccountId::from_bytes([1; 16]),
        title: title.to_owned(),
        description: None,
        category: "music".to_owned(),
        venue_id: VenueId::from_bytes([2; 16]),
        venue: "Great Hall".to_owned(),
        city: "Berlin".to_owned(),
        location: None,
        timezone: None,
        poster_url: None,
        shows: vec![show(1, NOW + 7 * DAY, 4_500)],
        created: Millis(NOW.0 - u64::from(n)),
    }
}

pub(crate) fn asking(words: &str) -> EventQuery {
    EventQuery {
        query: Some(words.to_owned()),
        limit: 20,
        ..EventQuery::default()
    }
}

pub(crate) async fn ask(search: &SnapshotSearch, query: &EventQuery) -> SearchPage {
    search.search(query, &[], NOW).await.unwrap().unwrap()
}

pub(crate) async fn titles(search: &SnapshotSearch, words: &str) -> Vec<String> {
    let page = ask(search, &asking(words)).await;
    page.events.into_iter().map(|event| event.title).collect()
}
