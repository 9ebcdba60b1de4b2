//! Every key of the table, built from typed parts.
//!
//! The prefix of the partition key names the kind of item, which is also how IAM
//! policies limit each function (`dynamodb:LeadingKeys`). The sort key repeats it: one
//! item per partition, so that nothing shares a hot one.

mod indexes;
mod lists;
mod named;

pub use indexes::*;
pub use lists::*;
pub use named::{listed_audit, listed_fan, listed_session, listed_staff};

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use onsale_domain::account::Email;
use onsale_domain::block::BlockIndex;
use onsale_domain::ids::{
    AccountId, AuditId, EventId, ExportId, OrderId, ResetId, SessionId, ShowId, TicketId,
    TransferId, VenueId, VisitorId,
};
use onsale_domain::mail::MailId;
use onsale_domain::mailing::MailingId;
use onsale_domain::room::opaque::{EmailHash, FanBatchId, PassId};

/// Partition and sort key attributes.
pub const PK: &str = "pk";
pub const SK: &str = "sk";

const EVENT: &str = "EVT";
const ORDER: &str = "ORD";
const CANCELLATION: &str = "CXL";
const SANDBOX: &str = "SBX";
const FAN: &str = "FNE";
const SALE: &str = "SAL";
const EXPORT: &str = "EXP";
const SESSION: &str = "SES";
const RESET: &str = "RST";
const DELETION: &str = "DEL";
const STAFF: &str = "STF";
const AUDIT: &str = "AUD";
const TICKET: &str = "TKT";
const TRANSFER: &str = "TRF";
const GATE_COUNT: &str = "GTC";
const SCAN: &str = "SCN";
const MAIL: &str = "MAIL";
const MAILING: &str = "MLG";
const SHOW: &str = "SHW";
const WAITLIST: &str = "WLS";

/// The key of one item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub pk: String,
    pub sk: &'static str,
}

impl Key {
    fn new(kind: &'static str, rest: impl std::fmt::Display) -> Self {
        Self {
            pk: format!("{kind}#{rest}"),
            sk: kind,
        }
    }

    pub fn account(id: AccountId) -> Self {
        Self::new("ACC", id.simple())
    }

    /// Whose email this is.
    pub fn email(email: &Email) -> Self {
        Self::new("EML", email.as_str())
    }

    pub fn session(id: SessionId) -> Self {
        Self::new(SESSION, id.simple())
    }

    /// The epoch of an account's sessions, apart from the account: everybody who checks a
    /// session reads it, and nobody but `accounts` reads accounts.
    pub fn session_epoch(account: AccountId) -> Self {
        Self::new("SEP", account.simple())
    }

    /// A link to set a password.
    pub fn reset(id: ResetId) -> Self {
        Self::new(RESET, id.simple())
    }

    /// What is left to do of a deleted account.
    pub fn deletion(account: AccountId) -> Self {
        Self::new(DELETION, account.simple())
    }

    /// Whose staff an account is, and where.
    pub fn staff(account: AccountId) -> Self {
        Self::new(STAFF, account.simple())
    }

    /// An entry of an audit trail.
    pub fn audit(id: AuditId) -> Self {
        Self::new(AUDIT, id.simple())
    }

    pub fn venue(id: VenueId) -> Self {
        Self::new("VEN", id.simple())
    }

    /// The layout of a venue, apart from the venue because it is large.
    pub fn layout(id: VenueId) -> Self {
        Self::new("LAY", id.simple())
    }

    pub fn event(id: EventId) -> Self {
        Self::new(EVENT, id.simple())
    }

    pub fn show(id: ShowId) -> Self {
        Self::new(SHOW, id.simple())
    }

    pub fn block(show: ShowId, block: BlockIndex) -> Self {
        Self::new("BLK", format_args!("{}#{}", show.simple(), block.0))
    }

    pub fn buyer(show: ShowId, account: AccountId) -> Self {
        Self::new(
            "BUY",
            format_args!("{}#{}", show.simple(), account.simple()),
        )
    }

    /// Who uses a pass of a waiting room, and whether it is closed.
    pub fn pass(id: PassId) -> Self {
        Self::new("PAS", id)
    }

    pub fn map(show: ShowId) -> Self {
        Self::new("MAP", show.simple())
    }

    /// The lease on rebuilding a map, apart from the map because it is written often
    /// and the map is large.
    pub fn map_lease(show: ShowId) -> Self {
        Self::new("MPL", show.simple())
    }

    /// A hold that is being paid, or was, under the UUID of the hold.
    pub fn order(id: OrderId) -> Self {
        Self::new(ORDER, id.simple())
    }

    /// The right to enter for one place of an order.
    pub fn ticket(id: TicketId) -> Self {
        Self::new(TICKET, id.simple())
    }

    /// A ticket that goes from one owner to another.
    pub fn transfer(id: TransferId) -> Self {
        Self::new(TRANSFER, id.simple())
    }

    /// How many came in by a gate of a show.
    pub fn gate_count(show: ShowId, gate: &str) -> Self {
        Self::new(GATE_COUNT, format_args!("{}#{gate}", show.simple()))
    }

    /// A scan that its key names.
    pub fn scan(id: &str) -> Self {
        Self::new(SCAN, id)
    }

    /// How far the cancellation of a show is.
    pub fn cancellation(show: ShowId) -> Self {
        Self::new(CANCELLATION, show.simple())
    }

    /// A payment in the sandbox provider's own ledger.
    pub fn sandbox(id: &str) -> Self {
        Self::new(SANDBOX, id)
    }

    /// How many serials of fan codes a show has given out.
    pub fn fan_serials(show: ShowId) -> Self {
        Self::new("FAN", show.simple())
    }

    /// The fan codes that one request made.
    pub fn fan_batch(show: ShowId, id: FanBatchId) -> Self {
        Self::new("FNB", format_args!("{}#{id}", show.simple()))
    }

    /// Somebody who registered as a fan of a show. The address itself is no key: keys
    /// reach logs and metrics.
    pub fn fan(show: ShowId, email: EmailHash) -> Self {
        Self::new(FAN, format_args!("{}#{email}", show.simple()))
    }

    /// The newest part of a show's price log.
    pub fn price_log(show: ShowId) -> Self {
        Self::new("PRC", show.simple())
    }

    /// A part of it that is full.
    pub fn price_part(show: ShowId, part: u32) -> Self {
        Self::new("PRP", format_args!("{}#{part}", show.simple()))
    }

    /// The views of a show in a minute since 1970.
    pub fn views(show: ShowId, minute: u64) -> Self {
        Self::new("VWS", format_args!("{}#{minute}", show.simple()))
    }

    /// The lines of what a show sold, added up.
    pub fn sales_book(show: ShowId) -> Self {
        Self::new("SLB", show.simple())
    }

    /// How many of these lines came late.
    pub fn late_lines(show: ShowId) -> Self {
        Self::new("SLL", show.simple())
    }

    /// How far a list that an organiser takes away is.
    pub fn export(id: ExportId) -> Self {
        Self::new(EXPORT, id.simple())
    }

    /// The people in the room of a show, as the edge last counted them.
    pub fn room_figures(show: ShowId) -> Self {
        Self::new("RMF", show.simple())
    }

    /// The accounts that were seen on a device.
    pub fn device(id: VisitorId) -> Self {
        Self::new("DEV", id.simple())
    }

    /// A mail to one person about one piece of news.
    pub fn mail(id: &MailId) -> Self {
        Self::new(MAIL, id)
    }

    /// What came back of mails to an address.
    pub fn mail_feedback(email: EmailHash) -> Self {
        Self::new("BNC", email)
    }

    /// News for everybody with tickets of some shows of an event.
    pub fn mailing(id: MailingId) -> Self {
        let MailingId { event_id, version } = id;
        Self::new(MAILING, format_args!("{}#{version}", event_id.simple()))
    }

    /// The lease on building the search index anew.
    pub fn index_lease() -> Self {
        Self::new("IDX", "rebuild")
    }

    /// The entry of an account in the waitlist of a show.
    pub fn waitlist_entry(show: ShowId, account: AccountId) -> Self {
        Self::new(
            WAITLIST,
            format_args!("{}#{}", show.simple(), account.simple()),
        )
    }

    /// Who looks after a waitlist.
    pub fn waitlist_passes(show: ShowId) -> Self {
        Self::new("WLP", show.simple())
    }

    pub fn attributes(&self) -> HashMap<String, AttributeValue> {
        HashMap::from([
            (PK.to_owned(), AttributeValue::S(self.pk.clone())),
            (SK.to_owned(), AttributeValue::S(self.sk.to_owned())),
        ])
    }
}
