//! The waitlist of a show: places that come back are offered to those who wait.
//!
//! `join`, `leave` and `read` are what a buyer does. `pass` looks at a show, settles the
//! offers that are out and makes new ones; `offer` carries one out. A message says when
//! to look, and a sweep looks every minute, so no message matters.

mod join;
mod leave;
mod offer;
mod pass;
mod read;

pub use join::{Joined, WaitFor};
pub use pass::Looked;
pub use read::{LineCounts, OfferView, WaitlistStatus, WaitlistView};

use std::sync::Arc;

use onsale_domain::ids::{ShowId, WaitlistId};
use onsale_domain::show::{Show, Waitlist};
use onsale_domain::time::Millis;

use crate::app::App;
use crate::cache::Cache;
use crate::error::{Error, Result};
use crate::holds::ROUNDS;
use crate::ports::{OfferPlaces, Stored};

/// A line of n people is read again after n milliseconds, at most after these: the longer
/// it is, the more a reading costs, and the less a place in it changes.
const LINE_KEPT_MS: u64 = 10_000;

/// The turns of everybody who waits, in order.
pub(crate) type Line = Arc<[(Millis, WaitlistId)]>;
pub(crate) type LineSlots = Cache<ShowId, (Millis, Line)>;

impl App {
    /// The line of a show as it was a moment ago.
    async fn recent_line(&self, show: ShowId) -> Stored<Line> {
        let now = self.now();
        if let Some((read, line)) = self.lines.get(&show)
            && now - read < LINE_KEPT_MS.min(line.len() as u64)
        {
            return Ok(line);
        }
        let waiting = self.store.waiting(show).await?;
        let line: Line = waiting.iter().map(|waiting| waiting.turn()).collect();
        self.lines.put(show, (now, line.clone()));
        Ok(line)
    }

    /// Places of a show may have come back. If nobody waits for them nothing happens.
    pub(crate) async fn wake_waitlist(&self, show: ShowId) {
        let open = match self.recent_show(show).await {
            Ok(show) => show.waitlist != Waitlist::Closed,
            Err(_) => false,
        };
        if open {
            self.look_at_waitlist(show, 0).await;
        }
    }

    /// Asks for a pass over a waitlist. A message that is lost costs a minute: then the
    /// sweep asks again.
    pub(crate) async fn look_at_waitlist(&self, show_id: ShowId, delay_s: u32) {
        let since = self.now() + u64::from(delay_s) * 1_000;
        let message = OfferPlaces { show_id, since };
        if let Err(error) = self
            .waitlist_queue
            .send_offer_places(&message, delay_s)
            .await
        {
            tracing::warn!(show = %show_id, %error, "the waitlist could not be woken");
        }
    }

    /// Marks that somebody waits, if the show does not say so.
    async fn open_waitlist(&self, show: ShowId) -> Result<()> {
        for _ in 0..ROUNDS {
            let stored = self.store.read::<Show>(show).await?;
            let mark = match stored {
                Some(show) => show.value.waitlist,
                None => return Ok(()),
            };
            if mark == Waitlist::Open {
                return Ok(());
            }
            let marked = self.store.mark_waitlist(show, mark, Waitlist::Open);
            if marked.await? {
                self.forget_show(show);
                return Ok(());
            }
        }
        Err(Error::Unavailable)
    }
}
