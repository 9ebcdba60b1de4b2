//! A clock that is set by hand, counted bytes for randomness, queues that keep what was
//! sent until it is due, and a bus that remembers.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use onsale_app::ports::{
    Bus, Clock, Drive, Entropy, ExpireHold, ExpiryQueue, ExportQueue, MAX_DELAY_S, Notify,
    NotifyQueue, OfferPlaces, SagaQueue, StoreError, Stored, WaitlistQueue, WriteExport,
};
use onsale_domain::announcement::Announcement;
use onsale_domain::time::Millis;

use crate::no_answer;
use onsale_table::faults::Faults;

#[derive(Debug)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    pub fn new(now: Millis) -> Self {
        Self(AtomicU64::new(now.0))
    }

    pub fn advance(&self, ms: u64) {
        self.0.fetch_add(ms, Ordering::SeqCst);
    }
}

#[async_trait]
impl Clock for ManualClock {
    fn now(&self) -> Millis {
        Millis(self.0.load(Ordering::SeqCst))
    }

    /// Only `advance` moves this clock: a pause lets others go on, and is over.
    async fn pause(&self, _ms: u64) {
        tokio::task::yield_now().await;
    }
}

/// Never the same bytes twice, always the same sequence.
#[derive(Debug, Default)]
pub struct FixedEntropy(AtomicU64);

impl Entropy for FixedEntropy {
    fn fill(&self, bytes: &mut [u8]) {
        let n = self.0.fetch_add(1, Ordering::SeqCst).to_be_bytes();
        for (i, byte) in bytes.iter_mut().rev().enumerate() {
            *byte = n.get(7usize.wrapping_sub(i)).copied().unwrap_or(0);
        }
    }
}

/// Keeps what was sent until it is due.
#[derive(Debug)]
pub struct MemoryQueue<M> {
    clock: Arc<ManualClock>,
    faults: Arc<Faults>,
    messages: Mutex<Vec<(Millis, M)>>,
}

impl<M: Clone> MemoryQueue<M> {
    pub fn new(clock: Arc<ManualClock>, faults: Arc<Faults>) -> Self {
        Self {
            clock,
            faults,
            messages: Mutex::default(),
        }
    }

    fn messages(&self) -> MutexGuard<'_, Vec<(Millis, M)>> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes out what is due, in the order it became due.
    pub fn take_due(&self) -> Vec<M> {
        let now = self.clock.now();
        let mut messages = self.messages();
        let (mut due, later): (Vec<_>, Vec<_>) = messages.drain(..).partition(|(at, _)| *at <= now);
        *messages = later;
        due.sort_by_key(|(at, _)| *at);
        due.into_iter().map(|(_, message)| message).collect()
    }

    pub fn waiting(&self) -> Vec<(Millis, M)> {
        self.messages().clone()
    }

    fn put(&self, message: &M, delay_s: u32) -> Stored<()> {
        if delay_s > MAX_DELAY_S {
            return Err(StoreError::Unavailable(
                "the delay is longer than a queue takes".into(),
            ));
        }
        let due = self.clock.now() + u64::from(delay_s) * 1_000;
        self.messages().push((due, message.clone()));
        Ok(())
    }
}

#[async_trait]
impl ExpiryQueue for MemoryQueue<ExpireHold> {
    async fn send(&self, message: &ExpireHold, delay_s: u32) -> Stored<()> {
        let put = async { self.put(message, delay_s) };
        self.faults.pass("send_expiry", no_answer, put).await
    }
}

#[async_trait]
impl NotifyQueue for MemoryQueue<Notify> {
    async fn send_notify(&self, message: &Notify, delay_s: u32) -> Stored<()> {
        let put = async { self.put(message, delay_s) };
        self.faults.pass("send_notify", no_answer, put).await
    }
}

#[async_trait]
impl SagaQueue for MemoryQueue<Drive> {
    async fn send_drive(&self, message: &Drive, delay_s: u32) -> Stored<()> {
        let put = async { self.put(message, delay_s) };
        self.faults.pass("send_drive", no_answer, put).await
    }
}

#[async_trait]
impl ExportQueue for MemoryQueue<WriteExport> {
    async fn send_export(&self, message: &WriteExport) -> Stored<()> {
        let put = async { self.put(message, 0) };
        self.faults.pass("send_export", no_answer, put).await
    }
}

#[async_trait]
impl WaitlistQueue for MemoryQueue<OfferPlaces> {
    async fn send_offer_places(&self, message: &OfferPlaces, delay_s: u32) -> Stored<()> {
        let put = async { self.put(message, delay_s) };
        self.faults.pass("send_offer_places", no_answer, put).await
    }
}

/// Remembers everything that was announced.
#[derive(Debug)]
pub struct MemoryBus {
    faults: Arc<Faults>,
    told: Mutex<Vec<Announcement>>,
}

impl MemoryBus {
    pub fn new(faults: Arc<Faults>) -> Self {
        Self {
            faults,
            told: Mutex::default(),
        }
    }

    pub fn told(&self) -> Vec<Announcement> {
        self.told
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

#[async_trait]
impl Bus for MemoryBus {
    async fn announce(&self, announcements: &[Announcement]) -> Stored<()> {
        let tell = async {
            let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
            told.extend_from_slice(announcements);
            Ok(())
        };
        self.faults.pass("announce", no_answer, tell).await
    }
}
