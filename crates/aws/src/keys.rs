//! Every key of the table, built from typed parts.
//!
//! The prefix of the partition key names the kind of item, which is also how IAM
//! policies limit each function (`dynamodb:LeadingKeys`). The sort key repeats it: one
//! item per partition, so that nothing shares a hot one.

mod lists;

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

pub use lists::*;

/// Partition and sort key attributes.
pub const PK: &str = "pk";
pub const SK: &str = "sk";
/// Lists that belong to an account.
pub const BY_OWNER: Index = Index {
    name: "gsi1",
    pk: "gsi1pk",
    sk: "gsi1sk",
};
/// Lists that belong to everybody.
pub const BY_LIST: Index = Index {
    name: "gsi2",
    pk: "gsi2pk",
    sk: "gsi2sk",
};
/// The partition of the public catalogue in `BY_LIST`.
pub const PUBLIC_EVENTS: &str = "EVENTS";
/// Lists of what was bought and of passes that ended, by time. Keys only.
pub const BY_BUYER: Index = Index {
    name: "gsi3",
    pk: "gsi3pk",
    sk: "gsi3sk",
};
/// The partition of the sandbox's payments in `BY_BUYER`.
pub const SANDBOX_PAYMENTS: &str = "SANDBOX";
/// What a saga still has to work on. Keys only, and sparse: whatever has ended is not
/// in it.
pub const BY_WORK: Index = Index {
    name: "gsi4",
    pk: "gsi4pk",
    sk: "gsi4sk",
};
/// The partition of cancellations in `BY_WORK`.
pub const OPEN_CANCELLATIONS: &str = "OPENCXL";
/// The partition of events in `BY_WORK` that changed since they were indexed.
pub const UNINDEXED_EVENTS: &str = "UNINDEXED";
/// The partition of resets that were not announced in `BY_WORK`.
pub const OPEN_RESETS: &str = "OPENRST";
/// The partition of deletions in `BY_WORK`.
pub const OPEN_DELETIONS: &str = "OPENDEL";
/// The partition of transfers that the world was not told of, in `BY_WORK`.
pub const UNTOLD_TRANSFERS: &str = "UNTOLD";
/// The partition of mailings in `BY_WORK`.
pub const OPEN_MAILINGS: &str = "OPENMLG";
/// The partition of parked mails in `BY_WORK`. There are few, or the mail service takes
/// none, and then no more than it could send.
pub const PARKED_MAILS: &str = "PARKEDMAIL";
/// The partition of shows with a waitlist in `BY_WORK`.
pub const OPEN_WAITLISTS: &str = "OPENWLS";
/// Open orders are spread over this many partitions of `BY_WORK`: an order enters and
/// leaves once each, and a partition takes 1,000 writes a second, so 16 of them carry
/// some 8,000 orders a second.
pub const WORK_SHARDS: u8 = 16;

#[derive(Debug, Clone, Copy)]
pub struct Index {
    pub name: &'static str,
    pub pk: &'static str,
    pub sk: &'static str,
}

const EVENT: &str = "EVT";
const ORDER: &str = "ORD";
const CANCELLATION: &str = "CXL";
const SANDBOX: &str = "SBX";
const FAN: &str = "FNE";
const SALE: &str = "SAL";
const EXPORT: &str = "EXP";
/// The partition of exports in `BY_WORK`.
pub const OPEN_EXPORTS: &str = "OPENEXP";
/// The lines of what a show sold are spread over this many partitions: each takes 1,000
/// writes a second, and whoever reads asks all of them.
pub const SALE_PARTS: u8 = 4;
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

    /// The number of the block that a partition key names.
    pub fn block_index(pk: &str) -> Option<BlockIndex> {
        let mut parts = pk.strip_prefix("BLK#")?.split('#');
        parts.nth(1)?.parse().ok().map(BlockIndex)
    }

    /// The event that a partition key names.
    pub fn event_id(pk: &str) -> Option<EventId> {
        let digits = named(pk, EVENT)?;
        format!("{}_{digits}", EventId::PREFIX).parse().ok()
    }

    /// The order that a partition key names.
    pub fn order_id(pk: &str) -> Option<OrderId> {
        let digits = named(pk, ORDER)?;
        format!("{}_{digits}", OrderId::PREFIX).parse().ok()
    }

    /// The ticket that a partition key names.
    pub fn ticket_id(pk: &str) -> Option<TicketId> {
        let digits = named(pk, TICKET)?;
        format!("{}_{digits}", TicketId::PREFIX).parse().ok()
    }

    /// The transfer that a partition key names.
    pub fn transfer_id(pk: &str) -> Option<TransferId> {
        let digits = named(pk, TRANSFER)?;
        format!("{}_{digits}", TransferId::PREFIX).parse().ok()
    }

    /// The gate whose count a partition key names.
    pub fn counted_gate(pk: &str) -> Option<&str> {
        named(pk, GATE_COUNT)?.split_once('#').map(|(_, gate)| gate)
    }

    /// The export that a partition key names.
    pub fn export_id(pk: &str) -> Option<ExportId> {
        let digits = named(pk, EXPORT)?;
        format!("{}_{digits}", ExportId::PREFIX).parse().ok()
    }

    /// The show whose cancellation a partition key names.
    pub fn cancelled_show(pk: &str) -> Option<ShowId> {
        let digits = named(pk, CANCELLATION)?;
        format!("{}_{digits}", ShowId::PREFIX).parse().ok()
    }

    /// The reset that a partition key names.
    pub fn reset_id(pk: &str) -> Option<ResetId> {
        let digits = named(pk, RESET)?;
        format!("{}_{digits}", ResetId::PREFIX).parse().ok()
    }

    /// The account whose deletion a partition key names.
    pub fn deleted_account(pk: &str) -> Option<AccountId> {
        let digits = named(pk, DELETION)?;
        format!("{}_{digits}", AccountId::PREFIX).parse().ok()
    }

    /// The show of the fan that a partition key names.
    pub fn fan_show(pk: &str) -> Option<ShowId> {
        let (digits, _) = named(pk, FAN)?.split_once('#')?;
        format!("{}_{digits}", ShowId::PREFIX).parse().ok()
    }

    /// The mail that a partition key names.
    pub fn mail_id(pk: &str) -> Option<MailId> {
        named(pk, MAIL).map(MailId::stored)
    }

    /// The mailing that a partition key names.
    pub fn mailing_id(pk: &str) -> Option<MailingId> {
        let (digits, version) = named(pk, MAILING)?.split_once('#')?;
        Some(MailingId {
            event_id: format!("{}_{digits}", EventId::PREFIX).parse().ok()?,
            version: version.parse().ok()?,
        })
    }

    /// The show that a partition key names.
    pub fn show_id(pk: &str) -> Option<ShowId> {
        let digits = named(pk, SHOW)?;
        format!("{}_{digits}", ShowId::PREFIX).parse().ok()
    }

    /// The entry of a waitlist that a partition key names.
    pub fn listed_waitlist_entry(pk: &str) -> Option<Self> {
        named(pk, WAITLIST).map(|rest| Self::new(WAITLIST, rest))
    }

    /// Whose entry in a waitlist a partition key names.
    pub fn waitlist_account(pk: &str) -> Option<AccountId> {
        let (_, digits) = named(pk, WAITLIST)?.split_once('#')?;
        format!("{}_{digits}", AccountId::PREFIX).parse().ok()
    }

    /// The payment of the sandbox that a partition key names.
    pub fn sandbox_id(pk: &str) -> Option<&str> {
        named(pk, SANDBOX)
    }
}

/// The key that a partition key of a fan names.
pub fn listed_fan(pk: &str) -> Option<Key> {
    named(pk, FAN).map(|rest| Key::new(FAN, rest))
}

/// The key that a partition key of a session names.
pub fn listed_session(pk: &str) -> Option<Key> {
    named(pk, SESSION).map(|rest| Key::new(SESSION, rest))
}

/// The key that a partition key of staff names.
pub fn listed_staff(pk: &str) -> Option<Key> {
    named(pk, STAFF).map(|rest| Key::new(STAFF, rest))
}

/// The key that a partition key of an audit entry names.
pub fn listed_audit(pk: &str) -> Option<Key> {
    named(pk, AUDIT).map(|rest| Key::new(AUDIT, rest))
}

/// What follows the kind in a partition key.
fn named<'a>(pk: &'a str, kind: &str) -> Option<&'a str> {
    pk.strip_prefix(kind)?.strip_prefix('#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_may_have_any_name() {
        let key = Key::gate_count(ShowId::from_bytes([1; 16]), "#1 north");
        assert_eq!(Key::counted_gate(&key.pk), Some("#1 north"));
    }
}
