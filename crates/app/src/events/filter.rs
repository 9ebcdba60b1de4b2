//! Which events a list has, as a pure question to one event. The table is filtered by
//! it, and an index must agree with it in everything but the words, which an index
//! reads more kindly.

use onsale_domain::event::{Event, ShowSummary, status_of};
use onsale_domain::ids::EventId;
use onsale_domain::money::{Cents, Currency};
use onsale_domain::show::StoredStatus;
use onsale_domain::time::Millis;
use onsale_domain::venue::Location;

use super::list::{EventItem, EventQuery, EventSort};
use super::visible_shows;
use crate::error::Result;
use crate::venues::invalid;

pub const MAX_RADIUS_KM: f64 = 20_100.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    pub center: Location,
    pub radius_km: f64,
}

impl Near {
    pub fn covers(&self, place: Location) -> bool {
        place.distance_km(&self.center) <= self.radius_km
    }

    /// How far a place is, in whole metres: what lists are sorted by and cursors carry.
    pub fn metres(&self, place: Location) -> u64 {
        (place.distance_km(&self.center) * 1_000.0).round() as u64
    }
}

/// A query made ready to be asked of many events.
#[derive(Debug, Clone, PartialEq)]
pub struct EventFilter {
    pub now: Millis,
    /// The viewer's own events, drafts included.
    pub own: bool,
    pub words: Option<String>,
    pub city: Option<String>,
    pub category: Option<String>,
    pub near: Option<Near>,
    /// What one and the same show must have.
    pub show: Option<ShowFilter>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShowFilter {
    pub from: Millis,
    pub to: Millis,
    pub max_price: Option<Cents>,
    pub currency: Option<Currency>,
}

/// How a city or a category is compared.
pub fn facet_key(text: &str) -> String {
    text.trim().to_lowercase()
}

impl EventFilter {
    pub fn new(query: &EventQuery, now: Millis) -> Result<Self> {
        match &query.near {
            Some(near) if !near.center.is_on_earth() => {
                return Err(invalid(
                    "near: a latitude of -90 to 90 and a longitude of -180 to 180",
                ));
            }
            Some(near) if !(near.radius_km > 0.0 && near.radius_km <= MAX_RADIUS_KM) => {
                return Err(invalid(format!(
                    "radius_km: above 0, at most {MAX_RADIUS_KM}"
                )));
            }
            None if query.sort == EventSort::Distance => {
                return Err(invalid("sort: the distance to what? Give near=lat,lon"));
            }
            _ => {}
        }
        let asks_for_shows = query.from.is_some()
            || query.to.is_some()
            || query.max_price.is_some()
            || query.currency.is_some();
        let show = asks_for_shows.then(|| ShowFilter {
            // Who names no beginning wants to go there, so shows of the past do not count.
            from: query.from.unwrap_or(now),
            to: query.to.unwrap_or(Millis(u64::MAX)),
            max_price: query.max_price,
            currency: query.currency,
        });
        Ok(Self {
            now,
            own: query.mine,
            words: query
                .query
                .as_deref()
                .map(|text| text.trim().to_lowercase()),
            city: query.city.as_deref().map(facet_key),
            category: query.category.as_deref().map(facet_key),
            near: query.near,
            show,
        })
    }

    /// The event as an item of the list, whether it matches or not.
    pub fn item(&self, event: Event) -> EventItem {
        let statuses = visible_shows(&event, self.own).map(|show| show.status_at(self.now, None));
        EventItem {
            shows: visible_shows(&event, self.own).count(),
            next_show_at: event.next_show(self.now).map(|show| show.starts_at),
            from_price: event.from_price(self.now),
            status: status_of(statuses),
            event,
        }
    }

    pub fn matches(&self, event: &Event) -> bool {
        self.matches_words(event) && self.matches_all_but_words(event)
    }

    fn matches_words(&self, event: &Event) -> bool {
        let description = event.description.as_deref().unwrap_or_default();
        let texts = [event.title.as_str(), description, &event.venue, &event.city];
        self.words
            .as_deref()
            .is_none_or(|words| texts.iter().any(|t| t.to_lowercase().contains(words)))
    }

    pub fn matches_all_but_words(&self, event: &Event) -> bool {
        let same = |wanted: &Option<String>, text: &str| {
            wanted
                .as_deref()
                .is_none_or(|wanted| facet_key(text) == wanted)
        };
        (self.own || event.is_public())
            && same(&self.city, &event.city)
            && same(&self.category, &event.category)
            && self
                .near
                .is_none_or(|near| event.location.is_some_and(|at| near.covers(at)))
            && match &self.show {
                Some(wanted) => visible_shows(event, self.own).any(|show| wanted.matches(show)),
                None => self.own || visible_shows(event, false).any(|s| s.starts_at > self.now),
            }
    }

    /// What the list is sorted by, ahead of the id. Events without a show to come stand
    /// at the end of a list by date, those without a place at that of one by distance.
    pub(super) fn place(&self, sort: EventSort, item: &EventItem) -> (u64, EventId) {
        let far = match sort {
            EventSort::Distance => self
                .near
                .zip(item.event.location)
                .map(|(near, at)| near.metres(at)),
            EventSort::Date | EventSort::Relevance => item.next_show_at.map(|at| at.0),
        };
        (far.unwrap_or(u64::MAX), item.event.id)
    }
}

impl ShowFilter {
    pub fn matches(&self, show: &ShowSummary) -> bool {
        show.status != StoredStatus::Cancelled
            && (self.from..=self.to).contains(&show.starts_at)
            && self
                .max_price
                .is_none_or(|max| show.from_price.amount <= max)
            && self
                .currency
                .is_none_or(|currency| show.from_price.currency == currency)
    }
}
