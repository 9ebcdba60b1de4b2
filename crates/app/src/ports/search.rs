//! Search, and the index behind it.
//!
//! What is asked and found is in the terms of the catalogue, so any engine can stand
//! behind these traits: one that lives in this process, or a service such as OpenSearch,
//! for which a draft is a bulk request and publishing it a refresh.

use async_trait::async_trait;
use onsale_domain::event::Event;
use onsale_domain::ids::EventId;
use onsale_domain::time::Millis;

use super::{Stored, Versioned};
use crate::events::{EventCursor, EventQuery};

/// How many events there are for one value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FacetCount {
    pub value: String,
    pub count: u64,
}

/// How what was found is spread, the most frequent values first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facets {
    pub cities: Vec<FacetCount>,
    pub categories: Vec<FacetCount>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct SearchPage {
    /// Public events with their public shows; their descriptions may be left out.
    pub events: Vec<Event>,
    /// Where each of them stands in the list.
    pub places: Vec<EventCursor>,
    /// The versions in which the index has the events that it was asked about.
    pub known: Vec<(EventId, u64)>,
    pub next: Option<EventCursor>,
    pub facets: Facets,
}

#[async_trait]
pub trait Search: Send + Sync {
    /// A page of public events. `None`: there is no index to look into. The query was
    /// checked, and its cursor fits its order. `noted` are events that changed a moment
    /// ago: the page says which version of them this very index has.
    async fn search(
        &self,
        query: &EventQuery,
        noted: &[EventId],
        now: Millis,
    ) -> Stored<Option<SearchPage>>;
}

#[async_trait]
pub trait SearchIndex: Send + Sync {
    /// The index as it is published now, to be changed. `None`: there is none that
    /// could be changed, so it has to be built anew.
    async fn open(&self) -> Stored<Option<Box<dyn IndexDraft>>>;
    /// An empty index, to take the place of the one that is published now.
    async fn create(&self) -> Stored<Box<dyn IndexDraft>>;
}

/// A change of the index that nobody sees until it is published.
#[async_trait]
pub trait IndexDraft: Send {
    /// The version of the event that the index knew when the draft was begun.
    fn version_of(&self, event: EventId) -> Stored<Option<u64>>;
    /// Puts the events in, each in place of its older version.
    async fn put(&mut self, events: Vec<Versioned<Event>>) -> Stored<()>;
    /// `false`: another index was published meanwhile, and this draft is void.
    async fn publish(self: Box<Self>) -> Stored<bool>;
}
