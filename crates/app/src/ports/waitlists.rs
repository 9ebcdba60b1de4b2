//! The waitlists of shows, and what sets a pass over one going.

use async_trait::async_trait;
use onsale_domain::ids::ShowId;
use onsale_domain::time::Millis;
use serde::{Deserialize, Serialize};

use super::Stored;

/// "Look at the waitlist of this show: places may have come back."
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfferPlaces {
    pub show_id: ShowId,
    /// When that happened which is to be looked at.
    pub since: Millis,
}

#[async_trait]
pub trait WaitlistQueue: Send + Sync {
    async fn send_offer_places(&self, message: &OfferPlaces, delay_s: u32) -> Stored<()>;
}
