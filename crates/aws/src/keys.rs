//! Every key of the table, built from typed parts.
//!
//! The prefix of the partition key names the kind of item, which is also how IAM
//! policies limit each function (`dynamodb:LeadingKeys`). The sort key repeats it: one
//! item per partition, so that nothing shares a hot one.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use onsale_domain::account::Email;
use onsale_domain::block::BlockIndex;
use onsale_domain::ids::{
    AccountId, EventId, OrderId, SessionId, ShowId, TicketId, VenueId, VisitorId, WaitlistId,
};
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

const ORDER: &str = "ORD";
const CANCELLATION: &str = "CXL";
const SANDBOX: &str = "SBX";
const FAN: &str = "FNE";
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
        Self::new("SES", id.simple())
    }

    pub fn venue(id: VenueId) -> Self {
        Self::new("VEN", id.simple())
    }

    /// The layout of a venue, apart from the venue because it is large.
    pub fn layout(id: VenueId) -> Self {
        Self::new("LAY", id.simple())
    }

    pub fn event(id: EventId) -> Self {
        Self::new("EVT", id.simple())
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
        Self::new("TKT", id.simple())
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

    /// The accounts that were seen on a device.
    pub fn device(id: VisitorId) -> Self {
        Self::new("DEV", id.simple())
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

    /// The order that a partition key names.
    pub fn order_id(pk: &str) -> Option<OrderId> {
        let digits = named(pk, ORDER)?;
        format!("{}_{digits}", OrderId::PREFIX).parse().ok()
    }

    /// The show whose cancellation a partition key names.
    pub fn cancelled_show(pk: &str) -> Option<ShowId> {
        let digits = named(pk, CANCELLATION)?;
        format!("{}_{digits}", ShowId::PREFIX).parse().ok()
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

/// Which partition of open orders an order belongs to. The last byte is random or hashed
/// in every kind of id.
pub fn work_shard(order: OrderId) -> u8 {
    order.as_bytes()[15] % WORK_SHARDS
}

/// A partition of open orders in `BY_WORK`.
pub fn open_orders(shard: u8) -> String {
    format!("OPEN#{shard:02}")
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
