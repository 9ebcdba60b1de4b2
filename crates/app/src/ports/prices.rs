//! The price logs of shows whose prices follow demand, and who looked at them.

use async_trait::async_trait;
use onsale_domain::ids::ShowId;
use onsale_domain::pricing::PriceLog;

use super::{Stored, Versioned, Written};

#[async_trait]
pub trait Prices: Send + Sync {
    /// The newest part of the log, by a consistent read.
    async fn price_log(&self, show: ShowId) -> Stored<Option<Versioned<PriceLog>>>;
    /// Replaces the newest part if it is still at this version; 0: if there is none.
    async fn replace_price_log(
        &self,
        show: ShowId,
        next: &Versioned<PriceLog>,
    ) -> Stored<Written<PriceLog>>;

    /// Stores a part that is full, unless it is stored.
    async fn keep_price_part(&self, show: ShowId, full: &PriceLog) -> Stored<()>;
    async fn price_part(&self, show: ShowId, part: u32) -> Stored<Option<PriceLog>>;

    /// Counts views of a show in a minute since 1970. After a lost answer some may be
    /// counted twice.
    async fn add_views(&self, show: ShowId, minute: u64, views: u64) -> Stored<()>;
    /// All views in these minutes.
    async fn views(&self, show: ShowId, minutes: std::ops::RangeInclusive<u64>) -> Stored<u64>;
}
