//! Venues, events and shows.

use async_trait::async_trait;
use onsale_app::ports::{Catalogue, Creation, Page, ShowNotes, StoreError, Stored, Versioned};
use onsale_domain::event::Event;
use onsale_domain::ids::{AccountId, EventId, ShowId, VenueId};
use onsale_domain::layout::Layout;
use onsale_domain::request_hash::RequestHash;
use onsale_domain::show::Show;
use onsale_domain::venue::Venue;

use crate::{Items, MemoryStore};

/// The order of lists: newest first.
fn list_key(event: &Event) -> String {
    format!("{:015}#{}", event.created.0, event.id)
}

impl Items {
    fn event_is_at(&self, id: EventId, version: u64) -> bool {
        self.events
            .get(&id)
            .is_some_and(|(stored, _)| stored.version == version)
    }

    fn put_event(&mut self, event: &Versioned<Event>) {
        if let Some((stored, _)) = self.events.get_mut(&event.value.id) {
            *stored = Versioned {
                version: event.version + 1,
                value: event.value.clone(),
            };
            if event.value.is_public() {
                self.unindexed.insert(event.value.id);
            }
        }
    }

    fn may_note(&self, show: ShowId, notes: ShowNotes<'_>) -> bool {
        let stored = self.price_logs.get(&show).map_or(0, |log| log.version);
        notes.prices.is_none_or(|log| log.version == stored)
    }

    fn note_show(&mut self, show: ShowId, notes: ShowNotes<'_>) {
        if let Some(entry) = notes.entry {
            self.note(entry);
        }
        if let Some(log) = notes.prices {
            let next = Versioned {
                version: log.version + 1,
                value: log.value.clone(),
            };
            self.price_logs.insert(show, next);
        }
    }

    fn page(
        &self,
        keep: impl Fn(&Event) -> bool,
        after: Option<&str>,
        limit: usize,
    ) -> Page<Versioned<Event>> {
        let mut keyed: Vec<_> = self
            .events
            .values()
            .map(|(stored, _)| stored)
            .filter(|event| keep(&event.value))
            .map(|event| (list_key(&event.value), event))
            .filter(|(key, _)| after.is_none_or(|after| key.as_str() < after))
            .collect();
        keyed.sort_by(|a, b| b.0.cmp(&a.0));
        let more = keyed.len() > limit;
        keyed.truncate(limit);
        let next = keyed.last().filter(|_| more).map(|(key, _)| key.clone());
        Page {
            items: keyed.into_iter().map(|(_, event)| event.clone()).collect(),
            next,
        }
    }
}

#[async_trait]
impl Catalogue for MemoryStore {
    async fn create_venue(
        &self,
        venue: &Venue,
        layout: &Layout,
        request: Option<RequestHash>,
    ) -> Stored<Creation> {
        let mut items = self.items();
        if let Some((_, _, request)) = items.venues.get(&venue.id) {
            return Ok(Creation::Existing(*request));
        }
        items
            .venues
            .insert(venue.id, (venue.clone(), layout.clone(), request));
        Ok(Creation::New)
    }

    async fn venue(&self, id: VenueId) -> Stored<Option<Venue>> {
        Ok(self
            .items()
            .venues
            .get(&id)
            .map(|(venue, _, _)| venue.clone()))
    }

    async fn layout(&self, id: VenueId) -> Stored<Option<Layout>> {
        Ok(self
            .items()
            .venues
            .get(&id)
            .map(|(_, layout, _)| layout.clone()))
    }

    async fn create_event(&self, event: &Event, request: Option<RequestHash>) -> Stored<Creation> {
        let mut items = self.items();
        if let Some((_, request)) = items.events.get(&event.id) {
            return Ok(Creation::Existing(*request));
        }
        items.events.insert(
            event.id,
            (
                Versioned {
                    version: 1,
                    value: event.clone(),
                },
                request,
            ),
        );
        Ok(Creation::New)
    }

    async fn event(&self, id: EventId) -> Stored<Option<Versioned<Event>>> {
        Ok(self.items().events.get(&id).map(|(event, _)| event.clone()))
    }

    async fn replace_event(&self, event: &Versioned<Event>) -> Stored<bool> {
        let mut items = self.items();
        let current = items.event_is_at(event.value.id, event.version);
        if current {
            items.put_event(event);
        }
        Ok(current)
    }

    async fn create_show(
        &self,
        show: &Show,
        event: &Versioned<Event>,
        request: Option<RequestHash>,
        notes: ShowNotes<'_>,
    ) -> Stored<Option<Creation>> {
        let mut items = self.items();
        if let Some((_, request)) = items.shows.get(&show.id) {
            return Ok(Some(Creation::Existing(*request)));
        }
        if !items.event_is_at(event.value.id, event.version) || !items.may_note(show.id, notes) {
            return Ok(None);
        }
        items.put_event(event);
        items.note_show(show.id, notes);
        items.shows.insert(
            show.id,
            (
                Versioned {
                    version: 1,
                    value: show.clone(),
                },
                request,
            ),
        );
        Ok(Some(Creation::New))
    }

    async fn show(&self, id: ShowId) -> Stored<Option<Versioned<Show>>> {
        let items = self.items();
        let mark = items.waitlist_marks.get(&id).copied().unwrap_or_default();
        Ok(items.shows.get(&id).map(|(show, _)| {
            let mut show = show.clone();
            show.value.waitlist = mark;
            show
        }))
    }

    async fn replace_show(
        &self,
        show: &Versioned<Show>,
        event: &Versioned<Event>,
        notes: ShowNotes<'_>,
    ) -> Stored<bool> {
        let mut items = self.items();
        let event_current = items.event_is_at(event.value.id, event.version);
        let show_current = items
            .shows
            .get(&show.value.id)
            .is_some_and(|(s, _)| s.version == show.version);
        if !(event_current && show_current && items.may_note(show.value.id, notes)) {
            return Ok(false);
        }
        items.put_event(event);
        items.note_show(show.value.id, notes);
        let (stored, _) = items
            .shows
            .get_mut(&show.value.id)
            .ok_or_else(|| StoreError::Corrupt("a show vanished under its lock".into()))?;
        *stored = Versioned {
            version: show.version + 1,
            value: show.value.clone(),
        };
        Ok(true)
    }

    async fn public_events(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<Event>>> {
        Ok(self.items().page(Event::is_public, after, limit))
    }

    async fn events_of(
        &self,
        owner: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<Event>>> {
        Ok(self
            .items()
            .page(|event| event.owner == owner, after, limit))
    }
}
