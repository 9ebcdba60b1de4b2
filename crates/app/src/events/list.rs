//! Lists of events: filters over the store's pages, and cursors that cover every
//! event exactly once.
//!
//! By relevance (the newest first, until there is a search) a list streams through
//! the store's own order. By date it gathers what matches, sorts it, and cuts a page.

use onsale_domain::event::{Event, ShowSummary, status_of};
use onsale_domain::ids::{AccountId, EventId};
use onsale_domain::money::{Cents, Currency, Money};
use onsale_domain::show::{ShowStatus, StoredStatus};
use onsale_domain::time::Millis;
use onsale_domain::venue::Location;

use super::cursor::EventCursor;
use super::visible_shows;
use crate::app::App;
use crate::error::{Error, Result};
use crate::ports::Page;
use crate::venues::invalid;

/// How many events one read of the store returns.
const STORE_PAGE: usize = 100;
/// How many reads one request makes before it answers with what it found, and a
/// cursor to go on.
const PAGES_STREAMED: usize = 20;
/// Sorting by date sees this many events at most, the newest ones.
const PAGES_SORTED: usize = 50;
pub const MAX_RADIUS_KM: f64 = 20_100.0;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EventSort {
    #[default]
    Relevance,
    Date,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Near {
    pub center: Location,
    pub radius_km: f64,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct EventQuery {
    /// Words to look for in title, description, venue and city.
    pub query: Option<String>,
    pub city: Option<String>,
    pub category: Option<String>,
    /// `from`, `to`, `max_price` and `currency` must hold for one and the same show.
    pub from: Option<Millis>,
    pub to: Option<Millis>,
    pub max_price: Option<Cents>,
    pub currency: Option<Currency>,
    pub near: Option<Near>,
    pub sort: EventSort,
    /// Only the viewer's own events, drafts included.
    pub mine: bool,
    pub limit: usize,
    pub cursor: Option<EventCursor>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EventItem {
    pub event: Event,
    /// How many shows the viewer may know of.
    pub shows: usize,
    pub next_show_at: Option<Millis>,
    pub from_price: Option<Money>,
    /// From the clock alone: a list reads no maps, so it never says sold out.
    pub status: ShowStatus,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EventPage {
    pub items: Vec<EventItem>,
    pub next: Option<EventCursor>,
}

impl App {
    pub async fn list_events(
        &self,
        query: &EventQuery,
        viewer: Option<AccountId>,
    ) -> Result<EventPage> {
        let scope = match (query.mine, viewer) {
            (true, None) => return Err(Error::Unauthenticated),
            (true, Some(owner)) => Some(owner),
            (false, _) => None,
        };
        let filter = Filter::new(query, self.now())?;
        match (query.sort, &query.cursor) {
            (EventSort::Relevance, None) => {
                self.newest_events(scope, &filter, query.limit, None, None)
                    .await
            }
            (EventSort::Relevance, Some(EventCursor::Newest { after, seen })) => {
                self.newest_events(scope, &filter, query.limit, after.clone(), *seen)
                    .await
            }
            (EventSort::Date, None) => self.dated_events(scope, &filter, query.limit, None).await,
            (EventSort::Date, Some(EventCursor::Dated { at, id })) => {
                self.dated_events(scope, &filter, query.limit, Some((*at, *id)))
                    .await
            }
            _ => Err(invalid("cursor: it belongs to a list of another order")),
        }
    }

    async fn store_page(
        &self,
        scope: Option<AccountId>,
        after: Option<&str>,
    ) -> Result<Page<Event>> {
        Ok(match scope {
            Some(owner) => self.store.events_of(owner, after, STORE_PAGE).await?,
            None => self.store.public_events(after, STORE_PAGE).await?,
        })
    }

    async fn newest_events(
        &self,
        scope: Option<AccountId>,
        filter: &Filter,
        limit: usize,
        mut after: Option<String>,
        mut seen: Option<EventId>,
    ) -> Result<EventPage> {
        let mut items = Vec::new();
        for _ in 0..PAGES_STREAMED {
            let page = self.store_page(scope, after.as_deref()).await?;
            let last = page.items.last().map(|event| event.id);
            for event in page.items {
                // What came before the cursor was on an earlier page of this list.
                if let Some(passed) = seen {
                    if event.id == passed {
                        seen = None;
                    }
                    continue;
                }
                let id = event.id;
                items.extend(filter.item(event));
                if items.len() == limit {
                    let next = match (Some(id) == last, page.next) {
                        (true, next) => next.map(|next| (Some(next), None)),
                        (false, _) => Some((after, Some(id))),
                    };
                    let next = next.map(|(after, seen)| EventCursor::Newest { after, seen });
                    return Ok(EventPage { items, next });
                }
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(EventPage { items, next: None }),
            }
        }
        Ok(EventPage {
            items,
            next: Some(EventCursor::Newest { after, seen }),
        })
    }

    async fn dated_events(
        &self,
        scope: Option<AccountId>,
        filter: &Filter,
        limit: usize,
        behind: Option<(Millis, EventId)>,
    ) -> Result<EventPage> {
        let mut items = Vec::new();
        let mut after = None;
        for _ in 0..PAGES_SORTED {
            let page = self.store_page(scope, after.as_deref()).await?;
            items.extend(
                page.items
                    .into_iter()
                    .filter_map(|event| filter.item(event)),
            );
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        if after.is_some() {
            tracing::warn!("there are more events than a list by date looks at");
        }
        items.retain(|item| behind.is_none_or(|behind| date_key(item) > behind));
        items.sort_by_key(date_key);
        let more = items.len() > limit;
        items.truncate(limit);
        let last = items.last().filter(|_| more).map(date_key);
        Ok(EventPage {
            items,
            next: last.map(|(at, id)| EventCursor::Dated { at, id }),
        })
    }
}

/// Events without a show to come stand at the end.
fn date_key(item: &EventItem) -> (Millis, EventId) {
    (item.next_show_at.unwrap_or(Millis(u64::MAX)), item.event.id)
}

/// A query made ready to be asked of many events.
struct Filter {
    now: Millis,
    own: bool,
    words: Option<String>,
    city: Option<String>,
    category: Option<String>,
    near: Option<Near>,
    show: Option<ShowFilter>,
}

struct ShowFilter {
    from: Millis,
    to: Millis,
    max_price: Option<Cents>,
    currency: Option<Currency>,
}

impl Filter {
    fn new(query: &EventQuery, now: Millis) -> Result<Self> {
        if let Some(near) = &query.near {
            if !near.center.is_on_earth() {
                return Err(invalid(
                    "near: a latitude of -90 to 90 and a longitude of -180 to 180",
                ));
            }
            if !(near.radius_km > 0.0 && near.radius_km <= MAX_RADIUS_KM) {
                return Err(invalid(format!(
                    "radius_km: above 0, at most {MAX_RADIUS_KM}"
                )));
            }
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
        let lower = |text: &Option<String>| text.as_deref().map(|text| text.trim().to_lowercase());
        Ok(Self {
            now,
            own: query.mine,
            words: lower(&query.query),
            city: lower(&query.city),
            category: lower(&query.category),
            near: query.near,
            show,
        })
    }

    /// The event as an item of the list, if it matches.
    fn item(&self, event: Event) -> Option<EventItem> {
        if !self.matches(&event) {
            return None;
        }
        let statuses = visible_shows(&event, self.own).map(|show| show.status_at(self.now, None));
        Some(EventItem {
            shows: visible_shows(&event, self.own).count(),
            next_show_at: event.next_show(self.now).map(|show| show.starts_at),
            from_price: event.from_price(self.now),
            status: status_of(statuses),
            event,
        })
    }

    fn matches(&self, event: &Event) -> bool {
        let same = |wanted: &Option<String>, text: &str| {
            wanted
                .as_deref()
                .is_none_or(|wanted| text.trim().to_lowercase() == wanted)
        };
        let description = event.description.as_deref().unwrap_or_default();
        let texts = [event.title.as_str(), description, &event.venue, &event.city];
        let words = self.words.as_deref();
        (self.own || event.is_public())
            && same(&self.city, &event.city)
            && same(&self.category, &event.category)
            && words.is_none_or(|words| texts.iter().any(|t| t.to_lowercase().contains(words)))
            && self.near.is_none_or(|near| is_near(event, near))
            && self.show.as_ref().is_none_or(|wanted| {
                visible_shows(event, self.own).any(|show| wanted.matches(show))
            })
    }
}

fn is_near(event: &Event, near: Near) -> bool {
    event
        .location
        .is_some_and(|at| at.distance_km(&near.center) <= near.radius_km)
}

impl ShowFilter {
    fn matches(&self, show: &ShowSummary) -> bool {
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
