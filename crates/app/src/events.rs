//! Events: what is on, at which venue. An event becomes public with its first
//! published show; until then only its owner knows of it.

use futures_util::future::{join, join_all};
use futures_util::{StreamExt, stream};
use onsale_domain::account::is_text;
use onsale_domain::audit::{AuditAction, AuditEntry, event_changes};
use onsale_domain::event::{Event, ShowSummary, status_of};
use onsale_domain::ids::{AccountId, EventId, VenueId};
use onsale_domain::mailing::Mailing;
use onsale_domain::map::Counts;
use onsale_domain::poster::is_uploaded;
use onsale_domain::request_hash::{IdempotencyKey, RequestHash};
use onsale_domain::show::{ShowStatus, StoredStatus};
use onsale_domain::time::Millis;
use onsale_domain::venue::Venue;

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::ports::{Versioned, Written};
use crate::venues::{invalid, require_line, require_organiser, settle};

mod cursor;
mod filter;
mod list;

pub use cursor::EventCursor;
pub use filter::{EventFilter, MAX_RADIUS_KM, Near, ShowFilter, facet_key};
pub use list::{EventItem, EventPage, EventQuery, EventSort};

pub const MAX_TITLE_CHARS: usize = 200;
pub const MAX_DESCRIPTION_CHARS: usize = 10_000;
pub const MAX_CATEGORY_CHARS: usize = 50;
pub const MAX_URL_CHARS: usize = 2_000;

/// How often a write is tried again after somebody else's came first. Each time one of them
/// got through, so 64 may change an event at once.
pub(crate) const WRITE_ATTEMPTS: usize = 64;
/// Trails of shows that are written at the same time.
const NOTES_AT_ONCE: usize = 16;
/// How many shows of one event are asked whether they are sold out.
const SHOWS_COUNTED: usize = 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewEvent {
    pub title: String,
    pub description: Option<String>,
    pub category: String,
    pub venue_id: VenueId,
    pub poster_url: Option<String>,
}

/// What to change; an inner `None` takes the text away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EventChange {
    pub title: Option<String>,
    pub description: Option<Option<String>>,
    pub category: Option<String>,
    pub poster_url: Option<Option<String>>,
}

impl EventChange {
    fn apply(&self, event: &mut Event) {
        if let Some(title) = &self.title {
            event.title.clone_from(title);
        }
        if let Some(description) = &self.description {
            event.description.clone_from(description);
        }
        if let Some(category) = &self.category {
            event.category.clone_from(category);
        }
        if let Some(poster_url) = &self.poster_url {
            event.poster_url.clone_from(poster_url);
        }
    }
}

/// A show of an event as one viewer sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventShow {
    pub summary: ShowSummary,
    pub status: ShowStatus,
}

/// An event as one viewer sees it: `shows` are those the viewer may know of.
#[derive(Debug, Clone, PartialEq)]
pub struct EventView {
    pub event: Event,
    /// Where it is; an event is worth showing without.
    pub venue: Option<Venue>,
    pub shows: Vec<EventShow>,
    pub status: ShowStatus,
    pub now: Millis,
}

impl App {
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn create_event(
        &self,
        caller: &Caller,
        new: NewEvent,
        key: Option<&IdempotencyKey>,
        request: RequestHash,
    ) -> Result<EventId> {
        require_organiser(caller)?;
        let venue = self.store.venue(new.venue_id).await?;
        let venue = venue.ok_or(Error::NotFound("venue"))?;
        if venue.owner != caller.account {
            return Err(Error::Forbidden("this venue belongs to another organiser"));
        }
        let now = self.now();
        let id = match key {
            Some(key) => {
                EventId::derived(&[caller.account.as_bytes(), b"event", key.as_str().as_bytes()])
            }
            None => EventId::new(now, self.id_entropy()),
        };
        let event = new_event(id, new, &venue, now);
        check_texts(&event)?;
        let request = key.map(|_| request);
        settle(self.store.create_event(&event, request).await?, request)?;
        Ok(id)
    }

    /// Stores an event, together with the mailing that tells of the change; `false`: the event
    /// has moved on from its version.
    pub(crate) async fn replace_event(
        &self,
        event: &Versioned<Event>,
        mailing: Option<&Mailing>,
    ) -> Result<bool> {
        let Some(mailing) = mailing else {
            let written = self.store.replace(event).await?;
            return Ok(matches!(written, Written::Done(_)));
        };
        let mut together = self.store.together();
        together.replace(event)?.create(mailing)?;
        Ok(self.store.write(&together).await?)
    }

    /// Changes an event and answers with its new state. A write that came in between
    /// is kept: the change is applied again on top of it.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn change_event(
        &self,
        caller: &Caller,
        id: EventId,
        change: &EventChange,
    ) -> Result<EventView> {
        for _ in 0..WRITE_ATTEMPTS {
            let mut stored = self
                .store
                .read::<Event>(id)
                .await?
                .ok_or(Error::NotFound("event"))?;
            require_owner(caller, &stored.value)?;
            let before = stored.value.clone();
            change.apply(&mut stored.value);
            check_texts(&stored.value)?;
            let mailing = self.mailing_of_event(&before, &stored);
            if self.replace_event(&stored, mailing.as_ref()).await? {
                if let Some(mailing) = mailing {
                    self.wake_mailing(mailing.id).await;
                }
                self.note_event_change(caller, &before, &stored).await;
                self.announce_change(&stored).await;
                return Ok(self.event_view(stored.value, true).await);
            }
        }
        Err(Error::Conflict(
            "the event is being changed by others; try again",
        ))
    }

    /// Tells the trails of the shows that are still to come. The change is made by now, and
    /// repeating it would change nothing: what cannot be noted is logged.
    pub(crate) async fn note_event_change(
        &self,
        caller: &Caller,
        before: &Event,
        after: &Versioned<Event>,
    ) {
        let changes = event_changes(before, &after.value);
        if changes.is_empty() {
            return;
        }
        let now = self.now();
        let coming = after.value.shows.iter().filter(|show| show.is_coming(now));
        let notes = coming.map(|show| {
            let (version, changes) = (after.version.to_be_bytes(), changes.clone());
            let action = AuditAction::EventChanged;
            let entry = AuditEntry::new(show.id, caller.account, action, &version, changes, now);
            async move {
                if let Err(error) = self.store.note(&entry).await {
                    tracing::error!(show = %entry.show, %error, "a trail lacks a change of the event");
                }
            }
        });
        let notes: Vec<_> = notes.collect();
        stream::iter(notes)
            .buffer_unordered(NOTES_AT_ONCE)
            .collect::<()>()
            .await;
    }

    /// An event with its shows. Drafts are there for their owner only.
    pub async fn event(&self, id: EventId, viewer: Option<AccountId>) -> Result<EventView> {
        let stored = self
            .store
            .read::<Event>(id)
            .await?
            .ok_or(Error::NotFound("event"))?;
        let event = stored.value;
        let own = viewer == Some(event.owner);
        if !own && !event.is_public() {
            return Err(Error::NotFound("event"));
        }
        Ok(self.event_view(event, own).await)
    }

    async fn event_view(&self, event: Event, own: bool) -> EventView {
        let (now, event_id) = (self.now(), event.id);
        let mut visible: Vec<_> = visible_shows(&event, own).cloned().collect();
        visible.sort_by_key(|show| (show.starts_at, show.id));
        let mut asked = 0;
        let venue = self.store.venue(event.venue_id);
        let shows = join_all(visible.into_iter().map(|summary| {
            let count = summary.is_coming(now) && asked < SHOWS_COUNTED;
            asked += usize::from(count);
            async move {
                let counts = match count {
                    true => self.counts_of(&summary).await,
                    false => None,
                };
                if let Some(counts) = counts
                    && counts.all_sold() != summary.sold_out
                {
                    self.correct_mark(event_id, summary.id, counts.all_sold())
                        .await;
                }
                EventShow {
                    status: summary.status_at(now, counts),
                    summary,
                }
            }
        }));
        let (venue, shows) = join(venue, shows).await;
        let status = status_of(shows.iter().map(|show| show.status));
        EventView {
            event,
            venue: venue.ok().flatten(),
            shows,
            status,
            now,
        }
    }

    /// The counts of one show. An event is worth showing without them.
    async fn counts_of(&self, summary: &ShowSummary) -> Option<Counts> {
        let counts = async {
            let show = self.recent_show(summary.id).await?;
            let layout = self.layout_of(&show).await?;
            let map = self.seat_map(&show, &layout).await?;
            Ok::<_, Error>(map.counts())
        };
        match counts.await {
            Ok(counts) => Some(counts),
            Err(error) => {
                tracing::warn!(show = %summary.id, %error, "an event is shown without counts");
                None
            }
        }
    }
}

fn new_event(id: EventId, new: NewEvent, venue: &Venue, now: Millis) -> Event {
    Event {
        id,
        owner: venue.owner,
        title: new.title,
        description: new.description,
        category: new.category,
        venue_id: venue.id,
        venue: venue.name.clone(),
        city: venue.city.clone(),
        location: venue.location,
        timezone: Some(venue.timezone.clone()),
        poster_url: new.poster_url,
        shows: Vec::new(),
        created: now,
    }
}

pub(crate) fn require_owner(caller: &Caller, event: &Event) -> Result<()> {
    match event.owner == caller.account {
        true => Ok(()),
        false => Err(Error::Forbidden("this event belongs to another organiser")),
    }
}

fn visible_shows(event: &Event, own: bool) -> impl Iterator<Item = &ShowSummary> {
    let visible = move |show: &&ShowSummary| own || show.status != StoredStatus::Draft;
    event.shows.iter().filter(visible)
}

fn check_texts(event: &Event) -> Result<()> {
    require_line("title", &event.title, MAX_TITLE_CHARS)?;
    require_line("category", &event.category, MAX_CATEGORY_CHARS)?;
    let description = event.description.as_deref().unwrap_or_default();
    if !is_text(description, MAX_DESCRIPTION_CHARS) {
        return Err(invalid(format!(
            "description: at most {MAX_DESCRIPTION_CHARS} characters"
        )));
    }
    match event.poster_url.as_deref() {
        Some(url) if !is_web_address(url) && !is_uploaded(event.id, url) => {
            Err(invalid("poster_url: an http or https address"))
        }
        _ => Ok(()),
    }
}

/// Whether others may be told that a picture is there. Anything but a plain web address
/// could be a script, or break out of the attribute it is written to. Our own pages show
/// pictures of their own origin only.
fn is_web_address(url: &str) -> bool {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"));
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !"\"'<>\\`".contains(c);
    url.chars().count() <= MAX_URL_CHARS
        && rest.is_some_and(|rest| {
            !rest.is_empty() && !rest.starts_with('/') && rest.chars().all(plain)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_poster_is_a_plain_web_address() {
        for good in ["https://onsale.example/a.png", "http://[::1]:8787/p?q=1#x"] {
            assert!(is_web_address(good), "{good}");
        }
        for wrong in [
            "",
            "https://",
            "https:///a",
            "javascript:alert(1)",
            "//onsale.example/a.png",
            "https://onsale.example/a b",
            "https://onsale.example/\"onload=x",
            "https://onsale.example/\n",
        ] {
            assert!(!is_web_address(wrong), "{wrong}");
        }
    }
}
