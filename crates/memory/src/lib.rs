//! The ports in memory: deterministic, one lock, no time and no randomness of its own.
//!
//! It keeps the same promises as the DynamoDB adapter; one contract suite runs against
//! both. Simulations and unit tests stand on it.

mod accounts;
mod catalogue;
mod interruption;
mod seats;
pub mod stage;
mod world;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use onsale_app::App;
use onsale_app::ports::{Credentials, Session, Versioned};
use onsale_domain::account::Email;
use onsale_domain::block::{BlockIndex, BlockState};
use onsale_domain::buyer::Buyer;
use onsale_domain::event::Event;
use onsale_domain::ids::{AccountId, EventId, SessionId, ShowId, VenueId};
use onsale_domain::layout::Layout;
use onsale_domain::map::SeatMap;
use onsale_domain::request_hash::RequestHash;
use onsale_domain::show::Show;
use onsale_domain::time::Millis;
use onsale_domain::venue::Venue;

pub use interruption::Step;
pub use world::{FixedEntropy, ManualClock, MemoryQueue};

#[derive(Debug, Default)]
struct Items {
    accounts: HashMap<AccountId, Credentials>,
    emails: HashMap<Email, AccountId>,
    sessions: HashMap<SessionId, Session>,
    venues: HashMap<VenueId, (Venue, Layout, Option<RequestHash>)>,
    events: BTreeMap<EventId, (Versioned<Event>, Option<RequestHash>)>,
    shows: HashMap<ShowId, (Versioned<Show>, Option<RequestHash>)>,
    blocks: HashMap<(ShowId, BlockIndex), BlockState>,
    buyers: HashMap<(ShowId, AccountId), Buyer>,
    maps: HashMap<ShowId, SeatMap>,
    leases: HashMap<ShowId, Millis>,
}

#[derive(Debug, Default)]
pub struct MemoryStore {
    items: Mutex<Items>,
    interruptions: interruption::Interruptions,
}

impl MemoryStore {
    fn items(&self) -> MutexGuard<'_, Items> {
        // Every change is made whole under the lock, so a panic elsewhere leaves
        // nothing half done.
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes a block, as cancelling a show does.
    pub fn close_block(&self, show: ShowId, block: BlockIndex) {
        self.items().blocks.entry((show, block)).or_default().closed = true;
    }
}

/// A whole application in memory, with its handles.
#[derive(Debug, Clone)]
pub struct MemoryWorld {
    pub app: App,
    pub store: Arc<MemoryStore>,
    pub queue: Arc<MemoryQueue>,
    pub clock: Arc<ManualClock>,
}

impl MemoryWorld {
    pub fn new(now: Millis) -> Self {
        let store = Arc::new(MemoryStore::default());
        let clock = Arc::new(ManualClock::new(now));
        let queue = Arc::new(MemoryQueue::new(clock.clone()));
        let entropy = Arc::new(FixedEntropy::default());
        let app = App::new(store.clone(), queue.clone(), clock.clone(), entropy);
        Self {
            app,
            store,
            queue,
            clock,
        }
    }
}
