//! The application: its ports, its caches, and who is calling.

use std::sync::Arc;

use onsale_domain::account::Role;
use onsale_domain::ids::{AccountId, EventId, IdEntropy, SessionId, ShowId, VenueId};
use onsale_domain::layout::Layout;
use onsale_domain::pricing::PriceLog;
use onsale_domain::show::Show;
use onsale_domain::time::Millis;
use onsale_domain::venue::Venue;

use crate::availability::{MAPS_KEPT, MapSlots};
use crate::cache::Cache;
use crate::error::{Error, Result};
use crate::index_events::NOTES_AT_ONCE;
use crate::ports::{
    Bus, Clock, Entropy, ExpiryQueue, ExportQueue, NotifyQueue, Objects, Payments, SagaQueue,
    Search, SearchIndex, Session, Store, TicketSigner, Versioned, WaitlistQueue,
};
use crate::pricing::Views;
use crate::sales::SalesView;
use crate::shows::EventCard;
use crate::waitlist::LineSlots;

/// Who is calling, as their token says. Whether the session is still open is a read
/// that each use case makes, some of them together with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caller {
    pub account: AccountId,
    pub session: SessionId,
    pub role: Role,
}

impl Caller {
    /// Staff accounts are made by an organiser for their gates, and for nothing else.
    pub(crate) fn check_may_buy(&self) -> Result<()> {
        match self.role {
            Role::Buyer | Role::Organiser => Ok(()),
            Role::Staff => Err(Error::Forbidden(
                "a staff account is for the gates; buy with an account of your own",
            )),
        }
    }
}

/// How old a show may be when a hold is placed on it. Prices and limits follow a
/// change this late; a cancelled show is caught by its closed blocks.
pub(crate) const SHOW_FRESH_MS: u64 = 1_000;
/// 100,000 places take about 3 MB with their look-up tables.
const LAYOUTS_KEPT: usize = 32;
const SHOWS_KEPT: usize = 512;
const SALES_KEPT: usize = 64;
/// Ended sessions, of 16 bytes each.
const SESSIONS_KEPT: usize = 10_000;

/// Everything the application needs from outside. A function that never uses one of
/// them plugs in `Unplugged`.
#[derive(Clone)]
pub struct Ports {
    pub store: Store,
    pub expiry_queue: Arc<dyn ExpiryQueue>,
    pub saga_queue: Arc<dyn SagaQueue>,
    pub notify_queue: Arc<dyn NotifyQueue>,
    pub export_queue: Arc<dyn ExportQueue>,
    pub waitlist_queue: Arc<dyn WaitlistQueue>,
    pub bus: Arc<dyn Bus>,
    pub payments: Arc<dyn Payments>,
    pub ticket_signer: Arc<dyn TicketSigner>,
    pub objects: Arc<dyn Objects>,
    pub search: Arc<dyn Search>,
    pub search_index: Arc<dyn SearchIndex>,
    pub clock: Arc<dyn Clock>,
    pub entropy: Arc<dyn Entropy>,
}

impl std::fmt::Debug for Ports {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ports")
    }
}

/// What was read, and when.
pub(crate) type Dated<T> = (Millis, Arc<T>);

#[derive(Clone)]
pub struct App {
    ports: Ports,
    shows: Arc<Cache<ShowId, Dated<Show>>>,
    layouts: Arc<Cache<(VenueId, u8), Arc<Layout>>>,
    /// Events without their shows, and venues, for those who ask of a show.
    pub(crate) event_cards: Arc<Cache<EventId, Dated<EventCard>>>,
    pub(crate) venues: Arc<Cache<VenueId, Dated<Venue>>>,
    /// In which version the index has an event that is still noted, and since when.
    pub(crate) indexed: Arc<Cache<EventId, (u64, Millis)>>,
    pub(crate) maps: Arc<MapSlots>,
    pub(crate) price_logs: Arc<Cache<ShowId, Dated<Versioned<PriceLog>>>>,
    pub(crate) views: Arc<Views>,
    pub(crate) sales: Arc<Cache<ShowId, Arc<SalesView>>>,
    /// Sessions that were found ended; an ended session stays so.
    ended_sessions: Arc<Cache<SessionId, ()>>,
    /// Which mark of a show agreed with its map, and when.
    pub(crate) sold_out_marks: Arc<Cache<ShowId, (Millis, bool)>>,
    /// When the figures of a room were last stored.
    pub(crate) room_figures: Arc<Cache<ShowId, Millis>>,
    pub(crate) lines: Arc<LineSlots>,
    /// When the pass over a waitlist is due that somebody who joined last asked for.
    pub(crate) joined: Arc<Cache<ShowId, Millis>>,
}

impl std::fmt::Debug for App {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("App")
    }
}

impl std::ops::Deref for App {
    type Target = Ports;

    fn deref(&self) -> &Ports {
        &self.ports
    }
}

impl App {
    pub fn new(ports: Ports) -> Self {
        Self {
            ports,
            shows: Arc::new(Cache::new(SHOWS_KEPT)),
            layouts: Arc::new(Cache::new(LAYOUTS_KEPT)),
            event_cards: Arc::new(Cache::new(SHOWS_KEPT)),
            venues: Arc::new(Cache::new(SHOWS_KEPT)),
            indexed: Arc::new(Cache::new(NOTES_AT_ONCE)),
            maps: Arc::new(Cache::new(MAPS_KEPT)),
            price_logs: Arc::new(Cache::new(SHOWS_KEPT)),
            views: Arc::default(),
            sales: Arc::new(Cache::new(SALES_KEPT)),
            ended_sessions: Arc::new(Cache::new(SESSIONS_KEPT)),
            sold_out_marks: Arc::new(Cache::new(SHOWS_KEPT)),
            room_figures: Arc::new(Cache::new(SHOWS_KEPT)),
            lines: Arc::new(Cache::new(SHOWS_KEPT)),
            joined: Arc::new(Cache::new(SHOWS_KEPT)),
        }
    }

    pub fn now(&self) -> Millis {
        self.clock.now()
    }

    pub(crate) fn id_entropy(&self) -> IdEntropy {
        let mut bytes = IdEntropy::default();
        self.entropy.fill(&mut bytes);
        bytes
    }

    /// Refuses a caller whose session has ended.
    pub async fn check_session(&self, caller: &Caller) -> Result<()> {
        let session = self.store.session(caller.session, caller.account).await?;
        self.require_open(caller, session)
    }

    /// The same for whoever has read the session.
    pub(crate) fn require_open(&self, caller: &Caller, session: Option<Session>) -> Result<()> {
        match session {
            Some(s) if s.account == caller.account && self.now() < s.expires => Ok(()),
            _ => {
                self.ended_sessions.put(caller.session, ());
                Err(Error::Unauthenticated)
            }
        }
    }

    /// Whether this process has seen that the session is over. `false` says nothing.
    pub fn is_known_to_be_over(&self, session: SessionId) -> bool {
        self.ended_sessions.get(&session).is_some()
    }

    /// The show as it was at most a second ago.
    pub(crate) async fn recent_show(&self, id: ShowId) -> Result<Arc<Show>> {
        if let Some(show) = self.known_show(id) {
            return Ok(show);
        }
        let asked = self.now();
        let stored = self
            .store
            .read::<Show>(id)
            .await?
            .ok_or(Error::NotFound("show"))?;
        Ok(self.keep_show(asked, stored.value))
    }

    /// The same, if it needs no reading.
    pub(crate) fn known_show(&self, id: ShowId) -> Option<Arc<Show>> {
        let known = self.shows.get(&id);
        let fresh = known.filter(|(read, _)| self.now() - *read < SHOW_FRESH_MS);
        fresh.map(|(_, show)| show)
    }

    /// A show that was asked for at this time.
    pub(crate) fn keep_show(&self, asked: Millis, show: Show) -> Arc<Show> {
        let show = Arc::new(show);
        self.shows.put(show.id, (asked, show.clone()));
        show
    }

    pub(crate) fn forget_show(&self, id: ShowId) {
        self.shows.remove(&id);
    }

    /// The layout of a show: never changes, so it is read once.
    pub(crate) async fn layout_of(&self, show: &Show) -> Result<Arc<Layout>> {
        let key = (show.venue_id, show.overbook_percent);
        if let Some(layout) = self.layouts.get(&key) {
            return Ok(layout);
        }
        let venue = self
            .store
            .layout(show.venue_id)
            .await?
            .ok_or(Error::Corrupt)?;
        let layout = Arc::new(venue.for_show(show.overbook_percent));
        self.layouts.put(key, layout.clone());
        Ok(layout)
    }
}
