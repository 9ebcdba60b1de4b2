//! Venues, events and shows.

use onsale_domain::audit::AuditEntry;
use onsale_domain::event::Event;
use onsale_domain::ids::{AccountId, EventId, ShowId, VenueId};
use onsale_domain::layout::Layout;
use onsale_domain::layout_codec;
use onsale_domain::mailing::Mailing;
use onsale_domain::pricing::PriceLog;
use onsale_domain::request_hash::RequestHash;
use onsale_domain::show::Show;
use onsale_domain::venue::Venue;
use onsale_table::{Index, Item, Write};

use crate::attributes::get_bytes;
use crate::documents::{Creation, Document, Together, Versioned, creation_of, read_item};
use crate::error::{Stored, corrupt};
use crate::indexes::{BY_LIST, BY_OWNER, BY_WORK};
use crate::keys;
use crate::lists::{List, Page, Place, Sorted, by_time};
use crate::store::Store;
use crate::waitlists::mark_of;

/// What is written together with a show, all or nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShowNotes<'a> {
    /// The entry in its audit trail.
    pub entry: Option<&'a AuditEntry>,
    /// The newest part of its price log, if it is still at this version; 0: if there is none.
    pub prices: Option<&'a Versioned<PriceLog>>,
    /// The mailing that tells of the change.
    pub mailing: Option<&'a Mailing>,
}

impl Document for Venue {
    const KIND: &'static str = "VEN";
    type Id = VenueId;

    fn id(&self) -> VenueId {
        self.id
    }
}

impl Document for Event {
    const KIND: &'static str = "EVT";
    const INDEXES: &'static [Index] = &[BY_OWNER, BY_LIST, BY_WORK];
    type Id = EventId;

    fn id(&self) -> EventId {
        self.id
    }

    /// An event enters the public list with its first published show and stays. Every write of a
    /// public event also notes that the search index has to follow.
    fn lists(&self) -> Vec<Place> {
        let at = by_time(self.created, self.id);
        let mut lists = vec![List::EventsOf(self.owner).at(at.clone())];
        if self.is_public() {
            lists.push(List::PublicEvents.at(at.clone()));
            lists.push(List::UnindexedEvents.at(at));
        }
        lists
    }
}

impl Document for Show {
    const KIND: &'static str = "SHW";
    type Id = ShowId;

    fn id(&self) -> ShowId {
        self.id
    }

    fn read_beside(&mut self, item: &Item) -> Stored<()> {
        self.waitlist = mark_of(item)?;
        Ok(())
    }
}

impl Together {
    fn notes(&mut self, show: ShowId, notes: ShowNotes<'_>) -> Stored<&mut Self> {
        if let Some(entry) = notes.entry {
            self.note(entry)?;
        }
        if let Some(log) = notes.prices {
            self.price_log(show, log)?;
        }
        if let Some(mailing) = notes.mailing {
            self.create(mailing)?;
        }
        Ok(self)
    }
}

impl Store {
    pub async fn create_venue(
        &self,
        venue: &Venue,
        layout: &Layout,
        request: Option<RequestHash>,
    ) -> Stored<Creation> {
        let stored = Item::new().with("layout", layout_codec::encode(layout));
        let mut together = self.together();
        together
            .create_requested(venue, request)?
            .push(Write::PutNew(keys::layout(venue.id), stored));
        Ok(match self.try_write(&together).await? {
            Ok(()) => Creation::New,
            Err(refused) => creation_of(&refused).unwrap_or(Creation::Existing(None)),
        })
    }

    /// A venue never changes, so nobody needs its version.
    pub async fn venue(&self, id: VenueId) -> Stored<Option<Venue>> {
        let venue = self.read::<Venue>(id).await?;
        Ok(venue.map(|venue| venue.value))
    }

    pub async fn layout(&self, id: VenueId) -> Stored<Option<Layout>> {
        let Some(item) = self.get(&keys::layout(id)).await? else {
            return Ok(None);
        };
        let layout = layout_codec::decode(get_bytes(&item, "layout")?);
        layout.map(Some).map_err(corrupt)
    }

    pub async fn create_event(
        &self,
        event: &Event,
        request: Option<RequestHash>,
    ) -> Stored<Creation> {
        self.create_requested(event, request).await
    }

    /// Creates the show, its event's new state and what is noted of it, all or nothing. `None`:
    /// the event has moved on from its version.
    pub async fn create_show(
        &self,
        show: &Show,
        event: &Versioned<Event>,
        request: Option<RequestHash>,
        notes: ShowNotes<'_>,
    ) -> Stored<Option<Creation>> {
        let mut together = self.together();
        together
            .create_requested(show, request)?
            .replace(event)?
            .notes(show.id, notes)?;
        Ok(match self.try_write(&together).await? {
            Ok(()) => Some(Creation::New),
            Err(refused) => creation_of(&refused),
        })
    }

    /// Replaces both, with what is noted of it, or nothing; `false`: one of them, or the price
    /// log, has moved on.
    pub async fn replace_show(
        &self,
        show: &Versioned<Show>,
        event: &Versioned<Event>,
        notes: ShowNotes<'_>,
    ) -> Stored<bool> {
        let mut together = self.together();
        together
            .replace(show)?
            .replace(event)?
            .notes(show.value.id, notes)?;
        self.write(&together).await
    }

    /// Events that are public, newest first. The list may lag behind by a moment.
    pub async fn public_events(
        &self,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<Event>>> {
        self.listed_events(&List::PublicEvents, after, limit).await
    }

    /// The events of an organiser, newest first. The list may lag behind by a moment.
    pub async fn events_of(
        &self,
        owner: AccountId,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<Event>>> {
        self.listed_events(&List::EventsOf(owner), after, limit)
            .await
    }

    /// Events as the index has them, which has all of an item.
    async fn listed_events(
        &self,
        list: &List,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<Versioned<Event>>> {
        let page = self.page(list, Sorted::NewestFirst, after, limit).await?;
        page.try_map(|row| read_item(&row.item))
    }
}
