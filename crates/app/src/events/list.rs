//! Lists of events: by the search index where there is one, else by filters over the
//! store's pages; with cursors that cover every event exactly once.
//!
//! In the table, a list by relevance (the newest first) streams through the store's own
//! order. By date or distance it gathers what matches, sorts it, and cuts a page. An
//! organiser's own list always comes from the table: it has drafts, and shows a change
//! at once.

use std::sync::atomic::{AtomicU64, Ordering};

use onsale_domain::event::Event;
use onsale_domain::ids::{AccountId, EventId};
use onsale_domain::money::{Cents, Currency, Money};
use onsale_domain::show::ShowStatus;
use onsale_domain::time::Millis;

use super::cursor::EventCursor;
use super::filter::{EventFilter, Near};
use crate::app::App;
use crate::error::{Error, Result};
use crate::ports::{Facets, Page, SearchPage, Versioned};
use crate::venues::invalid;

/// How many events one read of the store returns.
const STORE_PAGE: usize = 100;
/// How many reads one request makes before it answers with what it found, and a
/// cursor to go on.
const PAGES_STREAMED: usize = 20;
/// Sorting sees this many events at most, the newest ones.
const PAGES_SORTED: usize = 50;
/// Events that changed a moment ago and are looked at beside the index.
const NOTED_EVENTS: usize = 32;
/// How often it is logged that lists go without the index.
const COMPLAIN_EVERY_MS: u64 = 60_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EventSort {
    #[default]
    Relevance,
    Date,
    /// From the point of `near`.
    Distance,
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
    /// A list reads no maps: sold out is what the event says of its shows.
    pub status: ShowStatus,
}

#[derive(Debug, Clone, PartialEq)]
pub struct EventPage {
    pub items: Vec<EventItem>,
    pub next: Option<EventCursor>,
    /// Only the index counts them.
    pub facets: Option<Facets>,
}

impl App {
    #[tracing::instrument(level = "debug", skip_all)]
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
        let filter = EventFilter::new(query, self.now())?;
        if query.cursor.as_ref().is_some_and(|c| !c.fits(query.sort)) {
            return Err(invalid("cursor: it belongs to a list of another order"));
        }
        let in_table = matches!(query.cursor, Some(EventCursor::Newest { .. }));
        if !query.mine
            && !in_table
            && let Some(page) = self.searched_events(query, &filter).await
        {
            return Ok(page);
        }
        match &query.cursor {
            None if query.sort == EventSort::Relevance => {
                self.newest_events(scope, &filter, query.limit, None, None)
                    .await
            }
            Some(EventCursor::Newest { after, seen }) => {
                self.newest_events(scope, &filter, query.limit, after.clone(), *seen)
                    .await
            }
            // The index that ranked the pages before is gone, for now.
            Some(EventCursor::Ranked { .. }) => Err(Error::Unavailable),
            None => self.sorted_events(scope, &filter, query, None).await,
            Some(EventCursor::Dated { at, id }) => {
                let behind = Some((at.0, *id));
                self.sorted_events(scope, &filter, query, behind).await
            }
            Some(EventCursor::Distant { metres, id }) => {
                let behind = Some((*metres, *id));
                self.sorted_events(scope, &filter, query, behind).await
            }
        }
    }

    /// What the index says. Without it, or when it fails, the table answers.
    async fn searched_events(&self, query: &EventQuery, filter: &EventFilter) -> Option<EventPage> {
        let noted = self.noted_events().await;
        let ids: Vec<_> = noted.iter().map(|event| event.value.id).collect();
        // However many of what the index finds are shown from the table instead, a page is
        // filled.
        let wider = EventQuery {
            limit: query.limit + noted.len(),
            ..query.clone()
        };
        let why = match self.search.search(&wider, &ids, filter.now).await {
            Ok(Some(found)) => return Some(merged(query, filter, noted, found)),
            Ok(None) => "there is none".to_owned(),
            Err(error) => error.to_string(),
        };
        static LAST: AtomicU64 = AtomicU64::new(0);
        let last = LAST.load(Ordering::Relaxed);
        if filter.now.0.saturating_sub(last) >= COMPLAIN_EVERY_MS {
            LAST.store(filter.now.0, Ordering::Relaxed);
            tracing::warn!(why, "lists of events go without the search index");
        }
        None
    }

    /// Public events that changed a moment ago, so that the index may not have them as
    /// they are. A list shows those from the table: whoever publishes a show sees it in
    /// the next list.
    async fn noted_events(&self) -> Vec<Versioned<Event>> {
        match self.store.noted_events(NOTED_EVENTS).await {
            Ok(noted) => noted,
            Err(error) => {
                tracing::warn!(%error, "a list may lack what changed a moment ago");
                Vec::new()
            }
        }
    }

    async fn store_page(
        &self,
        scope: Option<AccountId>,
        after: Option<&str>,
    ) -> Result<Page<Versioned<Event>>> {
        Ok(match scope {
            Some(owner) => self.store.events_of(owner, after, STORE_PAGE).await?,
            None => self.store.public_events(after, STORE_PAGE).await?,
        })
    }

    async fn newest_events(
        &self,
        scope: Option<AccountId>,
        filter: &EventFilter,
        limit: usize,
        mut after: Option<String>,
        mut seen: Option<EventId>,
    ) -> Result<EventPage> {
        let mut items = Vec::new();
        for _ in 0..PAGES_STREAMED {
            let page = self.store_page(scope, after.as_deref()).await?;
            let last = page.items.last().map(|event| event.value.id);
            for Versioned { value: event, .. } in page.items {
                // What came before the cursor was on an earlier page of this list.
                if let Some(passed) = seen {
                    if event.id == passed {
                        seen = None;
                    }
                    continue;
                }
                let id = event.id;
                if filter.matches(&event) {
                    items.push(filter.item(event));
                }
                if items.len() == limit {
                    let next = match (Some(id) == last, page.next) {
                        (true, next) => next.map(|next| (Some(next), None)),
                        (false, _) => Some((after, Some(id))),
                    };
                    let next = next.map(|(after, seen)| EventCursor::Newest { after, seen });
                    return Ok(EventPage::of(items, next));
                }
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(EventPage::of(items, None)),
            }
        }
        let next = EventCursor::Newest { after, seen };
        Ok(EventPage::of(items, Some(next)))
    }

    async fn sorted_events(
        &self,
        scope: Option<AccountId>,
        filter: &EventFilter,
        query: &EventQuery,
        behind: Option<(u64, EventId)>,
    ) -> Result<EventPage> {
        let place = |item: &EventItem| filter.place(query.sort, item);
        let mut items = Vec::new();
        let mut after = None;
        for _ in 0..PAGES_SORTED {
            let page = self.store_page(scope, after.as_deref()).await?;
            let events = page.items.into_iter().map(|event| event.value);
            let matching = events.filter(|event| filter.matches(event));
            items.extend(matching.map(|event| filter.item(event)));
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        if after.is_some() {
            tracing::warn!("there are more events than a sorted list of the table looks at");
        }
        items.retain(|item| behind.is_none_or(|behind| place(item) > behind));
        items.sort_by_key(place);
        let more = items.len() > query.limit;
        items.truncate(query.limit);
        let next = items.last().filter(|_| more).map(|last| {
            let (at, id) = place(last);
            match query.sort {
                EventSort::Distance => EventCursor::Distant { metres: at, id },
                EventSort::Date | EventSort::Relevance => EventCursor::Dated { at: Millis(at), id },
            }
        });
        Ok(EventPage::of(items, next))
    }
}

/// One page of what the index found and of what it does not have as it is, each event at
/// its own place in the order of the list.
fn merged(
    query: &EventQuery,
    filter: &EventFilter,
    noted: Vec<Versioned<Event>>,
    found: SearchPage,
) -> EventPage {
    let has = |event: &Versioned<Event>| found.known.contains(&(event.value.id, event.version));
    let fresh: Vec<_> = noted.into_iter().filter(|event| !has(event)).collect();
    let is_fresh = |event: &Event| fresh.iter().any(|fresh| fresh.value.id == event.id);
    let mut placed: Vec<_> = found.places.into_iter().zip(found.events).collect();
    placed.retain(|(_, event)| !is_fresh(event));
    let mut placed: Vec<_> = placed
        .into_iter()
        .map(|(cursor, event)| (cursor, filter.item(event)))
        .collect();
    let behind = query.cursor.as_ref().and_then(EventCursor::place);
    // What stands behind the last one that was found belongs to a later page.
    let end = found.next.as_ref().and_then(EventCursor::place);
    for event in fresh.iter().filter(|event| filter.matches(&event.value)) {
        let item = filter.item(event.value.clone());
        let cursor = EventCursor::of(query, filter, &item);
        let place = cursor.place();
        if place > behind && (end.is_none() || place < end) {
            placed.push((cursor, item));
        }
    }
    placed.sort_by_key(|(cursor, _)| cursor.place());
    let more = found.next.is_some() || placed.len() > query.limit;
    placed.truncate(query.limit);
    let last = placed.last().filter(|_| more);
    EventPage {
        next: last.map(|(cursor, _)| cursor.clone()),
        items: placed.into_iter().map(|(_, item)| item).collect(),
        facets: Some(found.facets),
    }
}

impl EventPage {
    fn of(items: Vec<EventItem>, next: Option<EventCursor>) -> Self {
        Self {
            items,
            next,
            facets: None,
        }
    }
}
