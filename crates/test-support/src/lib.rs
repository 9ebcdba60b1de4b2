//! A whole platform in memory, for tests: the real store and use cases over the memory table,
//! with a clock that is set by hand, counted bytes for randomness, queues and a bus that
//! remember, and planned faults in front of all of them.

mod mails;
mod objects;
mod payments;
mod peek;
mod search_index;
pub mod stage;
mod world;

use std::sync::Arc;

use onsale_app::ports::{
    Drive, ExpireHold, Notify, OfferPlaces, Post, SCHEMA, Store, StoreError, WriteExport,
};
use onsale_app::unplugged::Unplugged;
use onsale_app::{App, Ports};
use onsale_domain::language::Language;
use onsale_domain::ticket_code::TicketKey;
use onsale_domain::time::Millis;
use onsale_payments::{Pace, Sandbox};
use onsale_table::faults::FaultyTable;
use onsale_table::memory::MemoryTable;

pub use mails::{MemoryMailer, PlainWriter};
pub use objects::MemoryObjects;
pub use onsale_table::faults::{Fault, Faults};
pub use payments::FaultyPayments;
pub use peek::Peek;
pub use search_index::MemoryIndex;
pub use world::{FixedEntropy, ManualClock, MemoryBus, MemoryQueue};

pub(crate) fn no_answer() -> StoreError {
    StoreError::Unavailable("as planned".to_owned())
}

/// A whole application in memory, with its handles.
#[derive(Debug, Clone)]
pub struct MemoryWorld {
    pub app: App,
    pub store: Store,
    /// What the store writes to.
    pub table: Peek,
    pub queue: Arc<MemoryQueue<ExpireHold>>,
    pub saga_queue: Arc<MemoryQueue<Drive>>,
    pub notify_queue: Arc<MemoryQueue<Notify>>,
    pub mailer: Arc<MemoryMailer>,
    pub post: Post,
    pub export_queue: Arc<MemoryQueue<WriteExport>>,
    pub waitlist_queue: Arc<MemoryQueue<OfferPlaces>>,
    pub bus: Arc<MemoryBus>,
    pub objects: Arc<MemoryObjects>,
    pub search_index: Arc<MemoryIndex>,
    pub payments: Arc<FaultyPayments<Sandbox>>,
    pub faults: Arc<Faults>,
    pub clock: Arc<ManualClock>,
}

impl MemoryWorld {
    pub fn new(now: Millis) -> Self {
        let faults = Arc::new(Faults::default());
        let clock = Arc::new(ManualClock::new(now));
        let entropy = Arc::new(FixedEntropy::default());
        let table = Arc::new(MemoryTable::new(SCHEMA));
        let faulty = Arc::new(FaultyTable::new(table.clone(), faults.clone()));
        let store = Store::new(faulty, clock.clone(), entropy.clone());
        let queue = Arc::new(MemoryQueue::new(clock.clone(), faults.clone()));
        let saga_queue = Arc::new(MemoryQueue::new(clock.clone(), faults.clone()));
        let notify_queue = Arc::new(MemoryQueue::new(clock.clone(), faults.clone()));
        let mailer = Arc::new(MemoryMailer::new(faults.clone()));
        let post = Post {
            mailer: mailer.clone(),
            writer: Arc::new(PlainWriter),
            language: Language::En,
        };
        let export_queue = Arc::new(MemoryQueue::new(clock.clone(), faults.clone()));
        let waitlist_queue = Arc::new(MemoryQueue::new(clock.clone(), faults.clone()));
        let bus = Arc::new(MemoryBus::new(faults.clone()));
        let objects = Arc::new(MemoryObjects::new(clock.clone(), faults.clone()));
        let search_index = Arc::new(MemoryIndex::new(faults.clone()));
        // The sandbox stands for a provider elsewhere: its own ledger does not fail with ours.
        let ledger = Store::new(table.clone(), clock.clone(), entropy.clone());
        let sandbox = Sandbox::new(ledger, clock.clone(), Pace::NONE);
        let payments = Arc::new(FaultyPayments::new(sandbox, faults.clone()));
        let app = App::new(Ports {
            store: store.clone(),
            expiry_queue: queue.clone(),
            saga_queue: saga_queue.clone(),
            notify_queue: notify_queue.clone(),
            export_queue: export_queue.clone(),
            waitlist_queue: waitlist_queue.clone(),
            bus: bus.clone(),
            payments: payments.clone(),
            ticket_signer: Arc::new(TicketKey::from_bytes(&[7; 32])),
            objects: objects.clone(),
            search: Arc::new(Unplugged),
            search_index: search_index.clone(),
            clock: clock.clone(),
            entropy,
        });
        Self {
            app,
            store,
            table: Peek(table),
            queue,
            saga_queue,
            notify_queue,
            mailer,
            post,
            export_queue,
            waitlist_queue,
            bus,
            objects,
            search_index,
            payments,
            faults,
            clock,
        }
    }
}
