//! What this isolate knows about the rooms of shows: bulletins, at most about a second
//! old while anybody asks.
//!
//! A visitor never waits for a controller when a bulletin of the last three seconds is
//! known: they get that one, and a new one is fetched after their answer. With an older one
//! a single visitor waits, and the others get what there is.

use onsale_domain::ids::ShowId;
use onsale_domain::room::draw::Seeds;
use onsale_domain::sorted::sorted;
use onsale_domain::time::Millis;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::answer::Problem;
use crate::edge::Edge;
use crate::host::{Host, Told};
use crate::objects::controller::Bulletin;

const FRESH_MS: u64 = 1_000;
/// By an older one nobody walks in, so it is worth waiting for another.
const STALE_MS: u64 = 3_000;
/// When a fetch has not come back for so long, somebody else tries.
const FETCH_MS: u64 = 3_000;
/// When the controller cannot be reached, this is still better than nothing.
const BETTER_THAN_NOTHING_MS: u64 = 300_000;
/// How long it is believed that a show does not exist.
const MISSING_MS: u64 = 5_000;
const SHOWS_KEPT: usize = 1_024;

/// A room as it was a moment ago, and what follows from our secret for its show.
#[derive(Debug)]
pub struct RoomView {
    pub bulletin: Bulletin,
    pub seeds: Seeds,
}

impl RoomView {
    pub fn opens(&self) -> Option<Millis> {
        self.bulletin.published.opening.opens
    }
}

#[derive(Debug, Clone)]
struct Kept {
    at: Millis,
    /// `None`: there is no such show.
    view: Option<Arc<RoomView>>,
    fetching_since: Option<Millis>,
}

#[derive(Debug, Default)]
pub struct Views(Mutex<HashMap<ShowId, Kept>>);

impl Views {
    fn with<T>(&self, act: impl FnOnce(&mut HashMap<ShowId, Kept>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn keep(&self, show: ShowId, now: Millis, view: Option<RoomView>) -> Option<Arc<RoomView>> {
        let view = view.map(Arc::new);
        self.with(|views| {
            if views.len() >= SHOWS_KEPT && !views.contains_key(&show) {
                make_room(views);
            }
            let kept = Kept {
                at: now,
                view: view.clone(),
                fetching_since: None,
            };
            views.insert(show, kept);
        });
        view
    }

    /// Whether this caller should fetch: one at a time, and another one if the first has
    /// not come back.
    fn begin(&self, show: ShowId, now: Millis) -> bool {
        self.with(|views| match views.get_mut(&show) {
            Some(view) if view.fetching_since.is_none_or(|at| at + FETCH_MS < now) => {
                view.fetching_since = Some(now);
                true
            }
            _ => false,
        })
    }

    fn failed(&self, show: ShowId) {
        self.with(|views| {
            if let Some(view) = views.get_mut(&show) {
                view.fetching_since = None;
            }
        });
    }
}

/// Made-up shows go first, and of real ones the half that was looked at longest ago.
fn make_room(views: &mut HashMap<ShowId, Kept>) {
    views.retain(|_, kept| kept.view.is_some());
    if views.len() >= SHOWS_KEPT {
        let ages = sorted(views.values().map(|kept| kept.at).collect());
        let median = ages[ages.len() / 2];
        views.retain(|_, kept| kept.at > median);
    }
}

impl Edge {
    /// What is known of the room of a show, as of its latest bulletin.
    pub async fn view<H: Host>(
        self: &Arc<Self>,
        host: &H,
        show: ShowId,
    ) -> Result<Arc<RoomView>, Problem> {
        let now = host.now();
        let known = self.views.with(|views| views.get(&show).cloned());
        let Some(known) = known else {
            let fetched = self.fetch(host, show).await;
            return fetched
                .map_err(|_| Problem::unavailable())?
                .ok_or_else(Problem::no_show);
        };
        let age_ms = now - known.at;
        let Some(view) = known.view else {
            if age_ms < MISSING_MS {
                return Err(Problem::no_show());
            }
            let fetched = self.fetch(host, show).await;
            return fetched
                .map_err(|_| Problem::unavailable())?
                .ok_or_else(Problem::no_show);
        };
        if age_ms < FRESH_MS {
            return Ok(view);
        }
        let is_fetching = !self.views.begin(show, now);
        if is_fetching && age_ms < BETTER_THAN_NOTHING_MS {
            return Ok(view);
        }
        let published = &view.bulletin.published;
        // Nobody waited, and whoever comes now should not because of an old bulletin.
        let is_lapsed = published.straight_through && !published.is_straight_through(now);
        if age_ms < STALE_MS && !is_lapsed {
            let (edge, again) = (self.clone(), host.clone());
            host.defer(async move {
                // Whoever failed has said so; the next visitor tries again.
                let _ = edge.fetch(&again, show).await;
            });
            return Ok(view);
        }
        match self.fetch(host, show).await {
            Ok(Some(fetched)) => Ok(fetched),
            Ok(None) => Err(Problem::no_show()),
            Err(_) if age_ms < BETTER_THAN_NOTHING_MS => Ok(view),
            Err(_) => Err(Problem::unavailable()),
        }
    }

    async fn fetch<H: Host>(&self, host: &H, show: ShowId) -> Told<Option<Arc<RoomView>>> {
        match host.bulletin(show).await {
            Ok(bulletin) => {
                let view = bulletin.map(|bulletin| RoomView {
                    bulletin,
                    seeds: self.secrets.room.seeds(show),
                });
                Ok(self.views.keep(show, host.now(), view))
            }
            Err(trouble) => {
                self.views.failed(show);
                host.log(&format!("no bulletin of {show}: {trouble}"));
                Err(trouble)
            }
        }
    }
}
