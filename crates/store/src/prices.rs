//! Price logs and views. A log has no time to live: buyers can have their price explained for as
//! long as their order exists.

use onsale_domain::ids::ShowId;
use onsale_domain::pricing::PriceLog;
use onsale_domain::time::Millis;
use onsale_table::{Item, Reads, Update, Write};

use crate::attributes::{DOC, FORGET_AT, VERSION, get_json, get_number, json, seconds};
use crate::documents::{Together, Versioned, Written, marked};
use crate::error::Stored;
use crate::keys;
use crate::store::Store;

const MINUTE_MS: u64 = 60_000;
/// Views are tidied away after a day; prices ask for those of the last minutes only.
const VIEWS_KEPT_MS: u64 = 24 * 3_600_000;

fn log_of(item: &Item) -> Stored<Versioned<PriceLog>> {
    Ok(Versioned {
        version: get_number(item, VERSION)?,
        value: get_json(item, DOC)?,
    })
}

impl Together {
    /// The newest part of a log with the write that its last point is about.
    pub(crate) fn price_log(
        &mut self,
        show: ShowId,
        next: &Versioned<PriceLog>,
    ) -> Stored<&mut Self> {
        let update = marked(next.version, self.mark(), (DOC, json(&next.value)?));
        Ok(self.push(Write::Update(keys::price_log(show), update)))
    }
}

impl Store {
    /// The newest part of the log, by a consistent read.
    pub async fn price_log(&self, show: ShowId) -> Stored<Option<Versioned<PriceLog>>> {
        let item = self.get(&keys::price_log(show)).await?;
        item.as_ref().map(log_of).transpose()
    }

    /// Replaces the newest part if it is still at this version; 0: if there is none.
    pub async fn replace_price_log(
        &self,
        show: ShowId,
        next: &Versioned<PriceLog>,
    ) -> Stored<Written<PriceLog>> {
        let mark = self.new_mark();
        let update = marked(next.version, mark, (DOC, json(&next.value)?));
        let key = keys::price_log(show);
        Ok(match self.write_marked(&key, mark, &update).await? {
            None => Written::Done(next.version + 1),
            Some(item) => Written::Lost(log_of(&item)?),
        })
    }

    /// Stores a part that is full, unless it is stored.
    pub async fn keep_price_part(&self, show: ShowId, full: &PriceLog) -> Stored<()> {
        let item = Item::new().with(DOC, json(full)?);
        let key = keys::price_part(show, full.part());
        self.put_new(&key, item).await.map(|_| ())
    }

    pub async fn price_part(&self, show: ShowId, part: u32) -> Stored<Option<PriceLog>> {
        let item = self.get(&keys::price_part(show, part)).await?;
        item.map(|item| get_json(&item, DOC)).transpose()
    }

    /// Counts views of a show in a minute since 1970. After a lost reply some may be counted
    /// twice.
    pub async fn add_views(&self, show: ShowId, minute: u64, views: u64) -> Stored<()> {
        let forget_at = Millis(minute.saturating_mul(MINUTE_MS)) + VIEWS_KEPT_MS;
        let update = Update::always()
            .set(FORGET_AT, seconds(forget_at))
            .add("n", i64::try_from(views).unwrap_or(i64::MAX));
        let key = keys::views(show, minute);
        self.update_if(&key, &update).await.map(|_| ())
    }

    /// All views in these minutes.
    pub async fn views(&self, show: ShowId, minutes: std::ops::RangeInclusive<u64>) -> Stored<u64> {
        let keys: Vec<_> = minutes.map(|minute| keys::views(show, minute)).collect();
        let rows = self.get_many(&keys, Reads::Eventual).await?;
        rows.iter()
            .map(|row| get_number::<u64>(&row.item, "n"))
            .sum()
    }
}
