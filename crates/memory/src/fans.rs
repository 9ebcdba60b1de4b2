//! Verified fans.

use async_trait::async_trait;
use onsale_app::ports::{Fans, Page, Stored};
use onsale_domain::account::Email;
use onsale_domain::ids::ShowId;
use onsale_domain::room::fan_code::FanSerial;
use onsale_domain::room::fans::{Fan, FanBatch};
use onsale_domain::room::opaque::{EmailHash, FanBatchId};

use crate::MemoryStore;

/// Where a fan stands in the list of a show.
fn place(fan: &Fan) -> String {
    format!("{:015}#{}", fan.registered.0, EmailHash::of(&fan.email))
}

#[async_trait]
impl Fans for MemoryStore {
    async fn take_serials(&self, show: ShowId, count: u32, most: u32) -> Stored<Option<FanSerial>> {
        let take = async {
            let mut items = self.items();
            let next = items.fan_serials.entry(show).or_default();
            let after = next.saturating_add(count);
            if after > most {
                return Ok(None);
            }
            Ok(Some(FanSerial(std::mem::replace(next, after))))
        };
        self.pass("take_serials", take).await
    }

    async fn fan_batch(&self, show: ShowId, id: FanBatchId) -> Stored<Option<FanBatch>> {
        Ok(self.items().fan_batches.get(&(show, id)).copied())
    }

    async fn keep_fan_batch(
        &self,
        show: ShowId,
        id: FanBatchId,
        batch: &FanBatch,
    ) -> Stored<FanBatch> {
        let keep = async {
            let mut items = self.items();
            Ok(*items.fan_batches.entry((show, id)).or_insert(*batch))
        };
        self.pass("keep_fan_batch", keep).await
    }

    async fn fan(&self, show: ShowId, email: &Email) -> Stored<Option<Fan>> {
        let key = (show, EmailHash::of(email));
        Ok(self.items().fans.get(&key).cloned())
    }

    async fn add_fan(&self, show: ShowId, fan: &Fan) -> Stored<Fan> {
        let key = (show, EmailHash::of(&fan.email));
        let add = async {
            let mut items = self.items();
            let stored = items.fans.entry(key).or_insert_with(|| fan.clone());
            Ok(stored.clone())
        };
        self.pass("add_fan", add).await
    }

    async fn fans(&self, show: ShowId, after: Option<&str>, limit: usize) -> Stored<Page<Fan>> {
        let items = self.items();
        let of_show = items.fans.iter().filter(|((of, _), _)| *of == show);
        let mut fans: Vec<(String, &Fan)> = of_show.map(|(_, fan)| (place(fan), fan)).collect();
        fans.sort_by(|one, other| one.0.cmp(&other.0));
        fans.retain(|(place, _)| after.is_none_or(|after| place.as_str() > after));
        let more = fans.len() > limit;
        fans.truncate(limit);
        let last = fans.last().map(|(place, _)| place.clone());
        Ok(Page {
            items: fans.into_iter().map(|(_, fan)| fan.clone()).collect(),
            next: last.filter(|_| more),
        })
    }

    async fn fan_of(
        &self,
        email: &Email,
        after: Option<&str>,
        limit: usize,
    ) -> Stored<Page<(ShowId, Fan)>> {
        let items = self.items();
        let hash = EmailHash::of(email);
        let own = items.fans.iter().filter(|((_, of), _)| *of == hash);
        // Newest first: the key counts down.
        let key = |show: &ShowId, fan: &Fan| format!("{:020}#{show}", u64::MAX - fan.registered.0);
        let mut sorted: Vec<_> = own
            .map(|((show, _), fan)| (key(show, fan), (*show, fan.clone())))
            .collect();
        sorted.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(crate::orders::page(sorted, after, limit))
    }

    async fn remove_fan(&self, show: ShowId, email: &Email) -> Stored<()> {
        self.items().fans.remove(&(show, EmailHash::of(email)));
        Ok(())
    }
}
