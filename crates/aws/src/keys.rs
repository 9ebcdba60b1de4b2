//! Every key of the table, built from typed parts.
//!
//! The prefix of the partition key names the kind of item, which is also how IAM
//! policies limit each function (`dynamodb:LeadingKeys`). The sort key repeats it: one
//! item per partition, so that nothing shares a hot one.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use onsale_app::ports::{EntryRight, GateChange};
use onsale_domain::account::Email;
use onsale_domain::block::BlockIndex;
use onsale_domain::gate::Conflict;
use onsale_domain::ids::{
    AccountId, AuditId, EventId, ExportId, OrderId, ResetId, SessionId, ShowId, TicketId,
    TransferId, VenueId, VisitorId, WaitlistId,
};
use onsale_domain::mail::MailId;
use onsale_domain::mailing::MailingId;
use onsale_domain::room::opaque::{EmailHash, FanBatchId, PassId};
use onsale_domain::time::Millis;
use onsale_domain::waitlist::Wish;

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

/// The partition of a buyer's orders in `BY_BUYER`.
pub fn buyer_orders(account: AccountId) -> String {
    format!("BUYER#{}", account.simple())
}

/// The partition of a show's ended passes in `BY_BUYER`. It takes 1,000 of them a second,
/// as many as a show confirms orders.
pub fn ended_passes(show: ShowId) -> String {
    format!("ENDED#{}", show.simple())
}

/// The partition of the fans of a show in `BY_BUYER`.
pub fn fans_of(show: ShowId) -> String {
    format!("FANS#{}", show.simple())
}

/// A partition of the lines of what a show sold. Within it they are sorted by time: the one
/// kind of item that shares its partition, because it is only ever read in lists.
pub fn sale_lines(show: ShowId, part: u8) -> String {
    format!("{SALE}#{}#{part}", show.simple())
}

/// Which of them the lines of an order are in.
pub fn sale_part(order: OrderId) -> u8 {
    order.as_bytes()[15] % SALE_PARTS
}

/// The partition of an address's registrations as a fan in `BY_OWNER`.
pub fn fan_of(email: EmailHash) -> String {
    format!("FAN#{email}")
}

/// The partition of an account's sessions in `BY_BUYER`.
pub fn sessions_of(account: AccountId) -> String {
    format!("SESSIONS#{}", account.simple())
}

/// The partition of an organiser's staff in `BY_BUYER`.
pub fn staff_of(organiser: AccountId) -> String {
    format!("STAFF#{}", organiser.simple())
}

/// The partition of a show's audit trail in `BY_BUYER`.
pub fn audit_of(show: ShowId) -> String {
    format!("AUDIT#{}", show.simple())
}

/// The partition of the tickets that an account has, in `BY_BUYER`.
pub fn tickets_of(account: AccountId) -> String {
    format!("TICKETS#{}", account.simple())
}

/// The partition of the gates of a show in `BY_BUYER`.
pub fn gates_of(show: ShowId) -> String {
    format!("GATES#{}", show.simple())
}

/// The partition of what gates of a show must know, in `BY_WORK`. It takes 1,000 changes a
/// second; 10,000 scans a minute are 167.
pub fn gate_log(show: ShowId) -> String {
    format!("GATE#{}", show.simple())
}

/// The partition of tickets of a show that somebody has to look at, in `BY_LIST`.
pub fn conflicts_of(show: ShowId, kind: Conflict) -> String {
    let kind = match kind {
        Conflict::Double => "DOUBLE",
        Conflict::Revoked => "ENTERED",
    };
    format!("{kind}#{}", show.simple())
}

/// The partition of what an account offered, in `BY_BUYER`.
pub fn sent_by(account: AccountId) -> String {
    format!("SENT#{}", account.simple())
}

/// The partition of what was offered to an address, in `BY_OWNER`.
pub fn offered_to(email: EmailHash) -> String {
    format!("TO#{email}")
}

/// Where a change stands in the log of a show's gates. It says all there is to know, so
/// that reading the log reads no ticket.
pub fn gate_place(changed: Millis, ticket: TicketId, right: &EntryRight) -> String {
    let right = match right {
        EntryRight::Used { at, gate } => format!("U{:015}{gate}", at.0),
        EntryRight::Revoked => "R".to_owned(),
        EntryRight::GoodAgain => "V".to_owned(),
    };
    by_time(changed, format_args!("{}#{right}", ticket.simple()))
}

/// What such a place says.
pub fn read_gate_place(place: &str) -> Option<GateChange> {
    let (_, rest) = read_by_time(place)?;
    let (digits, right) = rest.split_once('#')?;
    let right = match (right.get(..1)?, right.get(1..)?) {
        ("U", used) => EntryRight::Used {
            at: Millis(used.get(..15)?.parse().ok()?),
            gate: used.get(15..)?.to_owned(),
        },
        ("R", "") => EntryRight::Revoked,
        ("V", "") => EntryRight::GoodAgain,
        _ => return None,
    };
    let ticket = format!("{}_{digits}", TicketId::PREFIX).parse().ok()?;
    Some(GateChange { ticket, right })
}

/// Which partition of open orders an order belongs to. The last byte is random or hashed
/// in every kind of id.
pub fn work_shard(order: OrderId) -> u8 {
    order.as_bytes()[15] % WORK_SHARDS
}

/// A partition of open orders in `BY_WORK`.
pub fn open_orders(shard: u8) -> String {
    format!("OPEN#{shard:02}")
}

/// Which partition of open mails a mail belongs to.
pub fn mail_shard(id: &MailId) -> u8 {
    let bytes = id.as_str().bytes();
    bytes.fold(0u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte)) % WORK_SHARDS
}

/// A partition of open mails in `BY_WORK`.
pub fn open_mails(shard: u8) -> String {
    format!("OPENMAIL#{shard:02}")
}

/// A partition of those who wait for a show in `BY_WORK`. A crowd that joins when a show
/// sells out is spread over them by account.
pub fn waiting(show: ShowId, shard: u8) -> String {
    format!("WAIT#{}#{shard:02}", show.simple())
}

/// Which partition of a waitlist an account belongs to.
pub fn waiting_shard(account: AccountId) -> u8 {
    account.as_bytes()[15] % WORK_SHARDS
}

/// The partition of those who have an offer for a show in `BY_WORK`.
pub fn offered(show: ShowId) -> String {
    format!("OFFERED#{}", show.simple())
}

/// Where somebody stands in a line. It says what they wait for as well, so that a pass
/// over a long line reads one list and not every entry.
pub fn waiting_place(joined: Millis, id: WaitlistId, wish: &Wish) -> String {
    let together = if wish.together { 't' } else { 'a' };
    let sections: String = wish.sections.iter().map(|s| format!("{s:02x}")).collect();
    let turn = by_time(joined, id.simple());
    format!("{turn}#{}{together}#{sections}", wish.quantity)
}

/// What such a place says.
pub fn read_waiting_place(place: &str) -> Option<(Millis, WaitlistId, Wish)> {
    let (joined, rest) = read_by_time(place)?;
    let mut parts = rest.split('#');
    let id = format!("{}_{}", WaitlistId::PREFIX, parts.next()?);
    let wish = parts.next()?;
    let (quantity, together) = match wish.strip_suffix('t') {
        Some(quantity) => (quantity, true),
        None => (wish.strip_suffix('a')?, false),
    };
    let sections = parts.next()?;
    let number = |at: usize| u8::from_str_radix(sections.get(at..at + 2)?, 16).ok();
    let sections = (0..sections.len()).step_by(2).map(number);
    let wish = Wish {
        quantity: quantity.parse().ok()?,
        together,
        sections: sections.collect::<Option<_>>()?,
    };
    Some((joined, id.parse().ok()?, wish))
}

pub fn owner(account: AccountId) -> String {
    format!("ORG#{}", account.simple())
}

/// Sorts by time, then by id.
pub fn by_time(created: Millis, id: impl std::fmt::Display) -> String {
    format!("{:015}#{id}", created.0)
}

/// The time and the id of such a place.
pub fn read_by_time(place: &str) -> Option<(Millis, &str)> {
    let (time, id) = place.split_once('#')?;
    Some((Millis(time.parse().ok()?), id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_log_of_gates_says_what_was_written() {
        let ticket = TicketId::from_bytes([0xab; 16]);
        let used = |gate: &str| EntryRight::Used {
            at: Millis(1_800_000_000_000),
            gate: gate.to_owned(),
        };
        let rights = [
            used("north"),
            used("#1 Südtor 🎟"),
            EntryRight::Revoked,
            EntryRight::GoodAgain,
        ];
        for right in rights {
            let place = gate_place(Millis(7), ticket, &right);
            assert_eq!(
                read_gate_place(&place),
                Some(GateChange { ticket, right }),
                "{place}"
            );
        }
        for wrong in ["", "7", "000000000000007#ab#R", "000000000000007#"] {
            assert_eq!(read_gate_place(wrong), None, "{wrong}");
        }
        let key = Key::gate_count(ShowId::from_bytes([1; 16]), "#1 north");
        assert_eq!(Key::counted_gate(&key.pk), Some("#1 north"));
    }
}
