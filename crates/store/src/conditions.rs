//! The conditions that writes carry, by name; each says when it holds. Those of cells are with
//! the cells (`blocks.rs`).

use onsale_domain::ids::AccountId;
use onsale_domain::request_hash::RequestHash;
use onsale_domain::time::Millis;
use onsale_table::{Condition, Value};

use crate::attributes::{FORGET_AT, REQUEST, VERSION, seconds};

/// The attribute that cancelling a show sets on every block, and closing a pass on it.
pub(crate) const CLOSED: &str = "x";
/// Marks an account that was deleted. Its item stays, so that its id is never used again.
pub(crate) const GONE: &str = "gone";
/// The epoch of an account, or of a session.
pub(crate) const EPOCH: &str = "ep";

/// Holds when the item still is at the version that was read.
pub(crate) fn is_at_version(read: u64) -> Condition {
    Condition::equal(VERSION, read)
}

/// Holds when the account exists and was not deleted.
pub(crate) fn is_alive() -> Condition {
    Condition::Exists.and(Condition::lacks(GONE))
}

/// Holds when the account was not deleted, and is at the epoch that was read. An account that
/// never had another epoch than the first may lack the attribute.
pub(crate) fn is_at_epoch(read: u32) -> Condition {
    let at = Condition::equal(EPOCH, read);
    match read {
        0 => is_alive().and(Condition::lacks(EPOCH).or(at)),
        _ => at.and(Condition::lacks(GONE)),
    }
}

/// Holds when the item belongs to this account.
pub(crate) fn belongs_to(account: AccountId) -> Condition {
    Condition::equal("acc", account.to_string())
}

/// Holds when nothing is stored under this attribute, or a smaller number: what is written is
/// newer.
pub(crate) fn is_newer(attribute: &'static str, number: u64) -> Condition {
    Condition::lacks(attribute).or(Condition::below(attribute, number))
}

/// Holds when nobody has the lease, or their time is over.
pub(crate) fn lease_is_free(now: Millis) -> Condition {
    Condition::lacks("til").or(Condition::at_most("til", now.0))
}

/// Holds when nobody has the lease, or this holder has it, or its time is over.
pub(crate) fn lease_is_free_or_mine(now: Millis, holder: [u8; 16]) -> Condition {
    lease_is_free(now).or(Condition::equal("hld", holder))
}

/// Holds when nobody has used the pass, or this account has and it is open.
pub(crate) fn pass_is_free_or_mine(account: AccountId) -> Condition {
    Condition::New.or(belongs_to(account).and(pass_is_open()))
}

/// Holds when the pass was not closed, used or not.
pub(crate) fn pass_is_open() -> Condition {
    Condition::lacks(CLOSED)
}

/// Holds when at most this many serials of fan codes were given out.
pub(crate) fn serials_are_left(room: u32) -> Condition {
    Condition::lacks("n").or(Condition::at_most("n", room))
}

/// Holds when the window of a device is not over, and it has room for the account or knows it.
pub(crate) fn device_takes(account: &str, most: u64, now: Millis) -> Condition {
    let room = Condition::SmallerThan("accs".into(), most);
    let knows = Condition::Contains("accs".into(), account.to_owned());
    let open = Condition::above(FORGET_AT, seconds(now)).and(room.or(knows));
    Condition::lacks(FORGET_AT).or(open)
}

/// Holds when the window of a device is over.
pub(crate) fn window_is_over(now: Millis) -> Condition {
    Condition::at_most(FORGET_AT, seconds(now))
}

/// Holds when the key of a scan names none yet, was forgotten, or came with this request.
pub(crate) fn scan_is_new_or_the_same(request: RequestHash, now: Millis) -> Condition {
    Condition::lacks(FORGET_AT)
        .or(Condition::at_most(FORGET_AT, seconds(now)))
        .or(Condition::equal(REQUEST, Value::from(request.0)))
}
