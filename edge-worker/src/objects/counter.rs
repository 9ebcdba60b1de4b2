//! A counter of a show: adds up what some of the isolates counted, and tells the
//! controller. Counts only steer, so a flush that is lost or comes twice does no harm.

use futures_util::lock::Mutex;
use onsale_domain::ids::ShowId;
use onsale_domain::room::backend::Calls;
use onsale_domain::room::census::{CounterReport, Tally};
use onsale_domain::room::opening::Bucket;
use std::collections::{BTreeMap, BTreeSet};

use crate::host::{Flush, Links, Storage, Told, Trouble};
use crate::objects::wire::{CounterRequest, ObjectAnswer};

/// How long after a flush the controller is told, so that it hears of many at once.
pub const REPORT_AFTER_MS: u64 = 500;
/// Some four minutes of buckets. The controller asks for none that are older.
const KEPT_BUCKETS: usize = 256;

#[derive(Debug, Default)]
struct Totals {
    by_bucket: BTreeMap<Bucket, Tally>,
    unreported: BTreeSet<Bucket>,
    /// News of the moment, so they are not stored.
    calls: Calls,
}

#[derive(Debug)]
pub struct CounterObject<S, L> {
    show: ShowId,
    number: u8,
    storage: S,
    links: L,
    totals: Mutex<Option<Totals>>,
}

impl<S: Storage, L: Links> CounterObject<S, L> {
    pub fn new(show: ShowId, number: u8, storage: S, links: L) -> Self {
        Self {
            show,
            number,
            storage,
            links,
            totals: Mutex::new(None),
        }
    }

    pub async fn answer(&self, request: CounterRequest) -> Told<ObjectAnswer> {
        match request {
            CounterRequest::Add(flush) => self.add(flush).await?,
            CounterRequest::Forget => self.forget().await?,
        }
        Ok(ObjectAnswer::Done)
    }

    /// Adds a flush. Whoever calls it sees to it that [`Self::report`] is called soon.
    pub async fn add(&self, flush: Flush) -> Told<()> {
        let mut slot = self.totals.lock().await;
        let mut totals = self.loaded(&mut slot).await?;
        let mut changes = Vec::new();
        totals.calls.add(flush.calls);
        for (bucket, more) in flush.joined {
            let known = totals.by_bucket.entry(bucket).or_default();
            known.fans = known.fans.saturating_add(more.fans);
            known.others = known.others.saturating_add(more.others);
            let bytes = postcard::to_allocvec(known).map_err(Trouble::new)?;
            changes.push((name_of(bucket), Some(bytes)));
            totals.unreported.insert(bucket);
        }
        // The lottery comes first and is kept.
        while totals.by_bucket.len() > KEPT_BUCKETS {
            let Some(oldest) = totals.by_bucket.keys().find(|b| **b != Bucket::LOTTERY) else {
                break;
            };
            let oldest = *oldest;
            totals.by_bucket.remove(&oldest);
            totals.unreported.remove(&oldest);
            changes.push((name_of(oldest), None));
        }
        if !changes.is_empty() {
            self.storage.store(changes).await?;
        }
        *slot = Some(totals);
        Ok(())
    }

    pub async fn report(&self) -> Told<()> {
        let mut slot = self.totals.lock().await;
        let mut totals = self.loaded(&mut slot).await?;
        let unreported = std::mem::take(&mut totals.unreported);
        let calls = std::mem::take(&mut totals.calls);
        let report = CounterReport {
            counter: self.number,
            totals: unreported
                .iter()
                .filter_map(|bucket| Some((*bucket, *totals.by_bucket.get(bucket)?)))
                .collect(),
            calls,
        };
        let told = match report.totals.is_empty() && calls.none() {
            true => Ok(()),
            false => self.links.report(self.show, report).await,
        };
        if told.is_err() {
            totals.unreported.extend(unreported);
            totals.calls.add(calls);
        }
        *slot = Some(totals);
        told
    }

    /// Forgets everybody: the show is long over.
    pub async fn forget(&self) -> Told<()> {
        let mut slot = self.totals.lock().await;
        *slot = None;
        self.storage.clear().await
    }

    async fn loaded(&self, slot: &mut Option<Totals>) -> Told<Totals> {
        if let Some(totals) = slot.take() {
            return Ok(totals);
        }
        let mut totals = Totals::default();
        for (name, value) in self.storage.load().await? {
            let Some(bucket) = bucket_of(&name) else {
                continue;
            };
            let tally = postcard::from_bytes(&value).map_err(Trouble::new)?;
            totals.by_bucket.insert(bucket, tally);
            // Nobody remembers whether it was reported. Twice is as good as once.
            totals.unreported.insert(bucket);
        }
        Ok(totals)
    }
}

fn name_of(bucket: Bucket) -> String {
    format!("bucket/{:08x}", bucket.0)
}

fn bucket_of(name: &str) -> Option<Bucket> {
    let digits = name.strip_prefix("bucket/")?;
    u32::from_str_radix(digits, 16).ok().map(Bucket)
}
