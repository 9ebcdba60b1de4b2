//! The map of a show, rebuilt at most once a second however many ask.
//!
//! Whoever finds the stored map old takes a short lease and rebuilds it from the
//! blocks; everybody else serves the old one. Inside one process a single request at
//! a time looks after a show's map.
//!
//! What claims of this process find out before the next map is kept beside it, for those
//! who choose places. A map that is shown stays as it was read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use onsale_domain::block::{BlockIndex, BlockState};
use onsale_domain::claim::Found;
use onsale_domain::ids::{HoldId, ShowId};
use onsale_domain::layout::{Layout, PlaceIndex};
use onsale_domain::map::{FRESH_MS, SeatMap};
use onsale_domain::map_news::MapNews;
use onsale_domain::show::Show;
use onsale_domain::time::Millis;

use crate::app::App;
use crate::cache::Cache;
use crate::error::Result;
use crate::ports::Reads;

/// A map older than this is not served while a rebuild is under way: the caller waits
/// for the rebuild instead. It happens when nobody has asked for a while.
const TOO_OLD_MS: u64 = 3_000;
pub(crate) const MAPS_KEPT: usize = 256;
/// How long a caller waits for the rebuild of another process before it serves what
/// there is: ten looks, one in a tenth of a second.
const LOOKS: u32 = 10;
const LOOK_EVERY_MS: u64 = 100;

pub(crate) type MapSlots = Cache<ShowId, Arc<MapSlot>>;

#[derive(Default)]
pub(crate) struct MapSlot {
    latest: Mutex<Option<Arc<SeatMap>>>,
    news: Mutex<MapNews>,
    refreshing: tokio::sync::Mutex<()>,
    exact: tokio::sync::Mutex<Option<ExactReading>>,
}

/// A consistent reading of some blocks, and when it began.
struct ExactReading {
    began: Millis,
    blocks: Vec<BlockIndex>,
    found: Arc<Found>,
}

impl MapSlot {
    fn latest(&self) -> Option<Arc<SeatMap>> {
        self.latest
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn news(&self) -> MutexGuard<'_, MapNews> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, map: SeatMap) -> Arc<SeatMap> {
        self.news().forget_before(map.version);
        let map = Arc::new(map);
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        if latest
            .as_ref()
            .is_none_or(|known| known.version <= map.version)
        {
            *latest = Some(map.clone());
        }
        map
    }
}

/// A map from the future was written by a clock ahead of ours; it is not trusted to be
/// fresh for as long as the clocks disagree.
fn is_younger(map: &SeatMap, now: Millis, ms: u64) -> bool {
    map.version <= now + FRESH_MS && now - map.version < ms
}

impl App {
    /// The map of this show, about a second old at most while anybody asks.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn seat_map(&self, show: &Show, layout: &Layout) -> Result<Arc<SeatMap>> {
        let slot = self.maps.get_or_put(show.id, Arc::default);
        let known = slot.latest();
        if let Some(map) = &known
            && is_younger(map, self.now(), FRESH_MS)
        {
            return Ok(map.clone());
        }
        let _refreshing = match (slot.refreshing.try_lock(), known) {
            (Ok(guard), _) => guard,
            (Err(_), Some(map)) if is_younger(&map, self.now(), TOO_OLD_MS) => return Ok(map),
            (Err(_), _) => slot.refreshing.lock().await,
        };
        if let Some(map) = slot.latest()
            && is_younger(&map, self.now(), FRESH_MS)
        {
            return Ok(map);
        }
        let map = self.refreshed_map(show, layout).await?;
        Ok(slot.keep(map))
    }

    async fn refreshed_map(&self, show: &Show, layout: &Layout) -> Result<SeatMap> {
        let mut stored = self.store.map(show.id).await?;
        for _ in 0..LOOKS {
            let now = self.now();
            if let Some(map) = stored.take_if(|map| is_younger(map, now, FRESH_MS)) {
                return Ok(map);
            }
            let leased = self.store.lease_map(show.id, now, now + FRESH_MS).await;
            // A store that cannot be written can still be read. The lease only saves
            // work between processes, so a reader goes on without it.
            let leased = leased.unwrap_or_else(|error| {
                tracing::warn!(show = %show.id, %error, "no lease on the map");
                true
            });
            if leased {
                return self.rebuild_map(show, layout).await;
            }
            if let Some(map) = stored.take_if(|map| is_younger(map, now, TOO_OLD_MS)) {
                return Ok(map);
            }
            self.clock.pause(LOOK_EVERY_MS).await;
            stored = self.store.map(show.id).await?;
        }
        match stored {
            Some(map) => Ok(map),
            None => self.rebuild_map(show, layout).await,
        }
    }

    /// Reads every block and writes the map. The version is the time before the read,
    /// so that whatever changed meanwhile is in the next one.
    async fn rebuild_map(&self, show: &Show, layout: &Layout) -> Result<SeatMap> {
        let now = self.now();
        let all: Vec<_> = (0..layout.blocks().len() as u32).map(BlockIndex).collect();
        let blocks = self
            .store
            .read_blocks(show.id, &all, Reads::Eventual)
            .await?;
        let seen = SeatMap::build(layout, by_reference(&blocks), show.claim_clock(now));
        let map = SeatMap {
            version: now,
            ..seen
        };
        metrics::counter!("onsale_map_rebuilds_total").increment(1);
        metrics::gauge!("onsale_seats_available", "show" => show.id.to_string())
            .set(f64::from(map.counts().free));
        // The map is a view of the blocks. Failing to store it costs the next caller a
        // rebuild and this one nothing.
        if let Err(error) = self.store.put_map(show.id, &map, show.forgotten_at()).await {
            tracing::warn!(show = %show.id, %error, "the map could not be stored");
        }
        Ok(map)
    }

    /// Lets those who choose in this process hear what a claim found out. While nobody
    /// chooses there is no map to correct, and nothing is kept.
    pub(crate) fn tell_map(&self, show: ShowId, tell: impl FnOnce(&mut MapNews)) {
        let Some(slot) = self.maps.get(&show) else {
            return;
        };
        if slot
            .latest()
            .is_some_and(|map| is_younger(&map, self.now(), TOO_OLD_MS))
        {
            tell(&mut slot.news());
        }
    }

    /// Lets those who choose in this process know that somebody was too late.
    pub(crate) fn tell_conflict(&self, show: ShowId) {
        let now = self.now();
        self.tell_map(show, |news| news.tell_conflict(now));
    }

    /// What this hold is known to have taken since the map was read.
    pub(crate) fn known_places_of(&self, show: ShowId, hold: HoldId) -> Vec<PlaceIndex> {
        let slot = self.maps.get(&show);
        slot.map_or_else(Vec::new, |slot| slot.news().held_by(hold))
    }

    /// When somebody in this process was last too late.
    pub(crate) fn last_conflict(&self, show: ShowId) -> Option<Millis> {
        self.maps.get(&show)?.news().last_conflict()
    }

    /// Takes off this map what claims have told since. `mine` is the hold that chooses.
    pub(crate) fn hear_news(
        &self,
        show: ShowId,
        map: &mut Arc<SeatMap>,
        since: Millis,
        mine: HoldId,
    ) {
        let Some(slot) = self.maps.get(&show) else {
            return;
        };
        let news = slot.news();
        if !news.is_empty() {
            news.correct(Arc::make_mut(map), since, mine);
        }
    }

    /// The exact state of some blocks. One reading serves everybody who asked before it
    /// began, so that a crowd before a sold-out floor does not read all of it once a head.
    pub(crate) async fn exact_blocks(
        &self,
        show: &Show,
        blocks: &[BlockIndex],
    ) -> Result<Arc<Found>> {
        let asked = self.now();
        let slot = self.maps.get_or_put(show.id, Arc::default);
        let mut latest = slot.exact.lock().await;
        if let Some(reading) = latest.as_ref()
            && reading.began > asked
            && reading.blocks == blocks
        {
            return Ok(reading.found.clone());
        }
        let began = self.now();
        let read = self
            .store
            .read_blocks(show.id, blocks, Reads::Consistent)
            .await?;
        let mut read: HashMap<_, _> = read.into_iter().collect();
        // A block that nobody ever claimed is not stored, and free.
        let found = |block: &BlockIndex| (*block, read.remove(block).unwrap_or_default());
        let found: Arc<Found> = Arc::new(blocks.iter().map(found).collect());
        *latest = Some(ExactReading {
            began,
            blocks: blocks.to_vec(),
            found: found.clone(),
        });
        Ok(found)
    }
}

fn by_reference(
    blocks: &[(BlockIndex, BlockState)],
) -> impl Iterator<Item = (BlockIndex, &BlockState)> {
    blocks.iter().map(|(index, state)| (*index, state))
}
