//! What comes back of mails: an address that does not exist, an owner who complained.
//!
//! Nobody is written to again for what they can do without, for a while. What they paid
//! for, or asked for a moment ago, is sent all the same.

use serde::{Deserialize, Serialize};

use crate::time::Millis;

const DAY_MS: u64 = 24 * 3_600_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedbackKind {
    /// The address does not exist, or not any more. Mailboxes are mended, so this passes.
    Bounced,
    /// Somebody called it unwanted.
    Complained,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feedback {
    pub kind: FeedbackKind,
    pub at: Millis,
}

impl Feedback {
    /// Until then it counts; then it is forgotten.
    pub fn until(&self) -> Millis {
        let days = match self.kind {
            FeedbackKind::Bounced => 30,
            FeedbackKind::Complained => 365,
        };
        self.at + days * DAY_MS
    }

    pub fn counts(&self, now: Millis) -> bool {
        now < self.until()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bounce_is_forgotten_sooner_than_a_complaint() {
        let at = Millis(1_800_000_000_000);
        let of = |kind| Feedback { kind, at };
        let (bounced, complained) = (of(FeedbackKind::Bounced), of(FeedbackKind::Complained));
        assert!(bounced.counts(at) && bounced.until() < complained.until());
        assert!(!bounced.counts(bounced.until()) && complained.counts(bounced.until()));
    }
}
