//! Who joined through this isolate, and whether those with a pass were answered: counted
//! here, and told to a counter about once a second, after an answer has been given.

use onsale_domain::ids::ShowId;
use onsale_domain::room::backend::Calls;
use onsale_domain::room::census::Tally;
use onsale_domain::room::opaque::Lot;
use onsale_domain::room::published::Published;
use onsale_domain::room::ticket::{Band, QueueTicket};
use onsale_domain::time::Millis;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use onsale_domain::room::opening::Bucket;

use crate::edge::Edge;
use crate::host::{COUNTERS, Flush, Host};

const FLUSH_MS: u64 = 1_000;
/// A flush that was promised longer ago than this is not coming.
const LOST_MS: u64 = 10_000;
/// How long to wait before each try to tell a counter: together half of the thirty seconds that
/// the runtime gives to work after an answer.
const TRIES_AFTER_MS: [u64; 5] = [0, 1_000, 2_000, 4_000, 8_000];
/// How often somebody is counted again who waits in a line that knows of nobody.
const AGAIN_MS: u64 = 10_000;
/// Lots that are remembered, so that a challenge sent again is not counted again.
const LOTS_KEPT: usize = 20_000;

#[derive(Debug, Default)]
struct Tallies {
    joined: BTreeMap<Bucket, Tally>,
    calls: Calls,
    flushed: Millis,
    /// When somebody undertook to flush. They may have died over it.
    promised: Option<Millis>,
    counted_again: Millis,
}

impl Tallies {
    fn add(&mut self, ticket: &QueueTicket) {
        let tally = self.joined.entry(ticket.bucket).or_default();
        match ticket.band {
            Band::Fan => tally.fans += 1,
            Band::Everybody => tally.others += 1,
        }
    }

    /// In how many milliseconds to flush, if nobody is about to.
    fn promise(&mut self, now: Millis) -> Option<u64> {
        if self.promised.is_some_and(|at| at + LOST_MS > now) {
            return None;
        }
        self.promised = Some(now);
        Some(now.until(self.flushed + FLUSH_MS))
    }
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
            tallies.add(ticket);
            tallies.promise(now)
        })
    }

    /// Adds a ticket that was lost on its way, unless there is one to flush still. For a line
    /// to begin one of them is enough.
    fn add_again(&self, ticket: &QueueTicket, now: Millis) -> Option<u64> {
        self.with(|counted| {
            let tallies = counted.shows.entry(ticket.show).or_default();
            if tallies.joined.is_empty() {
                if tallies.counted_again + AGAIN_MS > now {
                    return None;
                }
                tallies.counted_again = now;
                tallies.add(ticket);
            }
            tallies.promise(now)
        })
    }

    fn add_calls(&self, show: ShowId, calls: Calls, now: Millis) -> Option<u64> {
        self.with(|counted| {
            let tallies = counted.shows.entry(show).or_default();
            tallies.calls.add(calls);
            tallies.promise(now)
        })
    }

    fn take(&self, show: ShowId, now: Millis) -> Flush {
        self.with(|counted| {
            let Some(tallies) = counted.shows.get_mut(&show) else {
                return Flush::default();
            };
            tallies.flushed = now;
            tallies.promised = None;
            Flush {
                joined: std::mem::take(&mut tallies.joined).into_iter().collect(),
                calls: std::mem::take(&mut tallies.calls),
            }
        })
    }

    /// What could not be told is told with the next flush, which whoever puts it back
    /// undertakes; but calls are news of the moment.
    fn put_back(&self, show: ShowId, flush: Flush, now: Millis) {
        self.with(|counted| {
            let tallies = counted.shows.entry(show).or_default();
            tallies.promised = Some(now);
            for (bucket, more) in flush.joined {
                let tally = tallies.joined.entry(bucket).or_default();
                tally.fans += more.fans;
                tally.others += more.others;
            }
        });
    }
}

impl Edge {
    pub fn count<H: Host>(self: &Arc<Self>, host: &H, ticket: &QueueTicket) {
        let wait_ms = self.counting.add(ticket, host.now());
        self.flush_after(host, ticket.show, wait_ms);
    }

    /// Counts somebody again who waits in a line that lost them: a counter or the controller
    /// may have failed over them, and nobody else may come.
    pub fn count_again<H: Host>(
        self: &Arc<Self>,
        host: &H,
        ticket: &QueueTicket,
        published: &Published,
    ) {
        if published.has_lost(ticket.bucket) {
            let wait_ms = self.counting.add_again(ticket, host.now());
            self.flush_after(host, ticket.show, wait_ms);
        }
    }

    /// Whether a call of somebody with a pass was answered.
    pub fn count_call<H: Host>(self: &Arc<Self>, host: &H, show: ShowId, is_answered: bool) {
        let calls = Calls {
            answered: u64::from(is_answered),
            failed: u64::from(!is_answered),
        };
        let wait_ms = self.counting.add_calls(show, calls, host.now());
        self.flush_after(host, show, wait_ms);
    }

    fn flush_after<H: Host>(self: &Arc<Self>, host: &H, show: ShowId, wait_ms: Option<u64>) {
        let Some(wait_ms) = wait_ms else {
            return;
        };
        let (edge, again) = (self.clone(), host.clone());
        host.defer(async move {
            if wait_ms > 0 {
                again.sleep(wait_ms).await;
            }
            edge.flush(&again, show).await;
        });
    }

    /// Tells a counter, and tries again for a while when it does not answer. What is left
    /// then goes with the next who joins, or asks and was lost.
    async fn flush<H: Host>(&self, host: &H, show: ShowId) {
        for pause_ms in TRIES_AFTER_MS {
            if pause_ms > 0 {
                host.sleep(pause_ms).await;
            }
            let flush = self.counting.take(show, host.now());
            if flush.joined.is_empty() && flush.calls.none() {
                return;
            }
            let counter = self.counter_of_isolate(host);
            match host.count(show, counter, flush.clone()).await {
                Ok(()) => return,
                Err(trouble) => {
                    host.log(&format!("joins could not be counted: {trouble}"));
                    self.counting.put_back(show, flush, host.now());
                }
            }
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
