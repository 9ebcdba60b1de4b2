//! Every key of the table, built from typed parts.
//!
//! The prefix of the partition key names the kind of item, which is also how IAM policies limit
//! each function (`dynamodb:LeadingKeys`). The sort key repeats it: one item per partition, so
//! that nothing shares a hot one. Keys of documents follow from their kind and id
//! (`documents.rs`); these are the others.

use onsale_domain::account::Email;
use onsale_domain::block::BlockIndex;
use onsale_domain::ids::{AccountId, OrderId, ShowId, VenueId, VisitorId};
use onsale_domain::room::opaque::{EmailHash, FanBatchId, PassId};
use onsale_table::Key;

/// The lines of what a show sold are spread over this many partitions: each takes 1,000 writes a
/// second, and a reader asks all of them.
pub const SALE_PARTS: u8 = 4;

/// The key of an item of this kind.
pub(crate) fn of(kind: &'static str, rest: impl std::fmt::Display) -> Key {
    Key::new(format!("{kind}#{rest}"), kind)
}

/// What follows the kind in a partition key.
pub(crate) fn rest<'a>(key: &'a Key, kind: &str) -> Option<&'a str> {
    key.pk.strip_prefix(kind)?.strip_prefix('#')
}

pub const SESSION: &str = "SES";
pub const FAN: &str = "FNE";
pub const BLOCK: &str = "BLK";
pub const BUYER: &str = "BUY";
pub const PASS: &str = "PAS";
pub const AUDIT: &str = "AUD";
pub const GATE_COUNT: &str = "GTC";
pub const SANDBOX: &str = "SBX";

pub fn account(id: AccountId) -> Key {
    of("ACC", id.simple())
}

/// Whose email this is.
pub fn email(email: &Email) -> Key {
    of("EML", email.as_str())
}

/// The epoch of an account's sessions, apart from the account: everybody who checks a session
/// reads it, and nobody but `accounts` reads accounts.
pub fn session_epoch(account: AccountId) -> Key {
    of("SEP", account.simple())
}

/// The layout of a venue, apart from the venue because it is large.
pub fn layout(id: VenueId) -> Key {
    of("LAY", id.simple())
}

pub fn block(show: ShowId, block: BlockIndex) -> Key {
    of(BLOCK, format_args!("{}#{}", show.simple(), block.0))
}

/// The number of the block that a key names.
pub fn block_index(key: &Key) -> Option<BlockIndex> {
    let (_, index) = rest(key, BLOCK)?.split_once('#')?;
    index.parse().ok().map(BlockIndex)
}

pub fn buyer(show: ShowId, account: AccountId) -> Key {
    of(
        BUYER,
        format_args!("{}#{}", show.simple(), account.simple()),
    )
}

/// Who uses a pass of a waiting room, and whether it is closed.
pub fn pass(id: PassId) -> Key {
    of(PASS, id)
}

pub fn map(show: ShowId) -> Key {
    of("MAP", show.simple())
}

/// The lease on rebuilding a map, apart from the map because it is written often and the map is
/// large.
pub fn map_lease(show: ShowId) -> Key {
    of("MPL", show.simple())
}

/// How many came in by a gate of a show.
pub fn gate_count(show: ShowId, gate: &str) -> Key {
    of(GATE_COUNT, format_args!("{}#{gate}", show.simple()))
}

/// The gate whose count a key names.
pub fn counted_gate(key: &Key) -> Option<&str> {
    rest(key, GATE_COUNT)?.split_once('#').map(|(_, gate)| gate)
}

/// A scan that its key names.
pub fn scan(id: &str) -> Key {
    of("SCN", id)
}

/// A payment in the sandbox provider's own ledger.
pub fn sandbox(id: &str) -> Key {
    of(SANDBOX, id)
}

/// How many serials of fan codes a show has given out.
pub fn fan_serials(show: ShowId) -> Key {
    of("FAN", show.simple())
}

/// The fan codes that one request made.
pub fn fan_batch(show: ShowId, id: FanBatchId) -> Key {
    of("FNB", format_args!("{}#{id}", show.simple()))
}

/// A person who registered as a fan of a show. The address itself is no key: keys reach logs and
/// metrics.
pub fn fan(show: ShowId, email: EmailHash) -> Key {
    of(FAN, format_args!("{}#{email}", show.simple()))
}

/// The show of the fan that a key names.
pub fn fan_show(key: &Key) -> Option<ShowId> {
    let (digits, _) = rest(key, FAN)?.split_once('#')?;
    format!("{}_{digits}", ShowId::PREFIX).parse().ok()
}

/// The newest part of a show's price log.
pub fn price_log(show: ShowId) -> Key {
    of("PRC", show.simple())
}

/// A part of a price log that is full.
pub fn price_part(show: ShowId, part: u32) -> Key {
    of("PRP", format_args!("{}#{part}", show.simple()))
}

/// The views of a show in a minute since 1970.
pub fn views(show: ShowId, minute: u64) -> Key {
    of("VWS", format_args!("{}#{minute}", show.simple()))
}

/// A partition of the lines of what a show sold. Within it they are sorted by time: the one kind
/// of item that shares its partition, because it is only ever read in lists.
pub fn sale_lines(show: ShowId, part: u8) -> String {
    format!("SAL#{}#{part}", show.simple())
}

/// The partition that has the lines of an order.
pub fn sale_part(order: OrderId) -> u8 {
    order.as_bytes()[15] % SALE_PARTS
}

/// The number of lines of a show that came late.
pub fn late_lines(show: ShowId) -> Key {
    of("SLL", show.simple())
}

/// The people in the room of a show, as the edge last counted them.
pub fn room_figures(show: ShowId) -> Key {
    of("RMF", show.simple())
}

/// The accounts that were seen on a device.
pub fn device(id: VisitorId) -> Key {
    of("DEV", id.simple())
}

/// What came back of mails to an address.
pub fn mail_feedback(email: EmailHash) -> Key {
    of("BNC", email)
}

/// The lease on building the search index anew.
pub fn index_lease() -> Key {
    of("IDX", "rebuild")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_may_have_any_name() {
        let key = gate_count(ShowId::from_bytes([1; 16]), "#1 north");
        assert_eq!(counted_gate(&key), Some("#1 north"));
    }

    #[test]
    fn a_block_is_known_by_its_key() {
        let key = block(ShowId::from_bytes([1; 16]), BlockIndex(3124));
        assert_eq!(block_index(&key), Some(BlockIndex(3124)));
    }
}
