//! The waitlist of a show: who waits for places to come back, and who is offered which.
//!
//! An entry is one buyer's wish and where it stands. `match_offers` decides, in the order
//! in which people joined, who is offered what came back; everything else only carries
//! that out.

mod entry;
mod matching;
mod places;
mod stock;

pub use entry::{
    Earlier, MAX_WAITING, OFFER_MS, Offer, Outcome, State, Waiting, WaitlistEntry, Wish,
};
pub use matching::{KEEP_BACK_MS, Matched, SOON_MS, could_ever_fit, free_for, match_offers};
pub use places::{Places, Standing};

use serde::{Deserialize, Serialize};

use crate::ids::ShowId;
use crate::time::{CLOCK_SKEW_MS, Millis};

/// How long one pass over a waitlist may take before another begins beside it.
pub const PASS_MS: u64 = 30_000;

/// Who looks after a show's waitlist, and what they have seen. Passes beside each other
/// do no harm; this only saves work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passes {
    pub show_id: ShowId,
    /// Until when somebody is at it.
    pub until: Millis,
    /// Whatever happened before this was seen by a pass that came to its end.
    pub seen: Millis,
}

impl Passes {
    pub fn none(show_id: ShowId) -> Self {
        Self {
            show_id,
            until: Millis(0),
            seen: Millis(0),
        }
    }

    /// Whether a pass has seen what happened then, whoever's clock told the time.
    pub fn has_seen(&self, happened: Millis) -> bool {
        happened + 2 * CLOCK_SKEW_MS < self.seen
    }

    pub fn is_busy(&self, now: Millis) -> bool {
        now < self.until
    }

    pub fn begun(self, now: Millis) -> Self {
        Self {
            until: now + PASS_MS,
            ..self
        }
    }

    /// A pass that began then has come to its end.
    pub fn ended(self, began: Millis) -> Self {
        Self {
            until: Millis(0),
            seen: self.seen.max(began),
            ..self
        }
    }
}
