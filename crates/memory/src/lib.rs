//! The ports in memory: deterministic, one lock, no time and no randomness of its own.
//!
//! It keeps the same promises as the DynamoDB adapter; one contract suite runs against
//! both. Simulations and unit tests stand on it.

mod accounts;
mod audit;
mod catalogue;
mod devices;
mod exports;
mod fans;
mod gate;
mod gates;
mod index_work;
mod interruption;
mod mails;
mod objects;
mod orders;
mod passes;
mod payments;
mod prices;
mod returns;
mod sales;
mod search_index;
mod seats;
pub mod stage;
mod transfers;
mod waitlists;
mod world;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use onsale_app::ports::{
    Credentials, Drive, ExpireHold, KeptScan, Notify, OfferPlaces, Post, Session, StoreError,
    Stored, Versioned, WriteExport,
};
use onsale_app::unplugged::Unplugged;
use onsale_app::{App, Ports};
use onsale_domain::account::Email;
use onsale_domain::audit::AuditEntry;
use onsale_domain::block::{BlockIndex, BlockState};
use onsale_domain::buyer::Buyer;
use onsale_domain::cancellation::Cancellation;
use onsale_domain::deletion::Deletion;
use onsale_domain::event::Event;
use onsale_domain::export::Export;
use onsale_domain::ids::{
    AccountId, AuditId, EventId, ExportId, OrderId, ResetId, SessionId, ShowId, TicketId,
    TransferId, VenueId, VisitorId,
};
use onsale_domain::language::Language;
use onsale_domain::layout::Layout;
use onsale_domain::mail::{Mail, MailId};
use onsale_domain::mailing::{Mailing, MailingId};
use onsale_domain::map::SeatMap;
use onsale_domain::order::Order;
use onsale_domain::password_reset::Reset;
use onsale_domain::pricing::PriceLog;
use onsale_domain::request_hash::RequestHash;
use onsale_domain::room::fans::{Fan, FanBatch};
use onsale_domain::room::opaque::{EmailHash, FanBatchId, PassId};
use onsale_domain::sales::{RoomFigures, SaleLine, SalesBook};
use onsale_domain::show::{Show, Waitlist};
use onsale_domain::staff::Staff;
use onsale_domain::ticket::Ticket;
use onsale_domain::ticket_code::TicketKey;
use onsale_domain::time::Millis;
use onsale_domain::transfer::Transfer;
use onsale_domain::venue::Venue;
use onsale_domain::waitlist::{Passes, WaitlistEntry};
use onsale_payments::{Pace, Sandbox};

pub use gate::{Fault, Gate};
pub use interruption::Step;
pub use mails::{MemoryMailer, PlainWriter};
pub use objects::MemoryObjects;
pub use payments::GatedPayments;
pub use search_index::MemoryIndex;
pub use world::{FixedEntropy, ManualClock, MemoryBus, MemoryQueue};

#[derive(Debug, Default)]
struct Items {
    accounts: HashMap<AccountId, Credentials>,
    emails: HashMap<Email, AccountId>,
    sessions: HashMap<SessionId, Session>,
    epochs: HashMap<AccountId, u32>,
    deletions: BTreeMap<AccountId, Versioned<Deletion>>,
    resets: BTreeMap<ResetId, Versioned<Reset>>,
    staff: BTreeMap<AccountId, Versioned<Staff>>,
    audit: BTreeMap<AuditId, AuditEntry>,
    venues: HashMap<VenueId, (Venue, Layout, Option<RequestHash>)>,
    events: BTreeMap<EventId, (Versioned<Event>, Option<RequestHash>)>,
    shows: HashMap<ShowId, (Versioned<Show>, Option<RequestHash>)>,
    blocks: HashMap<(ShowId, BlockIndex), BlockState>,
    buyers: HashMap<(ShowId, AccountId), Buyer>,
    passes: BTreeMap<PassId, passes::StoredPass>,
    maps: HashMap<ShowId, SeatMap>,
    leases: HashMap<ShowId, Millis>,
    orders: BTreeMap<OrderId, Versioned<Order>>,
    cancellations: BTreeMap<ShowId, Versioned<Cancellation>>,
    tickets: BTreeMap<TicketId, Versioned<Ticket>>,
    sandbox: BTreeMap<String, (Millis, Versioned<String>)>,
    fan_serials: HashMap<ShowId, u32>,
    fan_batches: HashMap<(ShowId, FanBatchId), FanBatch>,
    fans: HashMap<(ShowId, EmailHash), Fan>,
    devices: HashMap<VisitorId, devices::Seen>,
    price_logs: BTreeMap<ShowId, Versioned<PriceLog>>,
    price_parts: BTreeMap<(ShowId, u32), PriceLog>,
    views: HashMap<(ShowId, u64), u64>,
    gates: BTreeMap<(ShowId, String), i64>,
    scans: BTreeMap<String, KeptScan>,
    transfers: BTreeMap<TransferId, Versioned<Transfer>>,
    mails: BTreeMap<MailId, Versioned<Mail>>,
    feedback: HashMap<Email, onsale_domain::feedback::Feedback>,
    mailings: BTreeMap<MailingId, Versioned<Mailing>>,
    sale_lines: HashMap<ShowId, BTreeMap<String, SaleLine>>,
    late_lines: HashMap<ShowId, u64>,
    sales_books: HashMap<ShowId, Versioned<SalesBook>>,
    room_figures: HashMap<ShowId, RoomFigures>,
    exports: BTreeMap<ExportId, Versioned<Export>>,
    unindexed: BTreeSet<EventId>,
    rebuild_lease: Option<([u8; 16], Millis)>,
    waitlist: BTreeMap<(ShowId, AccountId), Versioned<WaitlistEntry>>,
    waitlist_marks: BTreeMap<ShowId, Waitlist>,
    waitlist_passes: HashMap<ShowId, Versioned<Passes>>,
}

pub(crate) fn corrupt(what: &str) -> StoreError {
    StoreError::Corrupt(what.to_owned())
}

pub(crate) fn no_answer() -> StoreError {
    StoreError::Unavailable("as planned".to_owned())
}

#[derive(Debug, Default)]
pub struct MemoryStore {
    items: Mutex<Items>,
    interruptions: interruption::Interruptions,
    gate: Arc<Gate>,
}

impl MemoryStore {
    fn items(&self) -> MutexGuard<'_, Items> {
        // Every change is made whole under the lock, so a panic elsewhere leaves
        // nothing half done.
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn pass<T>(
        &self,
        name: &'static str,
        call: impl Future<Output = Stored<T>>,
    ) -> Stored<T> {
        self.gate.pass(name, no_answer, call).await
    }

    /// Closes a block, as cancelling a show does.
    pub fn close_block(&self, show: ShowId, block: BlockIndex) {
        self.items().blocks.entry((show, block)).or_default().closed = true;
    }

    /// Loses a ticket, as nothing but an accident does.
    pub fn lose_ticket(&self, id: TicketId) {
        self.items().tickets.remove(&id);
    }
}

/// A whole application in memory, with its handles.
#[derive(Debug, Clone)]
pub struct MemoryWorld {
    pub app: App,
    pub store: Arc<MemoryStore>,
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
    pub payments: Arc<GatedPayments<Sandbox>>,
    pub gate: Arc<Gate>,
    pub clock: Arc<ManualClock>,
}

impl MemoryWorld {
    pub fn new(now: Millis) -> Self {
        let gate = Arc::new(Gate::default());
        let store = Arc::new(MemoryStore {
            gate: gate.clone(),
            ..MemoryStore::default()
        });
        let clock = Arc::new(ManualClock::new(now));
        let queue = Arc::new(MemoryQueue::new(clock.clone(), gate.clone()));
        let saga_queue = Arc::new(MemoryQueue::new(clock.clone(), gate.clone()));
        let notify_queue = Arc::new(MemoryQueue::new(clock.clone(), gate.clone()));
        let mailer = Arc::new(MemoryMailer::new(gate.clone()));
        let post = Post {
            mailer: mailer.clone(),
            writer: Arc::new(PlainWriter),
            language: Language::En,
        };
        let export_queue = Arc::new(MemoryQueue::new(clock.clone(), gate.clone()));
        let waitlist_queue = Arc::new(MemoryQueue::new(clock.clone(), gate.clone()));
        let bus = Arc::new(MemoryBus::new(gate.clone()));
        let objects = Arc::new(MemoryObjects::new(clock.clone(), gate.clone()));
        let search_index = Arc::new(MemoryIndex::new(gate.clone()));
        let sandbox = Sandbox::new(store.clone(), clock.clone(), Pace::NONE);
        let payments = Arc::new(GatedPayments::new(sandbox, gate.clone()));
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
            entropy: Arc::new(FixedEntropy::default()),
        });
        Self {
            app,
            store,
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
            gate,
            clock,
        }
    }
}
