//! Who joined through this isolate: counted here, and told to a counter about once a
//! second, after an answer has been given.

use onsale_domain::ids::ShowId;
use onsale_domain::room::census::Tally;
use onsale_domain::room::opaque::Lot;
use onsale_domain::room::ticket::{Band, QueueTicket};
use onsale_domain::time::Millis;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use onsale_domain::room::opening::Bucket;

use crate::edge::Edge;
use crate::host::{COUNTERS, Host, Joined};

const FLUSH_MS: u64 = 1_000;
/// A flush that was promised longer ago than this is not coming.
const LOST_MS: u64 = 10_000;
/// Lots that are remembered, so that a challenge sent again is not counted again.
const LOTS_KEPT: usize = 20_000;

#[derive(Debug, Default)]
struct Tallies {
    joined: BTreeMap<Bucket, Tally>,
    flushed: Millis,
    /// When somebody undertook to flush. They may have died over it.
    promised: Option<Millis>,
}

#[derive(Debug, Default)]
struct Counted {
    shows: HashMap<ShowId, Tallies>,
    lots: HashSet<Lot>,
    counter: Option<u8>,
}

#[derive(Debug, Default)]
pub struct Counting(Mutex<Counted>);

impl Counting {
    fn with<T>(&self, act: impl FnOnce(&mut Counted) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a ticket, and says in how many milliseconds to flush if nobody is about to.
    fn add(&self, ticket: &QueueTicket, now: Millis) -> Option<u64> {
        self.with(|counted| {
            if counted.lots.len() >= LOTS_KEPT {
                counted.lots.clear();
            }
            if !counted.lots.insert(ticket.lot) {
                return None;
            }
            let tallies = counted.shows.entry(ticket.show).or_default();
            let tally = tallies.joined.entry(ticket.bucket).or_default();
            match ticket.band {
                Band::Fan => tally.fans += 1,
                Band::Everybody => tally.others += 1,
            }
            if tallies.promised.is_some_and(|at| at + LOST_MS > now) {
                return None;
            }
            tallies.promised = Some(now);
            Some(now.until(tallies.flushed + FLUSH_MS))
        })
    }

    fn take(&self, show: ShowId, now: Millis) -> Joined {
        self.with(|counted| {
            let Some(tallies) = counted.shows.get_mut(&show) else {
                return Vec::new();
            };
            tallies.flushed = now;
            tallies.promised = None;
            std::mem::take(&mut tallies.joined).into_iter().collect()
        })
    }

    /// What could not be told is told with the next flush.
    fn put_back(&self, show: ShowId, joined: Joined) {
        self.with(|counted| {
            let tallies = counted.shows.entry(show).or_default();
            for (bucket, more) in joined {
                let tally = tallies.joined.entry(bucket).or_default();
                tally.fans += more.fans;
                tally.others += more.others;
            }
        });
    }
}

impl Edge {
    pub fn count<H: Host>(self: &Arc<Self>, host: &H, ticket: &QueueTicket) {
        let Some(wait_ms) = self.counting.add(ticket, host.now()) else {
            return;
        };
        let (edge, again, show) = (self.clone(), host.clone(), ticket.show);
        host.defer(async move {
            if wait_ms > 0 {
                again.sleep(wait_ms).await;
            }
            edge.flush(&again, show).await;
        });
    }

    async fn flush<H: Host>(&self, host: &H, show: ShowId) {
        let joined = self.counting.take(show, host.now());
        if joined.is_empty() {
            return;
        }
        let counter = self.counter_of_isolate(host);
        if let Err(trouble) = host.count(show, counter, joined.clone()).await {
            host.log(&format!("joins could not be counted: {trouble}"));
            self.counting.put_back(show, joined);
        }
    }

    /// Isolates spread over the counters by chance, each to one.
    fn counter_of_isolate<H: Host>(&self, host: &H) -> u8 {
        let mut chance = [0];
        host.fill(&mut chance);
        self.counting
            .with(|counted| *counted.counter.get_or_insert(chance[0] % COUNTERS))
    }
}
