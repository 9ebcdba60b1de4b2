//! A ledger for the sandbox, in memory, that can be told to fail.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use onsale_app::ports::{Clock, Entropy, SCHEMA, Store};
use onsale_domain::payment::PaymentId;
use onsale_domain::time::Millis;
use onsale_table::faults::{Faults, FaultyTable};
use onsale_table::memory::MemoryTable;

/// More reads than any test makes.
const READS: usize = 200;

pub struct Ledger {
    pub store: Store,
    pub faults: Arc<Faults>,
}

impl Ledger {
    pub fn new(clock: Arc<FixedClock>) -> Self {
        let faults = Arc::new(Faults::default());
        for _ in 0..READS {
            // Lets concurrent calls read the same version before any of them writes.
            faults.before_next("get SBX", tokio::task::yield_now());
        }
        let table = Arc::new(MemoryTable::new(SCHEMA));
        let table = Arc::new(FaultyTable::new(table, faults.clone()));
        Self {
            store: Store::new(table, clock, Arc::new(Counted::default())),
            faults,
        }
    }

    /// How often the payment was written: every write raises its version by one.
    pub async fn writes(&self, payment: &PaymentId) -> u64 {
        let entry = self.store.sandbox_entry(&payment.0).await.unwrap();
        entry.unwrap().version
    }
}

pub struct FixedClock(pub Mutex<Millis>);

#[async_trait]
impl Clock for FixedClock {
    fn now(&self) -> Millis {
        *self.0.lock().unwrap()
    }

    async fn pause(&self, _ms: u64) {}
}

/// Never the same bytes twice.
#[derive(Default)]
struct Counted(Mutex<u64>);

impl Entropy for Counted {
    fn fill(&self, bytes: &mut [u8]) {
        let mut count = self.0.lock().unwrap();
        *count += 1;
        for (to, from) in bytes.iter_mut().zip(count.to_be_bytes()) {
            *to = from;
        }
    }
}
