//! What a show's page says of its event and its venue. Many ask, few change it: it is read
//! once for all who ask within a second.

use std::sync::Arc;

use onsale_domain::event::Event;
use onsale_domain::ids::{AccountId, EventId, VenueId};
use onsale_domain::show::Show;
use onsale_domain::venue::Venue;

use crate::app::{App, SHOW_FRESH_MS};
use crate::error::{Error, Result};

/// An event without its shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventCard {
    pub id: EventId,
    pub title: String,
    pub category: String,
    pub description: Option<String>,
    pub poster_url: Option<String>,
}

impl From<Event> for EventCard {
    fn from(event: Event) -> Self {
        Self {
            id: event.id,
            title: event.title,
            category: event.category,
            description: event.description,
            poster_url: event.poster_url,
        }
    }
}

/// What a show is of, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct AboutShow {
    pub event: Arc<EventCard>,
    pub venue: Arc<Venue>,
}

impl App {
    /// The owner of a show sees a change of its event at once.
    pub async fn about_show(&self, show: &Show, viewer: Option<AccountId>) -> Result<AboutShow> {
        let fresh_ms = if viewer == Some(show.owner) {
            0
        } else {
            SHOW_FRESH_MS
        };
        Ok(AboutShow {
            event: self.event_card(show.event_id, fresh_ms).await?,
            venue: self.venue_of(show.venue_id, fresh_ms).await?,
        })
    }

    /// An event as it was at most `fresh_ms` ago.
    pub(crate) async fn event_card(&self, id: EventId, fresh_ms: u64) -> Result<Arc<EventCard>> {
        let now = self.now();
        if let Some((read, card)) = self.event_cards.get(&id)
            && now - read < fresh_ms
        {
            return Ok(card);
        }
        let event = self.store.read::<Event>(id).await?.ok_or(Error::Corrupt)?;
        let card = Arc::new(EventCard::from(event.value));
        self.event_cards.put(id, (now, card.clone()));
        Ok(card)
    }

    async fn venue_of(&self, id: VenueId, fresh_ms: u64) -> Result<Arc<Venue>> {
        let now = self.now();
        if let Some((read, venue)) = self.venues.get(&id)
            && now - read < fresh_ms
        {
            return Ok(venue);
        }
        let venue = Arc::new(self.store.venue(id).await?.ok_or(Error::Corrupt)?);
        self.venues.put(id, (now, venue.clone()));
        Ok(venue)
    }
}
