//! Whether a show is sold out, as lists say it.
//!
//! Lists read no maps: the event carries a mark for each of its shows. Whoever reads the
//! map of a show for somebody compares the two and corrects the mark, so that lists follow
//! as soon as anybody looks; `reconcile` does so for shows that nobody looks at.

use onsale_domain::event::{Event, ShowSummary};
use onsale_domain::ids::{EventId, ShowId};
use onsale_domain::map::SeatMap;
use onsale_domain::show::{Show, ShowStatus};
use onsale_domain::time::Millis;

use crate::app::App;
use crate::error::{Error, Result};
use crate::events::WRITE_ATTEMPTS;

/// How long a mark that agreed with the map is trusted. Another process may have written
/// what an older map said.
const TRUSTED_MS: u64 = 60_000;

impl App {
    /// The mark of this show follows its map. Failing costs freshness only.
    pub async fn follow_sold_out(&self, show: &Show, map: &SeatMap) {
        let (now, sold_out) = (self.now(), map.counts().all_sold());
        let trusted = |(at, mark): (Millis, bool)| mark == sold_out && now - at < TRUSTED_MS;
        let known = self.sold_out_marks.get(&show.id).is_some_and(trusted);
        if !known && show.status_at(now, None) == ShowStatus::OnSale {
            self.correct_mark(show.event_id, show.id, sold_out).await;
        }
    }

    pub(crate) async fn correct_mark(&self, event: EventId, show: ShowId, sold_out: bool) {
        match self.mark_sold_out(event, show, sold_out).await {
            Ok(()) => self.sold_out_marks.put(show, (self.now(), sold_out)),
            Err(error) => tracing::warn!(%show, %error, "lists do not know what is sold out"),
        }
    }

    /// Writes the mark, if it is another one.
    pub(crate) async fn mark_sold_out(
        &self,
        event: EventId,
        show: ShowId,
        sold_out: bool,
    ) -> Result<()> {
        for _ in 0..WRITE_ATTEMPTS {
            let stored = self.store.read::<Event>(event).await?;
            let mut stored = stored.ok_or(Error::Corrupt)?;
            let other = |s: &&mut ShowSummary| s.id == show && s.sold_out != sold_out;
            let Some(summary) = stored.value.shows.iter_mut().find(other) else {
                return Ok(());
            };
            summary.sold_out = sold_out;
            if self.replace_event(&stored, None).await? {
                self.announce_change(&stored).await;
                return Ok(());
            }
        }
        Err(Error::Unavailable)
    }
}
