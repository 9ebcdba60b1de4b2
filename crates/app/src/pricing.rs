//! Prices that follow demand: the points of a show's price log, each made once by whoever
//! first finds the last one old, and the same for every process from then on.
//!
//! A hold keeps the prices it was given and the number of their point, so that they can
//! be explained for good. Fixed prices are points as well, each stored together with the
//! show that begins them; who holds or looks at such a show reads and writes nothing here.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use onsale_domain::ids::ShowId;
use onsale_domain::layout::Layout;
use onsale_domain::money::Cents;
use onsale_domain::pricing::{
    Figures, PriceLog, PricePoint, Pricing, VIEW_MINUTES, fixes_prices, part_of,
};
use onsale_domain::show::Show;
use onsale_domain::time::Millis;

use crate::app::{App, Caller};
use crate::error::{Error, Result};
use crate::holds::ROUNDS;
use crate::ports::{Page, Versioned, Written};
use crate::shows::{ShowChange, ShowView};

/// How old a log may be before it is read again: as old as a show.
const LOG_FRESH_MS: u64 = 1_000;
/// A process writes the views of a show down this often, and only when somebody looks.
const COUNT_EVERY_MS: u64 = 5_000;
/// More shows than this are not counted at the same time.
const SHOWS_COUNTED: usize = 1_024;
const MINUTE_MS: u64 = 60_000;

/// What a place costs right now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentPrices {
    /// In layout order.
    pub sections: Vec<Cents>,
    /// The point of the log that says so; none where prices are fixed.
    pub point: Option<PricePoint>,
}

impl CurrentPrices {
    fn fixed(show: &Show) -> Self {
        Self {
            sections: show.section_prices(),
            point: None,
        }
    }

    fn at(point: &PricePoint) -> Self {
        Self {
            sections: point.figures.prices(),
            point: Some(point.clone()),
        }
    }
}

/// Views that this process has seen and not yet written down.
#[derive(Debug, Default)]
pub(crate) struct Views(Mutex<HashMap<ShowId, Unwritten>>);

#[derive(Debug, Clone, Copy)]
struct Unwritten {
    since: Millis,
    views: u64,
}

impl Views {
    /// Counts one; the answer is what should be written down now.
    fn count(&self, show: ShowId, now: Millis) -> Option<u64> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= SHOWS_COUNTED && !all.contains_key(&show) {
            // Views of a show that nobody looked at since are few, and no demand.
            all.retain(|_, unwritten| now - unwritten.since < MINUTE_MS);
            if all.len() >= SHOWS_COUNTED {
                return None;
            }
        }
        let unwritten = all.entry(show).or_insert(Unwritten {
            since: now,
            views: 0,
        });
        unwritten.views += 1;
        let due = now - unwritten.since >= COUNT_EVERY_MS;
        due.then(|| all.remove(&show).map(|unwritten| unwritten.views))
            .flatten()
    }
}

impl App {
    /// The prices of a show as they are now.
    pub async fn current_prices(&self, show: &Show, layout: &Layout) -> Result<CurrentPrices> {
        if show.pricing == Pricing::Fixed {
            return Ok(CurrentPrices::fixed(show));
        }
        let mut known = self.recent_price_log(show.id).await?;
        let mut show = Cow::Borrowed(show);
        for _ in 0..ROUNDS {
            let latest = known.as_ref().and_then(|log| log.value.latest());
            if latest.is_some_and(PricePoint::is_fixed) {
                // Either prices follow demand since then, or no longer, and the show as this
                // process knows it is old: then no point of it may come after the fixed one.
                let stored = self.store.read::<Show>(show.id).await?;
                show = Cow::Owned(stored.ok_or(Error::NotFound("show"))?.value);
            }
            let Pricing::Dynamic(bounds) = show.pricing else {
                return Ok(CurrentPrices::fixed(&show));
            };
            let now = self.now();
            if let Some(log) = &known
                && log.value.stands(&show, bounds, now)
                && let Some(latest) = log.value.latest()
            {
                return Ok(CurrentPrices::at(latest));
            }
            let minute = now.0 / MINUTE_MS;
            let minutes = minute.saturating_sub(VIEW_MINUTES)..=minute;
            let views = self.store.views(show.id, minutes).await?;
            let map = self.seat_map(&show, layout).await?;
            let figures = Figures::of(&show, bounds, &map, views, now);
            known = Some(
                self.add_price_point(show.id, known.as_deref(), figures)
                    .await?,
            );
        }
        Err(Error::Unavailable)
    }

    /// The log with the fixed prices that begin with this change of a show, to be stored
    /// together with it.
    pub(crate) async fn fixed_prices(
        &self,
        before: Option<&Show>,
        after: &Show,
    ) -> Result<Option<Versioned<PriceLog>>> {
        if !fixes_prices(before, after) {
            return Ok(None);
        }
        let known = match before {
            Some(_) => self.store.price_log(after.id).await?,
            None => None,
        };
        let (version, log) = known.map_or((0, PriceLog::default()), |k| (k.version, k.value));
        let (value, full) = log.with_fixed(after, self.now());
        if let Some(full) = full {
            self.store.keep_price_part(after.id, &full).await?;
        }
        Ok(Some(Versioned { version, value }))
    }

    /// Adds a point to the log as it was read. If somebody else was faster, theirs is the
    /// point of this minute.
    async fn add_price_point(
        &self,
        show: ShowId,
        known: Option<&Versioned<PriceLog>>,
        figures: Figures,
    ) -> Result<Arc<Versioned<PriceLog>>> {
        let (value, full) = match known {
            Some(log) => log.value.with(figures),
            None => (PriceLog::begin(figures), None),
        };
        if let Some(full) = full {
            self.store.keep_price_part(show, &full).await?;
        }
        let version = known.map_or(0, |log| log.version);
        let mut log = Versioned { version, value };
        match self.store.replace_price_log(show, &log).await? {
            Written::Done(version) => log.version = version,
            Written::Lost(theirs) => log = theirs,
        }
        let log = Arc::new(log);
        self.price_logs.put(show, (self.now(), log.clone()));
        Ok(log)
    }

    async fn recent_price_log(&self, show: ShowId) -> Result<Option<Arc<Versioned<PriceLog>>>> {
        let now = self.now();
        if let Some((read, log)) = self.price_logs.get(&show)
            && now - read < LOG_FRESH_MS
        {
            return Ok(Some(log));
        }
        let log = self.store.price_log(show).await?.map(Arc::new);
        if let Some(log) = &log {
            self.price_logs.put(show, (now, log.clone()));
        }
        Ok(log)
    }

    /// One point of the log, however old.
    pub async fn price_point(&self, show: ShowId, sequence: u32) -> Result<PricePoint> {
        let recent = self.recent_price_log(show).await?;
        let newest = recent.as_ref().and_then(|log| log.value.latest());
        if let Some(point) = recent.as_ref().and_then(|log| log.value.point(sequence)) {
            return Ok(point.clone());
        }
        // Another process may have made it within the last second.
        if newest.is_none_or(|newest| newest.sequence < sequence) {
            let log = self.store.price_log(show).await?;
            if let Some(point) = log.and_then(|log| log.value.point(sequence).cloned()) {
                return Ok(point);
            }
        }
        let part = self.store.price_part(show, part_of(sequence)).await?;
        part.and_then(|part| part.point(sequence).cloned())
            .ok_or(Error::Corrupt)
    }

    /// The price log of a show, newest first, with the show it belongs to. `before`: only
    /// points older than this one.
    pub async fn price_history(
        &self,
        id: ShowId,
        before: Option<u32>,
        limit: usize,
    ) -> Result<(Arc<Show>, Page<PricePoint>)> {
        // Reading the log is no look at the show: checking prices must not raise them.
        let (show, _) = self.show_layout(id, None).await?;
        let newest = self.store.price_log(id).await?.map(|log| log.value);
        let newest = newest.unwrap_or_default();
        let end = newest.latest().map_or(0, |p| p.sequence + 1);
        let mut before = before.map_or(end, |before| before.min(end));
        let mut points = Vec::new();
        while points.len() < limit && before > 0 {
            let part = part_of(before - 1);
            let log = match part == newest.part() {
                true => newest.clone(),
                false => {
                    let stored = self.store.price_part(id, part).await?;
                    stored.ok_or(Error::Corrupt)?
                }
            };
            let older = log.points.into_iter().rev();
            let older = older.filter(|p| p.sequence < before);
            points.extend(older.take(limit - points.len()));
            before = points.last().map_or(0, |p: &PricePoint| p.sequence);
        }
        let page = Page {
            items: points,
            next: (before > 0).then(|| before.to_string()),
        };
        Ok((show, page))
    }

    /// Lets the prices of a show follow demand, or not any more.
    #[tracing::instrument(level = "debug", skip_all)]
    pub async fn change_pricing(
        &self,
        caller: &Caller,
        show: ShowId,
        pricing: Pricing,
    ) -> Result<ShowView> {
        let change = ShowChange {
            pricing: Some(pricing),
            ..ShowChange::default()
        };
        self.change_show(caller, show, &change).await
    }

    /// Somebody looked at a show. Only shows whose prices follow demand want to know.
    pub async fn count_view(&self, show: &Show) {
        if show.pricing == Pricing::Fixed {
            return;
        }
        let now = self.now();
        let Some(views) = self.views.count(show.id, now) else {
            return;
        };
        let minute = now.0 / MINUTE_MS;
        if let Err(error) = self.store.add_views(show.id, minute, views).await {
            tracing::warn!(show = %show.id, %error, "views could not be written down");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_that_were_seen_once_do_not_keep_others_from_being_counted() {
        let (views, then) = (Views::default(), Millis(1_800_000_000_000));
        let show = |n: u16| {
            let mut entropy = [0; 16];
            entropy[..2].copy_from_slice(&n.to_be_bytes());
            ShowId::from_bytes(entropy)
        };
        for n in 0..SHOWS_COUNTED as u16 {
            assert_eq!(views.count(show(n), then), None);
        }
        let other = show(SHOWS_COUNTED as u16);
        assert_eq!(views.count(other, then), None);
        assert_eq!(
            views.count(other, then + COUNT_EVERY_MS),
            None,
            "still full"
        );
        let later = then + MINUTE_MS;
        assert_eq!(views.count(other, later), None);
        assert_eq!(views.count(other, later + COUNT_EVERY_MS), Some(2));
    }
}
