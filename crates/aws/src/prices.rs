//! Price logs and views. A log has no time to live: whoever bought can have their price
//! explained for as long as their order exists.

use async_trait::async_trait;
use aws_sdk_dynamodb::types::TransactWriteItem;
use onsale_app::ports::{Prices, Stored, Versioned, Written};
use onsale_domain::ids::ShowId;
use onsale_domain::pricing::PriceLog;
use onsale_domain::time::Millis;

use crate::attributes::{Item, get_json, get_number, json, number, seconds};
use crate::conditions::Change;
use crate::documents::versioned;
use crate::keys::Key;
use crate::table::DynamoStore;

const MINUTE_MS: u64 = 60_000;
/// Views are tidied away after a day; prices ask for those of the last minutes only.
const VIEWS_KEPT_MS: u64 = 24 * 3_600_000;

impl DynamoStore {
    /// The newest part of a log as part of the write that its last point is about.
    pub(crate) fn price_log_part(
        &self,
        show: ShowId,
        next: &Versioned<PriceLog>,
    ) -> Stored<TransactWriteItem> {
        let doc = ("doc", json(&next.value)?);
        self.versioned_part(&Key::price_log(show), next.version, doc)
    }
}

#[async_trait]
impl Prices for DynamoStore {
    async fn price_log(&self, show: ShowId) -> Stored<Option<Versioned<PriceLog>>> {
        self.get_versioned(&Key::price_log(show)).await
    }

    async fn replace_price_log(
        &self,
        show: ShowId,
        next: &Versioned<PriceLog>,
    ) -> Stored<Written<PriceLog>> {
        let doc = ("doc", json(&next.value)?);
        let found = self
            .write_versioned(&Key::price_log(show), next.version, doc, vec![])
            .await?;
        Ok(match found {
            None => Written::Done(next.version + 1),
            Some(item) => Written::Lost(versioned(&item)?),
        })
    }

    async fn keep_price_part(&self, show: ShowId, full: &PriceLog) -> Stored<()> {
        let item = Item::from([("doc".to_owned(), json(full)?)]);
        let key = Key::price_part(show, full.part());
        self.put_new(&key, item).await.map(|_| ())
    }

    async fn price_part(&self, show: ShowId, part: u32) -> Stored<Option<PriceLog>> {
        let item = self.get(&Key::price_part(show, part)).await?;
        item.map(|item| get_json(&item, "doc")).transpose()
    }

    async fn add_views(&self, show: ShowId, minute: u64, views: u64) -> Stored<()> {
        let forget_at = Millis(minute.saturating_mul(MINUTE_MS)) + VIEWS_KEPT_MS;
        let change = Change {
            update: "SET forget_at = :forget_at ADD n :n".to_owned(),
            condition: None,
            values: Item::from([
                (":n".to_owned(), number(views)),
                (":forget_at".to_owned(), seconds(forget_at)),
            ]),
        };
        self.update_if(&Key::views(show, minute), change)
            .await
            .map(|_| ())
    }

    async fn views(&self, show: ShowId, minutes: std::ops::RangeInclusive<u64>) -> Stored<u64> {
        let keys: Vec<_> = minutes.map(|minute| Key::views(show, minute)).collect();
        let items = self.get_many(&keys, false).await?;
        items.iter().map(|item| get_number(item, "n")).sum()
    }
}
