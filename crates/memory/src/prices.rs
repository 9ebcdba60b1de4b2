//! Price logs and views.

use async_trait::async_trait;
use onsale_app::ports::{Prices, Stored, Versioned, Written};
use onsale_domain::ids::ShowId;
use onsale_domain::pricing::PriceLog;

use crate::MemoryStore;
use crate::orders::{create, replace};

#[async_trait]
impl Prices for MemoryStore {
    async fn price_log(&self, show: ShowId) -> Stored<Option<Versioned<PriceLog>>> {
        let read = async { Ok(self.items().price_logs.get(&show).cloned()) };
        self.pass("price_log", read).await
    }

    async fn replace_price_log(
        &self,
        show: ShowId,
        next: &Versioned<PriceLog>,
    ) -> Stored<Written<PriceLog>> {
        let write = async {
            let logs = &mut self.items().price_logs;
            match next.version {
                0 => Ok(create(logs, show, &next.value)),
                _ => replace(logs, show, next),
            }
        };
        self.pass("replace_price_log", write).await
    }

    async fn keep_price_part(&self, show: ShowId, full: &PriceLog) -> Stored<()> {
        let keep = async {
            let parts = &mut self.items().price_parts;
            parts
                .entry((show, full.part()))
                .or_insert_with(|| full.clone());
            Ok(())
        };
        self.pass("keep_price_part", keep).await
    }

    async fn price_part(&self, show: ShowId, part: u32) -> Stored<Option<PriceLog>> {
        Ok(self.items().price_parts.get(&(show, part)).cloned())
    }

    async fn add_views(&self, show: ShowId, minute: u64, views: u64) -> Stored<()> {
        let add = async {
            *self.items().views.entry((show, minute)).or_default() += views;
            Ok(())
        };
        self.pass("add_views", add).await
    }

    async fn views(&self, show: ShowId, minutes: std::ops::RangeInclusive<u64>) -> Stored<u64> {
        let items = self.items();
        let of = |minute| items.views.get(&(show, minute)).copied().unwrap_or(0);
        Ok(minutes.map(of).sum())
    }
}
